package machine

// PairClasses numbers classes of PE pairs. The routes between the pairs of a class, and between
// their memories, have links with equal properties in the same order, in both directions. They pass
// the same levels of the network. So the time of a route is computed once per class. Cubes at one
// place of their SIP are symmetric, and so are SIPs. The links between two SIPs are examined once
// per pair of SIPs. If all levels are uniform, as switches are, they are examined once for all
// pairs whose routes part at the same levels.
type PairClasses struct {
	m           *Machine
	perSIP      uint32 // PEs
	pairs       map[placePair]uint32
	betweenSIPs map[[2]uint32]uint32 // between SIPs, or by the levels at which they part
	paths       map[string]uint32    // between SIPs, link by link
	specs       map[*LinkSpec]uint32
	hops        []Hop
	path        []byte
}

// placePair are two PEs by their places in their SIPs, and the number of the path between those
// SIPs; 0: the PEs share a SIP.
type placePair struct{ from, to, betweenSIPs uint32 }

// PairClasses starts to number pairs, from 0 on.
func (m *Machine) PairClasses() *PairClasses {
	return &PairClasses{
		m: m, perSIP: uint32(m.cubes * m.cube.pes), pairs: map[placePair]uint32{},
		betweenSIPs: map[[2]uint32]uint32{}, paths: map[string]uint32{}, specs: map[*LinkSpec]uint32{},
	}
}

// Number returns the class of a pair. New classes are numbered in sequence.
func (a *PairClasses) Number(from, to int) uint32 {
	sipA, sipB := uint32(from)/a.perSIP, uint32(to)/a.perSIP
	p := placePair{from: uint32(from) - sipA*a.perSIP, to: uint32(to) - sipB*a.perSIP}
	if sipA != sipB {
		p.betweenSIPs = a.between(sipA, sipB)
	}
	n, ok := a.pairs[p]
	if !ok {
		n = uint32(len(a.pairs))
		a.pairs[p] = n
	}
	return n
}

// between returns the number of the path between two SIPs, from 1 on.
func (a *PairClasses) between(from, to uint32) uint32 {
	m := a.m
	k := [2]uint32{from, to}
	if m.outside.uniform {
		k = [2]uint32{m.outside.differing(int(from), int(to))}
	}
	n, ok := a.betweenSIPs[k]
	if ok {
		return n
	}
	first := m.outerLink(0)
	a.hops = m.outside.route(a.hops[:0], first, int(from), int(to))
	there := len(a.hops)
	a.hops = m.outside.route(a.hops, first, int(to), int(from))
	a.path = append(a.path[:0], byte(m.Between(int(from*a.perSIP), int(to*a.perSIP))))
	for i, h := range a.hops {
		spec := m.Spec(h.Link)
		id, ok := a.specs[spec]
		if !ok {
			id = uint32(len(a.specs)) + 1
			a.specs[spec] = id
		}
		if i == there {
			a.path = append(a.path, 0, 0)
		}
		a.path = append(a.path, byte(id), byte(id>>8))
	}
	n, ok = a.paths[string(a.path)]
	if !ok {
		n = uint32(len(a.paths)) + 1
		a.paths[string(a.path)] = n
	}
	a.betweenSIPs[k] = n
	return n
}
