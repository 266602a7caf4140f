package bound

import (
	"cmp"
	"container/heap"
	"slices"

	"kernbench/unit"
)

// The bytes that a cut must carry cannot use its links all the time. Each byte comes from a memory
// before its link, and goes to a memory after it. So a link carries nothing before the shortest
// delay from a memory that has such bytes. It carries nothing after the end less the shortest delay
// to a memory that needs them. With L the sum of both and of the link's own delay, links of rate r
// carry in a time T
//
//	bytes <= sum over links of r · max(0, T - L).
//
// The least such T is a limit. It is never below bytes / (sum of r).

// usable is a link of a cut with the delay during which it cannot be used.
type usable struct {
	rate int64
	lost unit.Time
}

// soonest returns the least time in which links carry a number of bytes.
func soonest(bytes int64, links []usable) unit.Time {
	if bytes <= 0 || len(links) == 0 {
		return 0
	}
	slices.SortFunc(links, func(a, b usable) int { return cmp.Compare(a.lost, b.lost) })
	rate, lost, at := 0.0, 0.0, 0.0 // bytes per picosecond, bytes that pass meanwhile, picoseconds
	for i := range links {
		l := &links[i]
		if i > 0 && at <= float64(l.lost) {
			break // all is through before this link can be used
		}
		r := float64(l.rate) / float64(unit.Second)
		rate += r
		lost += r * float64(l.lost)
		at = (float64(bytes) + lost) / rate
	}
	if at >= float64(unit.MaxTime) {
		return 0
	}
	return unit.Time(max(0, at*(1-1e-9)-1))
}

// starts is a graph with some of its ranks. Each rank has one bit.
type starts struct {
	g     *graph
	ranks string
}

// delaysKept bounds how many delays a solver keeps.
const delaysKept = 1 << 21

// early returns the shortest delay from the memory of any of some ranks to each node. It is MaxTime
// where no path leads. The solver keeps the result, as it is the same for all sizes and types of a
// call. The caller must not write to it.
func (s *Solver) early(g *graph, ranks func(rank int) bool) []unit.Time {
	set := make([]byte, len(g.rank)/8+1)
	for r := range g.rank {
		if ranks(r) {
			set[r/8] |= 1 << (r % 8)
		}
	}
	from := starts{g, string(set)}
	if at, known := s.delays[from]; known {
		return at
	}
	at := make([]unit.Time, g.nodes)
	if (len(s.delays)+1)*g.nodes > delaysKept {
		clear(s.delays)
	}
	s.delays[from] = at
	for n := range at {
		at[n] = unit.MaxTime
	}
	q := &waits{}
	for r, n := range g.rank {
		if ranks(r) && g.access[r] < at[n] {
			at[n] = g.access[r]
			heap.Push(q, wait{at[n], n})
		}
	}
	for q.Len() > 0 {
		w := heap.Pop(q).(wait)
		if w.at > at[w.node] {
			continue
		}
		for _, i := range g.out[w.node] {
			e := &g.edges[i]
			if t := w.at + e.latency; t < at[e.to] {
				at[e.to] = t
				heap.Push(q, wait{t, e.to})
			}
		}
	}
	return at
}

// crossed is a part of the machine with the bytes that must cross its boundary.
type crossed struct {
	bytes, rate int64 // rate: of the links that cross it, together
	at          int   // a rank or a cut
	inbound     bool
}

// delaysAsked bounds how many links are looked at for the delays at the ends of cuts.
const delaysAsked = 400_000

// slowest returns the cuts that take longest, the first of equal ones first. It returns at least
// one, and as many as there is time to find delays for.
func (s *Solver) slowest(all []crossed) []crossed {
	all = slices.DeleteFunc(all, func(c crossed) bool { return over(c.bytes, c.rate) == 0 })
	slices.SortStableFunc(all, func(a, b crossed) int { return cmp.Compare(over(b.bytes, b.rate), over(a.bytes, a.rate)) })
	return all[:min(len(all), max(1, min(32, delaysAsked/(len(s.g.edges)+1))))]
}

// cross reports whether the bytes from ranks inside over some links take longer than a bound. If
// so, it makes that time the bound.
func (s *Solver) cross(b *Bound, d *demand, c *crossed, edges []int32, inside func(rank int) bool) bool {
	from, to := d.across(inside)
	t := max(over(c.bytes, c.rate), s.carried(c.bytes, edges, from, to))
	if t <= b.Time {
		return false
	}
	b.Time, b.Witness = t, Witness{Bytes: c.bytes, Rate: unit.Rate(c.rate)}
	return true
}

// carried returns the least time in which the links of a cut carry some bytes from the memories of
// some ranks to those of others.
func (s *Solver) carried(bytes int64, edges []int32, from, to func(rank int) bool) unit.Time {
	before, behind := s.early(s.g, from), s.early(s.turned(), to)
	links := make([]usable, 0, len(edges))
	for _, i := range edges {
		e := &s.g.edges[i]
		if a, b := before[e.from], behind[e.to]; e.rate > 0 && a < unit.MaxTime && b < unit.MaxTime {
			links = append(links, usable{e.rate, a + e.latency + b})
		}
	}
	return soonest(bytes, links)
}

// turned returns the graph with all links reversed.
func (s *Solver) turned() *graph {
	if s.back == nil {
		s.back = s.g.reversed()
	}
	return s.back
}

// raise raises a bound to the time that carried returns.
func (b *Bound) raise(t unit.Time) { b.Time = max(b.Time, t) }

// only returns a set of one rank.
func only(rank int) func(int) bool { return func(r int) bool { return r == rank } }
