package machine

// Alike numbers pairs of PEs: between those of one number, and between their memories, routes there
// and back take links of the same kinds, one after the other, and the same levels of the network
// between SIPs. So what there is to know of a route's time is found once for each number. Cubes of
// a place in their SIP are alike, and SIPs are; what lies between two SIPs is looked at once for
// each pair of them, and once for all pairs that part at the same levels where levels are uniform,
// as switches are.
type Alike struct {
	m      *Machine
	perSIP uint32 // PEs
	pairs  map[alikePair]uint32
	abroad map[[2]uint32]uint32 // between SIPs, or by the levels at which they part
	ways   map[string]uint32    // what is between them, link by link
	specs  map[*LinkSpec]uint32
	hops   []Hop
	way    []byte
}

// alikePair are two PEs by their places in their SIPs, and what is between those SIPs; 0: it is
// one.
type alikePair struct{ from, to, abroad uint32 }

// Alike starts to number pairs, from 0 on.
func (m *Machine) Alike() *Alike {
	return &Alike{
		m: m, perSIP: uint32(m.cubes * m.cube.pes), pairs: map[alikePair]uint32{},
		abroad: map[[2]uint32]uint32{}, ways: map[string]uint32{}, specs: map[*LinkSpec]uint32{},
	}
}

// Number is that of a pair. A new one is as many as there were before.
func (a *Alike) Number(from, to int) uint32 {
	sipA, sipB := uint32(from)/a.perSIP, uint32(to)/a.perSIP
	p := alikePair{from: uint32(from) - sipA*a.perSIP, to: uint32(to) - sipB*a.perSIP}
	if sipA != sipB {
		p.abroad = a.between(sipA, sipB)
	}
	n, ok := a.pairs[p]
	if !ok {
		n = uint32(len(a.pairs))
		a.pairs[p] = n
	}
	return n
}

// between is the number of what lies between two SIPs, from 1 on.
func (a *Alike) between(from, to uint32) uint32 {
	m := a.m
	k := [2]uint32{from, to}
	if m.outside.uniform {
		k = [2]uint32{m.outside.parting(int(from), int(to))}
	}
	n, ok := a.abroad[k]
	if ok {
		return n
	}
	first := m.outerLink(0)
	a.hops = m.outside.route(a.hops[:0], first, int(from), int(to))
	there := len(a.hops)
	a.hops = m.outside.route(a.hops, first, int(to), int(from))
	a.way = append(a.way[:0], byte(m.Between(int(from*a.perSIP), int(to*a.perSIP))))
	for i, h := range a.hops {
		spec := m.Spec(h.Link)
		id, ok := a.specs[spec]
		if !ok {
			id = uint32(len(a.specs)) + 1
			a.specs[spec] = id
		}
		if i == there {
			a.way = append(a.way, 0, 0)
		}
		a.way = append(a.way, byte(id), byte(id>>8))
	}
	n, ok = a.ways[string(a.way)]
	if !ok {
		n = uint32(len(a.ways)) + 1
		a.ways[string(a.way)] = n
	}
	a.abroad[k] = n
	return n
}
