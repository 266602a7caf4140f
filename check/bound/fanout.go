package bound

import "kernbench/unit"

// costs are the least times that the model takes from a rank, apart from bytes.
type costs struct {
	issue unit.Time // of an instruction
	send  unit.Time // of a send in addition to it
	recv  unit.Time // of a receive in addition to it
	setup unit.Time // of a descriptor
}

// hop returns the least time from the start of a send in a ring until what it carried can be used
// at the other end.
func (c *costs) hop(ch *Ring, bytes int64) unit.Time {
	return c.issue + c.send + c.setup + ch.Delay + over(bytes, int64(ch.Rate)) + c.recv
}

// TreeStep is the number of ranks that can be reached by a time.
type TreeStep struct {
	Time  unit.Time `json:"time_ps"`
	Ranks int64     `json:"ranks"`
}

// fanOut: in an algorithm that uses rings alone, a rank sends its data to others one after the
// other, and receivers send it on. The number of ranks that can have it at a time t is
//
//	R(t) = R(t - g) + R(t - L)
//
// with g the least time between two sends of a rank, and L that of one (LogP). Reversed, it gives
// the earliest time at which a rank can have data of all others, with g between two receives. Any
// collective needs one of the two, or both.
func (s *Solver) fanOut(d *demand, size int64, o *Options) Bound {
	b := Bound{Kind: FanOut}
	if len(o.Rings) == 0 {
		return b
	}
	bytes, ends := size, unit.Time(0)
	if d.pattern == meeting {
		bytes = 0
	} else {
		ends = 2 * minimum(s.g.access)
	}
	hop := unit.MaxTime
	for i := range o.Rings {
		hop = min(hop, s.costs.hop(&o.Rings[i], bytes))
	}
	reach, gather := d.spread()
	try := func(ranks int64, gap unit.Time, inbound bool) {
		if ranks < 2 {
			return
		}
		t, steps := tree(ranks, gap, hop)
		if t += ends; t > b.Time {
			b.Time, b.Witness = t, Witness{Gap: gap, Hop: hop, Tree: steps, Inbound: inbound}
		}
	}
	try(reach, s.costs.issue+s.costs.send, false)
	try(gather, s.costs.issue+s.costs.recv, true)
	return b
}

func minimum(times []unit.Time) unit.Time {
	least := unit.MaxTime
	for _, t := range times {
		least = min(least, t)
	}
	return least
}

// spread returns the largest number of ranks that need data of one rank, itself included. It also
// returns the largest number of ranks whose data one rank needs.
func (d *demand) spread() (reach, gather int64) {
	all, chunks := int64(d.world), int64(0) // ranks with a chunk
	for r := range d.world {
		if d.chunk(r) > 0 {
			chunks++
		}
	}
	switch d.pattern {
	case meeting, everyoneAll, everyoneSum:
		return all, all
	case chunksSum:
		return min(chunks+1, all), all // from one that has none, where there is such a rank
	case rootSum, rootAll:
		return 0, all
	case fromRoot:
		return all, 0
	case blocksRoot:
		if d.chunk(d.root) == 0 {
			chunks++
		}
		return chunks, 0
	case pairs:
		if d.block > 0 {
			return all, all
		}
		to, from, seen := map[int32]int64{}, map[int32]int64{}, map[[2]int32]bool{}
		for _, f := range d.flows {
			if pair := [2]int32{f.from, f.to}; !seen[pair] {
				seen[pair] = true
				to[f.from]++
				from[f.to]++
				reach, gather = max(reach, to[f.from]+1), max(gather, from[f.to]+1)
			}
		}
	}
	return reach, gather
}

// tree returns the earliest time at which n ranks can have what one rank has at 0. It also returns
// the number of ranks that have it after each step of the longer of gap and hop. A rank that has it
// at t sends it, so that it arrives at t+hop, t+gap+hop and so on.
func tree(ranks int64, gap, hop unit.Time) (at unit.Time, steps []TreeStep) {
	type arrivals struct {
		at unit.Time
		n  int64
	}
	step, known := max(gap, hop), int64(1)
	steps = []TreeStep{{0, 1}}
	// Times only grow, and so do those a gap or a hop later: two ordered queues suffice.
	again, first := []arrivals(nil), []arrivals{{hop, 1}}
	take := func(q *[]arrivals, at unit.Time) (n int64) {
		for len(*q) > 0 && (*q)[0].at == at {
			n += (*q)[0].n
			*q = (*q)[1:]
		}
		return n
	}
	for known < ranks {
		at = unit.MaxTime
		for _, q := range [][]arrivals{again, first} {
			if len(q) > 0 {
				at = min(at, q[0].at)
			}
		}
		for last := steps[len(steps)-1].Time; step > 0 && last+step < at; last += step {
			steps = append(steps, TreeStep{last + step, known})
		}
		n := take(&again, at) + take(&first, at)
		if gap == 0 || hop == 0 { // any number at once
			n = ranks
		}
		if known = min(known+n, ranks); known == ranks || at == steps[len(steps)-1].Time+step {
			steps = append(steps, TreeStep{at, known})
		}
		again, first = append(again, arrivals{at + gap, n}), append(first, arrivals{at + hop, n})
	}
	return at, steps
}
