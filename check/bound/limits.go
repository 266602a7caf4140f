package bound

import (
	"slices"

	"kernbench/unit"
)

// limit reports whether bytes over a rate take longer than a bound, and makes them the bound.
func (b *Bound) limit(bytes, rate int64) bool {
	t := over(bytes, rate)
	if t <= b.Time {
		return false
	}
	b.Time, b.Witness = t, Witness{Bytes: bytes, Rate: unit.Rate(rate)}
	return true
}

// rates adds up links.
func (g *graph) rates(edges []int32) int64 {
	sum := int64(0)
	for _, e := range edges {
		sum += g.edges[e].rate
	}
	return sum
}

// node: the data of a rank for others must leave it, and the data of others for it must enter.
func (s *Solver) node(d *demand, l *local, size int64) Bound {
	var all []crossed
	for r, n := range s.g.rank {
		all = append(all,
			crossed{bytes: l.leaves[r] * size, rate: s.g.rates(s.links.out[n]), at: r},
			crossed{bytes: l.enters[r] * size, rate: s.g.rates(s.links.in[n]), at: r, inbound: true})
	}
	b := Bound{Kind: Node}
	var links []int32
	for _, c := range s.slowest(all) {
		inside, edges := only(c.at), s.links.out[s.g.rank[c.at]]
		if c.inbound {
			inside, edges = func(r int) bool { return r != c.at }, s.links.in[s.g.rank[c.at]]
		}
		if s.cross(&b, d, &c, edges, inside) {
			b.Witness.Ranks, b.Witness.Inbound, links = []int{c.at}, c.inbound, edges
		}
	}
	b.Witness.Links = s.names(links)
	return b
}

// cut: the data of ranks in one part of the machine for those of the rest must leave that part.
func (s *Solver) cut(d *demand, size int64) Bound {
	b := Bound{Kind: Cut}
	if d.pattern == nothing || d.pattern == meeting {
		return b
	}
	key := cutKey{pattern: d.pattern, root: d.root}
	cuts, known := s.cuts[key]
	if !known {
		cuts = s.search(d)
		s.cuts[key] = cuts
	}
	var all []crossed
	for i := range cuts {
		c := &cuts[i]
		if len(d.flows) > 0 && (c.ranks == 1 || c.ranks == d.world-1) {
			continue // the limit of the kind node covers it
		}
		all = append(all, crossed{bytes: s.crossing(d, c) * size, rate: c.capacity, at: i})
	}
	var links []int32
	for _, c := range s.slowest(all) {
		inside := cuts[c.at].inside
		var edges []int32
		for i := range s.g.edges {
			if e := &s.g.edges[i]; inside(e.from) && !inside(e.to) {
				edges = append(edges, int32(i))
			}
		}
		if !s.cross(&b, d, &c, edges, func(r int) bool { return inside(s.g.rank[r]) }) {
			continue
		}
		links = edges
		for r, n := range s.g.rank {
			if inside(n) {
				b.Witness.Ranks = append(b.Witness.Ranks, r)
			} else {
				b.Witness.Others = append(b.Witness.Others, r)
			}
		}
	}
	b.Witness.Links = s.names(links)
	return b
}

// crossing is demand.crossing of the ranks of a cut. It avoids a loop over ranks if their number
// and the side of the root suffice.
func (s *Solver) crossing(d *demand, c *cut) int64 {
	elems, inside, outside := int64(d.elems), int64(c.ranks), int64(d.world-c.ranks)
	rooted := func() bool { return c.inside(s.g.rank[d.root]) }
	even := d.elems%d.world == 0
	switch {
	case inside == 0 || outside == 0:
		return 0
	case d.pattern == everyoneAll, d.pattern == rootAll && !rooted():
		return elems * inside
	case d.pattern == everyoneSum, d.pattern == rootSum && !rooted(), d.pattern == fromRoot && rooted():
		return elems
	case d.pattern == rootAll || d.pattern == rootSum || d.pattern == fromRoot:
		return 0
	case d.pattern == chunksSum && even, d.pattern == blocksRoot && even && rooted():
		return elems / int64(d.world) * outside
	case d.pattern == pairs && len(d.flows) == 0:
		return d.block * inside * outside
	}
	return d.crossing(func(r int) bool { return c.inside(s.g.rank[r]) })
}

// flow: the data of every pair of ranks passes some links. The limit of one kind of links can end
// the search for a better one early.
func (s *Solver) flow(d *demand, size int64) Bound {
	b := Bound{Kind: Flow}
	if d.pattern != pairs || d.block == 0 && len(d.flows) == 0 {
		return b
	}
	each, linkSets := uint64(max(1, d.block)), s.uniform
	switch {
	case len(d.flows) > 0:
		linkSets = s.linkSets(d)
	case linkSets == nil:
		one := *d
		one.block = 1
		linkSets = s.linkSets(&one)
		s.uniform = linkSets
	}
	var links []int32
	known := 0.0
	for _, t := range linkSets {
		known = max(known, float64(t.passes)*float64(each)/float64(t.capacity))
		if t.passes <= uint64(most)/uint64(size)/each && b.limit(int64(t.passes*each)*size, t.capacity) {
			links = t.links
		}
	}
	b.Witness.Links = s.names(links)
	s.exceed(&b, d, size, known)
	return b
}

// compute: to make one element of n, n-1 pairs are combined. A lane of a vector unit combines a
// pair in a clock. A rank's memory also combines: PutCombine adds data to the memory's contents as
// they pass the port, and takes no further time.
func (s *Solver) compute(d *demand, o *Options, size int64) Bound {
	if s.reduces { // as fast as data come
		return Bound{Kind: Compute}
	}
	perSecond := s.vectors(o)
	for _, rate := range s.g.port {
		perSecond += (rate + size - 1) / size
	}
	return combining(Compute, d, perSecond)
}

// vector: an algorithm that uses rings alone combines in vector units alone.
func (s *Solver) vector(d *demand, o *Options) Bound {
	if len(o.Rings) == 0 {
		return Bound{Kind: Vector}
	}
	return combining(Vector, d, s.vectors(o))
}

// vectors returns how many pairs the vector units combine in a second, rounded up.
func (s *Solver) vectors(o *Options) int64 {
	units := o.VectorUnits
	if units == 0 {
		units = len(s.g.rank)
	}
	return min(scaledUp(s.lanes*int64(units), int64(unit.Second), int64(s.clock)), most)
}

func combining(k Kind, d *demand, perSecond int64) Bound {
	n := d.reductions()
	if n == 0 {
		return Bound{Kind: k}
	}
	return Bound{k, over(n, perSecond), Witness{Pairs: n, Rate: unit.Rate(perSecond)}}
}

// memory: the part of a contribution that others need is read once, and data from others are
// written once. Both pass the port of the rank's HBM slice. A port serves reads and writes in turn.
// A rank's own part of its result may stay in place, so it is not counted. TCM and SRAM set no
// limit, because an algorithm need not use them.
//
// A read for others comes before the route to the nearest of them. A write of their data comes
// after the route from the nearest of those.
func (s *Solver) memory(d *demand, l *local, size int64) Bound {
	b := Bound{Kind: Memory}
	for r, n := range s.g.rank {
		if s.g.port[r] > 0 && b.limit((l.reads[r]+l.writes[r])*size, s.g.port[r]) {
			b.Witness.Ranks, b.Witness.Port = []int{r}, s.g.nodeStr(n)+".hbm"
		}
	}
	if b.Time == 0 {
		return b
	}
	r := b.Witness.Ranks[0]
	n, port, access := s.g.rank[r], s.g.port[r], s.g.access[r]
	b.Time += access
	_, to := d.across(only(r))
	if behind := s.early(s.turned(), to)[n]; l.reads[r] > 0 && behind < unit.MaxTime {
		b.raise(access + over(l.reads[r]*size, port) + behind)
	}
	from, _ := d.across(func(other int) bool { return other != r })
	if before := s.early(s.g, from)[n]; l.writes[r] > 0 && before < unit.MaxTime {
		b.raise(before + over(l.writes[r]*size, port) + access)
	}
	return b
}

// slotted: an algorithm that uses rings alone moves everything in slots. All data that leave or
// enter a rank use its rings.
func slotted(d *demand, l *local, size int64, o *Options) Bound {
	b := Bound{Kind: Slots}
	rings := o.Rings
	if len(rings) == 0 || d.pattern == nothing || d.pattern == meeting {
		return b
	}
	out, in, all := make([][]*Ring, d.world), make([][]*Ring, d.world), []*Ring(nil)
	for i := range rings {
		c := &rings[i]
		out[c.From], in[c.To], all = append(out[c.From], c), append(in[c.To], c), append(all, c)
	}
	try := func(set []*Ring, bytes int64, ranks []int, inbound bool) {
		t := carry(set, bytes, o.Ideal)
		if t <= b.Time {
			return
		}
		slowest := slices.MinFunc(set, func(a, b *Ring) int { return int(a.PerSecond() - b.PerSecond()) })
		b.Time, b.Witness = t, Witness{Bytes: bytes, Ranks: ranks, Inbound: inbound, Ring: slowest, Slots: slowest.Lift()}
		for _, c := range set {
			b.Witness.Rate += c.PerSecond()
		}
	}
	for r := range d.world {
		try(out[r], l.leaves[r]*size, []int{r}, false)
		try(in[r], l.enters[r]*size, []int{r}, true)
	}
	try(all, d.total*size, nil, false)
	return b
}
