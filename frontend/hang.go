package frontend

import (
	"fmt"
	"slices"

	"kernbench/frontend/judge"
	"kernbench/frontend/plan"
)

// Hang is the sizes of call at which a program hangs.
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
	word := func(n int) string {
		if n == 0 {
			return "no depth is enough"
		}
		return fmt.Sprint(n)
	}
	has := fmt.Sprintf("channels hold %d", d.Has)
	switch {
	case d.Network == d.Has && d.Has > 0:
		has = fmt.Sprintf("all channels go over the network and hold %d", d.Has)
	case d.Network > 0:
		has += fmt.Sprintf(", those over the network %d", d.Network)
	case d.Has == 0:
		has = "the format knows no limit of channels"
	}
	if d.Whole == d.Split {
		return fmt.Sprintf("least depth %s, for whole and for split messages; %s", word(d.Whole), has)
	}
	return fmt.Sprintf("least depth %s for whole messages, %s for split ones; %s", word(d.Whole), word(d.Split), has)
}

// search carries out a program for calls of several sizes, without data.
type search struct {
	program *plan.Program
	options Options
}

// changes are the sizes at which messages change, whatever sizes the program is for.
func (s *search) changes(proto plan.Protocol) []int64 {
	if s.program.Sizes == nil {
		return nil
	}
	return s.program.Sizes(proto)
}

// plan is the plan of a call; nil if the program has none.
func (s *search) plan(bytes int64) *plan.Plan {
	p, _ := s.program.Plan(plan.Call{Bytes: bytes, InPlace: s.program.Modes[0], Depth: s.options.Depth})
	return s.options.transport(p)
}

// sizes are 0, for whole messages, and each size at which messages change, up to the greatest that
// the program is for.
func (s *search) sizes() []int64 {
	out := []int64{0}
	for _, b := range s.changes(s.program.Protocol) {
		if s.program.MaxBytes == 0 || b <= s.program.MaxBytes {
			out = append(out, b)
		}
	}
	return out
}

// hang looks for the smallest size with which the program hangs: it tries each size at which its
// messages change. Nil: none hangs.
func (s *search) hang() *Hang {
	for _, bytes := range append([]int64{0}, s.changes(s.program.Protocol)...) {
		p := s.plan(bytes)
		if p == nil {
			return nil
		}
		st := judge.Finishes(p)
		if st == nil {
			continue
		}
		h := &Hang{Hangs: bytes, Stuck: st, InRange: bytes == 0 || s.program.MaxBytes == 0 || bytes <= s.program.MaxBytes}
		if bytes > 0 && judge.Finishes(s.plan(bytes-1)) == nil {
			h.Ends = bytes - 1
		}
		if h.InRange {
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

// least is the least depth with which a plan ends, 0 if none is enough. A greater depth never
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
