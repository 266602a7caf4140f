package timing

import (
	"slices"

	"kernbench/frontend/plan"
	"kernbench/unit"
)

// Model holds what the parts of a step cost.
type Model struct {
	Launch  unit.Time `json:"launch_ps"`  // from the call to the first step
	Issue   unit.Time `json:"issue_ps"`   // of a step
	Slice   unit.Time `json:"slice_ps"`   // of each slice of a message
	Flag    unit.Time `json:"flag_ps"`    // from the end of a step until a block that depends on it sees it
	Fence   unit.Time `json:"fence_ps"`   // before the flag, if a channel goes over a network
	Latency unit.Time `json:"latency_ps"` // of a message, besides that of its links
	Copy    unit.Rate `json:"copy_bytes_per_second"`
	Reduce  unit.Rate `json:"reduce_bytes_per_second"` // what an addition adds to the time of a copy
	Slices  int       `json:"slices"`                  // parts of a message that are handed on one by one

	// Payload bytes per byte on a link, and per byte that a block moves for a message.
	Efficiency float64 `json:"efficiency"`
	Share      float64 `json:"share"`

	// Hops are the latencies of messages by the outermost level of the network that they take: of
	// one that takes none first. What is beyond the list has Latency.
	Hops []unit.Time `json:"hops_ps,omitempty"`

	// Guessed lists the costs that no source has, by their names here.
	Guessed []string `json:"guessed"`
}

// Defaults returns the costs of a protocol without those that a machine's file has: launch, latency
// and efficiency.
//
// Sources: LL stores 4 bytes of 8, LL128 120 of 128; a message of Simple has two slices
// (microsoft/msccl:src/collectives/device). The rest is a guess: a step of the interpreter has a
// barrier of its block, a flag goes through L2. Presets have the rate of a block from NCCL.
func Defaults(p plan.Protocol) Model {
	m := Model{
		Launch: 5 * unit.Microsecond, Issue: 250 * unit.Nanosecond, Slice: 50 * unit.Nanosecond, Flag: 600 * unit.Nanosecond,
		Fence: 400 * unit.Nanosecond, Latency: 500 * unit.Nanosecond, Copy: 20 * unit.GBPerSecond,
		Reduce: 100 * unit.GBPerSecond, Slices: 1, Efficiency: 1, Share: 1,
		Guessed: []string{"launch", "issue", "slice", "flag", "fence", "latency", "copy", "reduce"},
	}
	switch p {
	case plan.LL:
		m.Efficiency, m.Share = 0.5, 0.5
	case plan.LL128:
		m.Efficiency, m.Share = 120.0/128, 120.0/128
	default:
		m.Slices = 2
	}
	return m
}

// wire returns the bytes that a payload takes on links, and block those that a block moves for it.
func (m *Model) wire(bytes int64) int64  { return scaled(bytes, m.Efficiency) }
func (m *Model) block(bytes int64) int64 { return scaled(bytes, m.Share) }

func scaled(bytes int64, share float64) int64 {
	if share <= 0 || share >= 1 {
		return bytes
	}
	return int64(float64(bytes)/share + 0.5)
}

// Known takes names from those of guessed costs.
func (m *Model) Known(names ...string) {
	m.Guessed = slices.DeleteFunc(slices.Clone(m.Guessed), func(g string) bool { return slices.Contains(names, g) })
}
