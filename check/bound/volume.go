package bound

// volume: data that move between ranks start at a rank, or at an SRAM that several ranks read. The
// same holds for cubes, SIPs and groups of SIPs: nothing outside of them combines or copies. There
// is no such limit where switches outside do, but for an all-reduce among SIPs. So nodes whose own
// switches combine are limited as long as those between nodes do not.
func (s *Solver) volume(d *demand, size int64) Bound {
	b := Bound{Kind: Volume}
	if d.pattern == nothing {
		return b
	}
	g := s.g
	var links []int32
	if !s.helped(d.pattern, 0) {
		for _, n := range g.rank {
			links = append(links, s.links.out[n]...)
		}
		for _, n := range g.relays {
			links = append(links, s.links.out[n]...)
		}
		b.limit(d.total*size, g.rates(links))
	}
	for i, label := range append([][]int32{g.cube, g.sip}, g.groups...) {
		helped := s.helped(d.pattern, max(0, i-1))
		if helped && (i != 1 || d.pattern != everyoneSum) {
			continue
		}
		ranks := map[int32]int64{} // by part
		for _, n := range g.rank {
			ranks[label[n]]++
		}
		var leave, enter []int32
		for i := range g.edges {
			e := &g.edges[i]
			if from, to := label[e.from], label[e.to]; from != to {
				if ranks[from] > 0 {
					leave = append(leave, int32(i))
				}
				if ranks[to] > 0 {
					enter = append(enter, int32(i))
				}
			}
		}
		if helped {
			both := (g.rates(leave) + g.rates(enter)) / 2
			if b.limit(s.withSwitches(d.between(ranks, label, g.rank)*size, len(ranks)), both) {
				b.Witness.Parts, b.Witness.Switches, links = g.partName(i), true, nil
			}
			continue
		}
		if b.limit(d.between(ranks, label, g.rank)*size, g.rates(leave)) {
			b.Witness.Parts, links = g.partName(i), leave
		}
	}
	if b.Time > 0 && d.pattern != meeting && links != nil {
		all := func(int) bool { return true }
		b.raise(s.carried(b.Witness.Bytes, links, all, all))
	}
	return b
}

// withSwitches returns the fewest bytes that must leave SIPs in an all-reduce in which switches do
// a part of the work. At most parts SIPs take part. It is the mean of what leaves and what enters.
//
// A message from one SIP to another leaves once and enters once. A switch that combines what g
// members send, and copies the result to them, does the work of 2(g-1) messages. For that g
// messages leave and g enter, at the rate of the switch. A load alone does the work of g-1: g
// messages leave, one enters. A store alone is the reverse. Both take more than half of the first.
// The member that sends the request is one of the g. With more members each message takes less.
func (s *Solver) withSwitches(bytes int64, parts int) int64 {
	share := 0.0 // of a link's rate, the most of any switch
	for _, l := range s.levels {
		if l.reduces || l.copies {
			share = max(share, float64(l.combined)/float64(l.link))
		}
	}
	g := float64(parts)
	return int64(float64(bytes) * min(1, g/(2*(g-1)*share)))
}

// switches describes the switches of a level: whether they combine loads and copy stores. It has
// the rates of a link, for all data and for combined or copied data.
type switches struct {
	reduces, copies bool
	link, combined  int64
}

// helped reports whether a switch of some level, or of one above it, lets fewer bytes move than
// must move between memories.
func (s *Solver) helped(f pattern, level int) bool {
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
	switch d.pattern {
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
