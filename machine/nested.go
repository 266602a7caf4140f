package machine

import (
	"slices"

	"kernbench/conf"
	"kernbench/unit"
)

// Level is one level of the network between SIPs.
type Level struct {
	Name    string // "" where it is the only one and described without levels
	Network string // by the name that topology.yaml has for it
	Look    Look
	Dims    []int // members along each dimension; one number where the network has no dimensions
	Members int   // their product
	Below   int   // SIPs in a member
	Planes  bool  // every SIP has a link of its own into it; else each group of several SIPs has one exit
	Rate    unit.Rate
	Line    unit.Rate // of the line, for information; 0: not known
}

// Levels lists the levels of the network between SIPs, innermost first. One SIP has none.
func (m *Machine) Levels() []Level { return slices.Clone(m.levels) }

// Group returns the group of a level's members that a node stands in, counted through the whole
// machine; -1 where it stands in none.
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

// Between returns the outermost level that a message from one PE to another takes; -1 within a SIP.
func (m *Machine) Between(a, b int) int {
	from, to := a/(m.cube.pes*m.cubes), b/(m.cube.pes*m.cubes)
	for i := len(m.levels) - 1; i >= 0 && from != to; i-- {
		if below := m.levels[i].Below; from/below != to/below {
			return i
		}
	}
	return -1
}

// Nested lists the numbers of PEs of the nested parts of the machine. They are a cube, a row of
// cubes, a SIP, and each dimension of each level of SIPs. The last is all.
func (m *Machine) Nested() []int {
	sizes := []int{m.cube.pes, m.cube.pes * m.row, m.cube.pes * m.cubes}
	for i := range m.levels {
		for _, d := range m.levels[i].Dims {
			sizes = append(sizes, sizes[len(sizes)-1]*d)
		}
	}
	return slices.Compact(sizes)
}

// words describes the levels of t.
func (l *levels) words(t *conf.Topology) []Level {
	var all []Level
	for i, c := range t.System().Between() {
		at := &l.at[i]
		w := Level{
			Name: at.name, Network: c.Network, Look: at.look, Dims: c.Dims, Members: at.n, Below: at.below, Planes: !at.group,
			Rate: c.Link.BW, Line: c.Link.Line,
		}
		if len(w.Dims) == 0 {
			w.Dims = []int{w.Members}
		}
		all = append(all, w)
	}
	return all
}
