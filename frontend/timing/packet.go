package timing

import "kernbench/frontend/plan"

// packets are the arrivals of a memory's cells that are stored with a flag, and the blocks that
// wait for one.
type packets struct {
	cells   []arrival
	waiters []int32
}

// arrival is the time at which a cell was written as a packet, and 1 + the launch.
type arrival struct {
	stamp
	launch int
}

// memory returns the memory of a span of a block's step.
func (r *run) memory(b *block, s plan.Span) (rank int, v plan.View) {
	rank = int(b.rank)
	if s.Rank != plan.None {
		rank = s.Rank
	}
	return rank, r.plan.Ranks[rank].Views[s.View]
}

// cells returns the packets of a span; they are made on first use.
func (r *run) cells(b *block, s plan.Span) (*packets, []arrival) {
	rank, v := r.memory(b, s)
	if r.packets == nil {
		r.packets = make([][]packets, len(r.plan.Ranks))
	}
	k := &r.plan.Ranks[rank]
	if r.packets[rank] == nil {
		r.packets[rank] = make([]packets, len(k.Memories))
	}
	p := &r.packets[rank][v.Memory]
	if p.cells == nil {
		p.cells = make([]arrival, k.Memories[v.Memory])
	}
	return p, p.cells[v.First+s.First:][:s.N]
}

// awaited returns the arrival of the last packet of a step's sources; ok is false if one is
// missing.
func (r *run) awaited(n int32, s *plan.Step) (last stamp, ok bool) {
	last.act = none
	for _, span := range s.Src {
		if !span.Packet {
			continue
		}
		p, cells := r.cells(&r.blocks[n], span)
		for _, c := range cells {
			if c.launch != s.Launch+1 {
				p.waiters = append(p.waiters, n)
				return last, false
			}
			if c.at > last.at {
				last = c.stamp
			}
		}
	}
	return last, true
}

// arrive marks the packets of a destination.
func (r *run) arrive(b *block, s *plan.Step, span plan.Span, at stamp) {
	if !span.Packet {
		return
	}
	p, cells := r.cells(b, span)
	for i := range cells {
		cells[i] = arrival{at, s.Launch + 1}
	}
	r.wake(&p.waiters)
}

// stored returns the bytes of a span's memory in a round: packets take as many for flags as for
// data.
func (r *run) stored(b *block, s plan.Span) int64 {
	rank, v := r.memory(b, s)
	sizes := r.plan.Ranks[rank].Sizes
	if sizes == nil {
		return int64(s.N) * r.plan.Cell[b.round]
	}
	sum := int64(0)
	for _, n := range sizes[v.Memory][v.First+s.First:][:s.N] {
		sum += n
	}
	return sum
}
