package frontend

import (
	"fmt"
	"math"
	"slices"

	"kernbench/frontend/judge"
	"kernbench/frontend/plan"
)

// Hang holds the sizes of calls at which a program hangs.
type Hang struct {
	// Ends is the greatest size up to which every call ends, and Hangs the next: both were tried.
	// Ends is 0 if calls of every size hang.
	Ends    int64        `json:"ends_bytes"`
	Hangs   int64        `json:"hangs_bytes"`
	InRange bool         `json:"in_range"` // the program is for such sizes
	Stuck   *judge.Stuck `json:"deadlock"`
	Repairs []Repair     `json:"repairs,omitempty"` // the cheapest first; each was carried out
}

func (h *Hang) String() string {
	if h.Ends == 0 {
		return fmt.Sprintf("calls of every size: %v", h.Stuck)
	}
	return fmt.Sprintf("a call of %d bytes ends, one of %d hangs: %v", h.Ends, h.Hangs, h.Stuck)
}

// Depths are the least messages that channels must hold for a program to end; 0: no number is
// enough.
type Depths struct {
	Whole int `json:"whole"` // with whole messages
	Split int `json:"split"` // with messages of a chunk each
	Has   int `json:"has"`   // what the channels hold

	Network int `json:"network,omitempty"` // what those between hosts hold
}

func (d Depths) String() string {
	has := fmt.Sprintf("channels hold %d", d.Has)
	switch {
	case d.Network == d.Has && d.Has > 0:
		has = fmt.Sprintf("all channels go over the network and hold %d", d.Has)
	case d.Network > 0:
		has += fmt.Sprintf(", those over the network %d", d.Network)
	case d.Has == 0:
		has = "the format knows no limit of channels"
	}
	switch {
	case d.Whole == 0 && d.Split == 0:
		return "no depth of channels is enough; " + has
	case d.Split == 0:
		return fmt.Sprintf("least depth %d for whole messages, none is enough for split ones; %s", d.Whole, has)
	case d.Whole == d.Split:
		return fmt.Sprintf("least depth %d, for whole and for split messages; %s", d.Whole, has)
	}
	return fmt.Sprintf("least depth %d for whole messages, %d for split ones; %s", d.Whole, d.Split, has)
}

// search executes a program for calls of several sizes, without data.
type search struct {
	program *plan.Program
	options Options
}

// changes returns the sizes at which messages change, whatever sizes the program is for.
func (s *search) changes(proto plan.Protocol) []int64 {
	if s.program.Sizes == nil {
		return nil
	}
	return s.program.Sizes(proto)
}

// plan returns the plan of a call; nil if the program has none.
func (s *search) plan(bytes int64) *plan.Plan {
	p, _ := s.program.Plan(plan.Call{Bytes: bytes, InPlace: s.program.Modes[0], Depth: s.options.Depth})
	return s.options.transport(p)
}

// sizeRange is a range of call sizes with the same messages. 0 stands for whole messages.
type sizeRange struct{ first, last int64 }

// sizeRanges returns all sizes, ascending, whatever sizes the program is for.
func (s *search) sizeRanges() []sizeRange {
	out := []sizeRange{{0, math.MaxInt64}}
	for _, b := range s.changes(s.program.Protocol) {
		out[len(out)-1].last = b - 1
		out = append(out, sizeRange{b, math.MaxInt64})
	}
	return out
}

// inRange reports whether the program is for some of the sizes.
func (s *search) inRange(x sizeRange) bool {
	p := s.program
	return x.last >= p.MinBytes && (p.MaxBytes == 0 || x.first <= p.MaxBytes)
}

// sizes are 0, for whole messages, and the first of each range that the program is for.
func (s *search) sizes() []int64 {
	out := []int64{0}
	for _, x := range s.sizeRanges()[1:] {
		if s.inRange(x) {
			out = append(out, x.first)
		}
	}
	return out
}

// hang looks for the smallest size from which on the program hangs: within its range, or else above
// it. Nil: none hangs.
func (s *search) hang() (h *Hang) {
	for _, x := range s.sizeRanges() {
		p := s.plan(x.first)
		if p == nil {
			return nil
		}
		st := judge.Finishes(p)
		if st == nil {
			h = nil // a hang below the range is irrelevant
			continue
		}
		if h == nil {
			h = &Hang{Hangs: x.first, Stuck: st}
			if x.first > 0 && judge.Finishes(s.plan(x.first-1)) == nil {
				h.Ends = x.first - 1
			}
		}
		if x.last < s.program.MinBytes {
			continue
		}
		if h.InRange = s.inRange(x); h.InRange {
			h.Repairs = s.repairs(h)
		}
		return h
	}
	return nil
}

// depths finds the least depths; nil for a program without channels.
func (s *search) depths() *Depths {
	whole := s.plan(0)
	if whole == nil || len(whole.Channels) == 0 {
		return nil
	}
	d := &Depths{Whole: least(whole), Has: whole.Channels[0].Depth}
	for _, c := range whole.Channels {
		d.Has = min(d.Has, c.Depth)
		if h := s.options.Host; h > 0 && s.options.Depth == 0 && c.From/h != c.To/h {
			d.Network = c.Depth
		}
	}
	d.Split = d.Whole
	if c := s.changes(s.program.Protocol); len(c) > 0 {
		d.Split = least(s.plan(c[len(c)-1]))
	}
	return d
}

// least returns the least depth with which a plan ends, 0 if none is enough. A greater depth never
// hinders: blocks and channels are deterministic.
func least(p *plan.Plan) int {
	messages := make([]int, len(p.Channels))
	for r := range p.Ranks {
		for b := range p.Ranks[r].Blocks {
			for _, st := range p.Ranks[r].Blocks[b].Steps {
				if st.Send != plan.None {
					messages[st.Send]++
				}
			}
		}
	}
	high := max(slices.Max(messages), 1)
	if judge.Finishes(p.WithDepth(high)) != nil {
		return 0
	}
	low := 1
	for low < high {
		mid := (low + high) / 2
		if judge.Finishes(p.WithDepth(mid)) == nil {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}
