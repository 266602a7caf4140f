package timing

import (
	"kernbench/frontend/plan"
	"kernbench/unit"
)

// Model is what the parts of a step cost.
type Model struct {
	Launch  unit.Time `json:"launch_ps"`  // from the call to the first step
	Issue   unit.Time `json:"issue_ps"`   // of a step
	Slice   unit.Time `json:"slice_ps"`   // of each slice of a message
	Flag    unit.Time `json:"flag_ps"`    // from the end of a step until a block that depends on it sees it
	Latency unit.Time `json:"latency_ps"` // of a message, besides that of its links
	Copy    unit.Rate `json:"copy_bytes_per_second"`
	Reduce  unit.Rate `json:"reduce_bytes_per_second"` // what an addition adds to the time of a copy
	Slices  int       `json:"slices"`                  // parts of a message that are handed on one by one

	// Payload bytes per byte on a link, and per byte that a block moves for a message.
	Efficiency float64 `json:"efficiency"`
	Share      float64 `json:"share"`
}

// Defaults are the costs of a protocol without those that a machine's file has: launch, latency and
// efficiency.
//
// Sources: NVIDIA/nccl:src/graph/tuning.cc lets a channel have 20 GB/s (Ampere) to 37 (Hopper) of a
// ring, from memory. LL stores 4 bytes of 8, LL128 120 of 128. The rest is a guess: a step of the
// interpreter has a barrier of its block, a flag goes through L2 and a fence.
func Defaults(p plan.Protocol) Model {
	m := Model{
		Launch: 5 * unit.Microsecond, Issue: 250 * unit.Nanosecond, Slice: 50 * unit.Nanosecond, Flag: 600 * unit.Nanosecond,
		Latency: 500 * unit.Nanosecond, Copy: 20 * unit.GBPerSecond, Reduce: 100 * unit.GBPerSecond, Slices: 1, Efficiency: 1, Share: 1,
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

// wire is the bytes that a payload takes on links, and block those that a block moves for it.
func (m *Model) wire(bytes int64) int64  { return scaled(bytes, m.Efficiency) }
func (m *Model) block(bytes int64) int64 { return scaled(bytes, m.Share) }

func scaled(bytes int64, share float64) int64 {
	if share <= 0 || share >= 1 {
		return bytes
	}
	return int64(float64(bytes)/share + 0.5)
}
