package judge

import (
	"slices"

	"kernbench/frontend/plan"
)

// hasPackets reports whether any cell is written as a packet.
func hasPackets(p *plan.Plan) bool {
	is := func(s plan.Span) bool { return s.Packet }
	for rank := range p.Ranks {
		for b := range p.Ranks[rank].Blocks {
			for i := range p.Ranks[rank].Blocks[b].Steps {
				s := &p.Ranks[rank].Blocks[b].Steps[i]
				if slices.ContainsFunc(s.Src, is) || slices.ContainsFunc(s.Dst, is) {
					return true
				}
			}
		}
	}
	return false
}

// owner returns the rank whose memory a span of a block is in.
func (r *run) owner(b int32, s plan.Span) int {
	if s.Rank != plan.None {
		return s.Rank
	}
	return int(r.blocks[b].rank)
}

func (r *run) packetsOf(rank int, s plan.Span) *packets {
	return &r.packets[rank][r.plan.Ranks[rank].Views[s.View].Memory]
}

// flags returns those of a span's cells.
func (r *run) flags(rank int, s plan.Span) []flag {
	return r.packetsOf(rank, s).flags[r.plan.Ranks[rank].Views[s.View].First+s.First:][:s.N]
}

// unwritten returns the first cell of a source of packets that has no flag of the step's launch.
func (r *run) unwritten(b int32, s *plan.Step, span plan.Span) (plan.Span, bool) {
	rank := r.owner(b, span)
	for c, f := range r.flags(rank, span) {
		if f.launch != int32(s.Launch)+1 {
			return plan.Span{Rank: rank, View: span.View, First: span.First + c, N: 1, Packet: true}, true
		}
	}
	return plan.Span{}, false
}

// flag orders a step after the packets that it reads, and sets the flags of those it writes.
func (r *run) flag(b int32, s *plan.Step, event int32) {
	if r.order != nil {
		for _, span := range s.Src {
			if !span.Packet {
				continue
			}
			last := int32(noEvent)
			for _, f := range r.flags(r.owner(b, span), span) {
				if f.event != last {
					last = f.event
					r.order.after(last)
				}
			}
		}
	}
	for _, span := range s.Dst {
		if !span.Packet {
			continue
		}
		rank := r.owner(b, span)
		flags := r.flags(rank, span)
		for c := range flags {
			if launch := int32(s.Launch) + 1; flags[c].launch != launch { // a reader need not wait for a second writer
				flags[c] = flag{launch, event}
			}
		}
		r.wakeAll(&r.packetsOf(rank, span).waiters)
	}
}

// writes reports whether a step writes a cell as a packet in a launch. The step is of rank.
func (r *run) writes(s *plan.Step, rank int, cell plan.Span, launch int) bool {
	at := func(rank int, s plan.Span) (memory, first int) {
		v := r.plan.Ranks[rank].Views[s.View]
		return v.Memory, v.First + s.First
	}
	memory, c := at(cell.Rank, cell)
	for _, span := range s.Dst {
		if span.Rank != plan.None {
			rank = span.Rank
		}
		if !span.Packet || s.Launch != launch || rank != cell.Rank {
			continue
		}
		if m, first := at(rank, span); m == memory && c >= first && c < first+span.N {
			return true
		}
	}
	return false
}
