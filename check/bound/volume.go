package bound

// volume: data that move between ranks start at a rank, or at an SRAM that several ranks read. The
// same holds for cubes, SIPs and groups of SIPs: nothing outside of them combines or copies. There
// is no such limit where switches outside do. So nodes whose own switches combine are limited as
// long as those between nodes do not.
func (s *Solver) volume(d *demand, size int64) Bound {
	b := Bound{Kind: Volume}
	if d.form == nothing {
		return b
	}
	g := s.g
	var links []int32
	if !s.helped(d.form, 0) {
		for _, n := range g.rank {
			links = append(links, s.links.out[n]...)
		}
		for _, n := range g.relays {
			links = append(links, s.links.out[n]...)
		}
		b.limit(d.total*size, g.rates(links))
	}
	for i, label := range append([][]int32{g.cube, g.sip}, g.groups...) {
		if s.helped(d.form, max(0, i-1)) {
			continue
		}
		ranks := map[int32]int64{} // by part
		for _, n := range g.rank {
			ranks[label[n]]++
		}
		var leave []int32
		for i := range g.edges {
			e := &g.edges[i]
			if from := label[e.from]; from != label[e.to] && ranks[from] > 0 {
				leave = append(leave, int32(i))
			}
		}
		if b.limit(d.between(ranks, label, g.rank)*size, g.rates(leave)) {
			b.Witness.Parts, links = g.partName(i), leave
		}
	}
	if b.Time > 0 && d.form != meeting {
		all := func(int) bool { return true }
		b.lift(s.carried(b.Witness.Bytes, links, all, all))
	}
	return b
}

// switches reports whether the switches of a level combine what is loaded, and copy what is stored.
type switches struct{ reduces, copies bool }

// helped reports whether a switch of some level, or of one above it, lets fewer bytes move than
// must move between memories.
func (s *Solver) helped(f form, level int) bool {
	for _, l := range s.levels[min(level, len(s.levels)):] {
		switch {
		case f == everyoneSum && (l.reduces || l.copies), (f == everyoneAll || f == fromRoot) && l.copies,
			(f == chunksSum || f == rootSum) && l.reduces:
			return true
		}
	}
	return false
}

// partName names the parts of volume.
func (g *graph) partName(i int) string {
	switch {
	case i == 0:
		return "cubes"
	case i == 1:
		return "SIPs"
	}
	return "groups of " + g.levels[i-2]
}

// between returns the fewest elements that must go between parts of the machine; ranks holds the
// number of ranks of each.
func (d *demand) between(ranks map[int32]int64, label, at []int32) int64 {
	n, elems, others := int64(d.world), int64(d.elems), int64(len(ranks)-1)
	switch d.form {
	case everyoneAll:
		return n * elems * others
	case everyoneSum:
		return 2 * elems * others // to be combined, and then distributed
	case chunksSum, rootSum, fromRoot:
		return elems * others
	case rootAll:
		return elems * (n - ranks[label[at[d.root]]])
	case pairs:
		sum := d.block * n * n
		for _, k := range ranks {
			sum -= d.block * k * k
		}
		for _, f := range d.flows {
			if label[at[f.from]] != label[at[f.to]] {
				sum += f.elems
			}
		}
		return sum
	}
	return 0
}
