package machine

import (
	"slices"

	"kernbench/conf"
	"kernbench/unit"
)

// Level is one level of the network between SIPs.
type Level struct {
	Name    string // "" where the machine has one that its description does not name
	Network string // ring, mesh, torus, full, switch, fat_tree, dragonfly
	Dims    []int  // members along each dimension; one number where the network has no dimensions
	Members int    // their product
	Below   int    // SIPs in a member
	Planes  bool   // every SIP has a link of its own into it; else each group of several SIPs has one way out
	Rate    unit.Rate
	Line    unit.Rate // of the line, for information; 0: not known
}

// Levels lists the levels of the network between SIPs, innermost first. One SIP has none.
func (m *Machine) Levels() []Level { return slices.Clone(m.levels) }

// Group is the group of a level's members that a node stands in, counted through the whole machine; -1 where it stands
// in none.
func (m *Machine) Group(level int, n NodeID) int {
	p := m.place(n)
	switch p.kind {
	case kindSystemHub:
		return m.outside.groupOf(level, m.sips+p.index)
	case kindIO, kindHub:
		return m.outside.groupOf(level, p.cube)
	}
	return m.outside.groupOf(level, p.cube/m.cubes)
}

// Nested lists the numbers of PEs of the parts that the machine is made of, one within the other: a cube, a SIP, each
// dimension of each level of SIPs. The last is all.
func (m *Machine) Nested() []int {
	sizes := []int{m.cube.pes, m.cube.pes * m.cubes}
	for i := range m.levels {
		for _, d := range m.levels[i].Dims {
			sizes = append(sizes, sizes[len(sizes)-1]*d)
		}
	}
	return slices.Compact(sizes)
}

// levelsOf describes the levels of t.
func levelsOf(t *conf.Topology) []Level {
	var all []Level
	below := 1
	for _, c := range t.System.Between() {
		l := Level{
			Name: c.Name, Network: c.Network, Dims: c.Dims, Members: c.Members(), Below: below, Planes: !c.ByGroup(),
			Rate: c.Link.BW, Line: c.Link.Line,
		}
		if len(l.Dims) == 0 {
			l.Dims = []int{l.Members}
		}
		all = append(all, l)
		below *= l.Members
	}
	return all
}
