package machine

import (
	"errors"

	"kernbench/conf"
	"kernbench/unit"
)

// maxLinks bounds a machine, because the fabric takes memory for each link.
const maxLinks = 1 << 27

// Build makes the machine that t describes. Errors are conf.Errors with the invalid key: too many
// links, or a routing with a cycle.
func Build(t *conf.Topology) (*Machine, error) {
	if !t.Loaded() {
		return nil, errors.New("machine: the topology was not made by conf.LoadTopology")
	}
	if cubes := t.System().SIPs.Count * t.CubesPerSIP(); cubes > maxLinks/newLayout(t.Cube(), 1).links {
		return nil, t.Errorf("system.sips.count", "%d cubes have more than %d links", cubes, maxLinks)
	}
	var outside *levels
	if t.System().SIPs.Count > 1 {
		var err error
		if outside, err = newLevels(t, false); err != nil {
			return nil, err
		}
	}
	mesh := t.SIP().CubeMesh
	m, err := build(t, mesh.W, mesh.H, outside)
	if err != nil {
		return nil, err
	}
	if outside != nil {
		m.levels = outside.words(t)
	}
	if err := checkRouting(t); err != nil {
		return nil, err
	}
	return m, nil
}

// build makes a machine of parts as t has them: w × h cubes to a SIP, and SIPs that outside joins;
// nil: one SIP.
func build(t *conf.Topology, w, h int, outside *levels) (*Machine, error) {
	sip, cube, pe := t.SIP(), t.Cube(), t.PE()
	m := &Machine{
		topology: t,
		sips:     1,
		cubes:    w * h,
		exit:     outside != nil,
		outside:  outside,
		conns:    sip.UCIe.Connections,
		cube:     newLayout(cube, sip.UCIe.Connections),
	}
	if outside != nil {
		m.sips = outside.sips
	}
	m.capacity = [...]unit.Bytes{kindHBM: cube.HBM.Capacity, kindTCM: pe.TCM.Capacity, kindSRAM: cube.SRAM.Capacity}
	m.connOf = make([]int, m.cube.pes)
	for pe := range m.connOf {
		m.connOf[pe] = pe % m.conns
	}
	copy(m.connOf, sip.UCIe.ConnectionOfPE)

	inner, err := findKind(sip.CubeMesh.Network, ofCubes)
	if err != nil {
		return nil, t.Errorf("sip.cube_mesh.network", "%v", err)
	}
	if inner.limit > 0 && m.cubes > inner.limit {
		return nil, t.Errorf("sip.cube_mesh.network", "%q joins at most %d cubes; the SIP has %d", inner.Name, inner.limit, m.cubes)
	}
	m.look = inner.cubes
	m.inSIP = inner.build(size{n: m.cubes, w: w, h: h, exit: m.exit})
	m.ends = m.inSIP.edges()
	if m.row = m.cubes; inner.grid {
		m.row = w
	}
	m.perSIP = m.inSIP.hubs()
	if m.exit {
		m.perSIP++
	}
	if len(m.ends) > 0 { // else all traffic is in its last cube at once
		if !m.cube.apart {
			m.turned = m.inSIP.channels()
		}
		m.final = m.turned + m.inSIP.channels()
	}
	if m.links = m.outerLink(0); m.outside != nil {
		m.links = m.outerLink(m.outside.edges())
	}
	if m.links > maxLinks {
		return nil, t.Errorf("system.sips.count", "the machine has %d links; at most %d fit", m.links, maxLinks)
	}
	m.makeLinks(t)
	m.halves = m.meetAtSwitch()
	return m, nil
}

// makeLinks makes the links of the first cube, in the order of layout, and sets the kinds of the
// other links.
func (m *Machine) makeLinks(t *conf.Topology) {
	m.specs = newSpecs(t, m)
	m.inCube = make([]Link, 0, m.cube.links)
	m.makeCube(m.specs)
	for i := range m.outer() {
		m.outside.at[i].specs = newLevelSpecs(t, m.outside, i)
	}
}

// outer returns the levels between SIPs.
func (m *Machine) outer() []level {
	if m.outside == nil {
		return nil
	}
	return m.outside.at
}

// NumLinks returns how many links there are in all.
func (m *Machine) NumLinks() int { return m.links }

// Spec returns the kind of a link.
func (m *Machine) Spec(id LinkID) *LinkSpec {
	i := int(id)
	if n := m.NumCubes() * m.cube.links; i < n {
		return m.inCube[i%m.cube.links].LinkSpec
	} else if i -= n; i < m.sips*len(m.ends)*m.conns {
		return m.crossingSpec(m.ends[i/m.conns%len(m.ends)])
	}
	at, i := m.outside.edge(i - m.sips*len(m.ends)*m.conns)
	return at.specs.of(at.ends[i%at.count])
}

// Link returns a link by its number, as layout, crossing and outerLink count.
func (m *Machine) Link(id LinkID) Link {
	i := int(id)
	if n := m.NumCubes() * m.cube.links; i < n {
		l, base := m.inCube[i%m.cube.links], NodeID(i/m.cube.links*m.cube.nodes)
		return Link{base + l.From, base + l.To, l.LinkSpec}
	} else if i -= n; i < m.sips*len(m.ends)*m.conns {
		sip, e, conn := i/(len(m.ends)*m.conns), m.ends[i/m.conns%len(m.ends)], i%m.conns
		return Link{m.siteNode(sip, e.from, e.out, conn), m.siteNode(sip, e.to, e.in, conn), m.crossingSpec(e)}
	}
	at, i := m.outside.edge(i - m.sips*len(m.ends)*m.conns)
	e, copy := at.ends[i%at.count], i/at.count
	site := func(local int32) NodeID { return m.outerNode(m.outside.site(at.number, copy, int(local))) }
	return Link{site(e.from), site(e.to), at.specs.of(e)}
}

// crossingSpec returns the kind of an edge between the cubes of a SIP.
func (m *Machine) crossingSpec(e edge) *LinkSpec {
	switch {
	case int(e.from) < m.cubes:
		return m.specs.crossing
	case m.exit && int(e.from) == m.cubes:
		return m.specs.fromIO
	}
	return m.specs.fromHub
}

// OfLinks returns a machine of nothing but links of some kinds, which lead nowhere: for tests of
// the links that carry messages.
func OfLinks(kinds ...*LinkSpec) *Machine {
	m := &Machine{sips: 1, cubes: 1, cube: layout{links: len(kinds)}, links: len(kinds)}
	for _, k := range kinds {
		m.inCube = append(m.inCube, Link{LinkSpec: k})
	}
	return m
}

func (m *Machine) makeCube(s *specs) {
	l := &m.cube
	router := func(x, y int) NodeID { return NodeID(l.router(point{x, y})) }
	add := func(from, to NodeID, spec *LinkSpec) { m.inCube = append(m.inCube, Link{from, to, spec}) }
	for y := range l.h {
		for x := range l.w - 1 {
			add(router(x, y), router(x+1, y), s.noc)
		}
	}
	for y := range l.h {
		for x := range l.w - 1 {
			add(router(x+1, y), router(x, y), s.noc)
		}
	}
	for x := range l.w {
		for y := range l.h - 1 {
			add(router(x, y), router(x, y+1), s.noc)
		}
	}
	for x := range l.w {
		for y := range l.h - 1 {
			add(router(x, y+1), router(x, y), s.noc)
		}
	}
	for i, p := range l.pe {
		add(NodeID(l.peNode+i), router(p.x, p.y), s.tile)
	}
	for i, p := range l.pe {
		add(router(p.x, p.y), NodeID(l.peNode+i), s.tile)
	}
	for i := range l.pes {
		add(NodeID(l.hbmNode+i), NodeID(l.hbmNode+i), s.hbm)
	}
	for range 2 { // read ports, write ports
		for i := range l.pes {
			add(NodeID(l.tcmNode+i), NodeID(l.tcmNode+i), s.tcm)
		}
	}
	sram, at := NodeID(l.sramNode), router(l.sram.x, l.sram.y)
	add(sram, sram, s.sramPort)
	add(sram, at, s.sram)
	add(at, sram, s.sram)
}

// siteNode returns the node at which a connection's link ends at a site of a SIP.
func (m *Machine) siteNode(sip int, site int32, s side, conn int) NodeID {
	if int(site) < m.cubes {
		cube := sip*m.cubes + int(site)
		return NodeID(cube*m.cube.nodes + m.cube.router(m.cube.conn[s][conn]))
	}
	return NodeID(m.NumCubes()*m.cube.nodes + sip*m.perSIP + int(site) - m.cubes)
}

// outerNode returns the node of a site of the network between SIPs: an IO chiplet, a gateway or a
// switch.
func (m *Machine) outerNode(site int) NodeID {
	if site < m.sips {
		return m.siteNode(site, int32(m.cubes), north, 0)
	}
	return NodeID(m.NumCubes()*m.cube.nodes + m.sips*m.perSIP + site - m.sips)
}
