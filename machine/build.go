package machine

import (
	"kernbench/conf"
	"kernbench/unit"
)

// maxLinks bounds a machine to about 2 GiB of links.
const maxLinks = 1 << 27

// Build makes the machine that t describes. Errors are conf.Errors with the key to blame: an impossible value, an input
// buffer that cannot hold a message, a routing with a cycle.
func Build(t *conf.Topology) (*Machine, error) {
	m, err := build(t)
	if err != nil {
		return nil, err
	}
	if err := checkRouting(t); err != nil {
		return nil, err
	}
	return m, nil
}

// build is Build without the check of the routing.
func build(t *conf.Topology) (*Machine, error) {
	if err := checkValues(t); err != nil {
		return nil, err
	}
	m := &Machine{
		sips:  t.System.SIPs.Count,
		cubes: t.CubesPerSIP(),
		shore: t.System.SIPs.Count > 1,
		conns: t.SIP.UCIe.Connections,
		cube:  newLayout(&t.Cube, t.SIP.UCIe.Connections),
	}
	m.capacity = [...]unit.Bytes{kindHBM: t.Cube.HBM.Capacity, kindTCM: t.PE.TCM.Capacity, kindSRAM: t.Cube.SRAM.Capacity}
	m.connOf = make([]int, m.cube.pes)
	for pe := range m.connOf {
		m.connOf[pe] = pe % m.conns
	}
	copy(m.connOf, t.SIP.UCIe.ConnectionOfPE)

	mesh := t.SIP.CubeMesh
	inner, err := findKind(mesh.Network, ofCubes)
	if err != nil {
		return nil, t.Errorf("sip.cube_mesh.network", "%v", err)
	}
	if inner.limit > 0 && m.cubes > inner.limit {
		return nil, t.Errorf("sip.cube_mesh.network", "%q joins at most %d cubes; the SIP has %d", mesh.Network, inner.limit, m.cubes)
	}
	m.inSIP = inner.build(size{n: m.cubes, w: mesh.W, h: mesh.H, shore: m.shore})
	m.ends = m.inSIP.edges()
	if m.row = m.cubes; inner.grid {
		m.row = mesh.W
	}
	m.perSIP = m.inSIP.hubs()
	if m.shore {
		m.perSIP++
		if m.outside, err = newLevels(t, false); err != nil {
			return nil, err
		}
		m.levels = m.outside.words(t)
	}
	if len(m.ends) > 0 { // else all traffic is in its last cube at once
		if !m.cube.apart {
			m.turned = m.inSIP.channels()
		}
		m.final = m.turned + m.inSIP.channels()
	}
	if n := m.numLinks(); n > maxLinks {
		return nil, t.Errorf("system.sips.count", "the machine has %d links; at most %d fit", n, maxLinks)
	}
	m.makeLinks(t)
	return m, nil
}

// numLinks is how many links there are in all.
func (m *Machine) numLinks() int {
	if m.outside == nil {
		return m.outerLink(0)
	}
	return m.outerLink(m.outside.edges())
}

// makeLinks fills Links in the order that layout, crossing and outerLink count in.
func (m *Machine) makeLinks(t *conf.Topology) {
	s := newSpecs(t, m)
	m.Links = make([]Link, 0, m.numLinks())
	for cube := range m.NumCubes() {
		m.makeCube(s, NodeID(cube*m.cube.nodes))
	}
	for sip := range m.sips {
		for _, e := range m.ends {
			spec := s.crossing
			switch {
			case int(e.from) < m.cubes:
			case m.shore && int(e.from) == m.cubes:
				spec = s.fromIO
			default:
				spec = s.fromHub
			}
			for conn := range m.conns {
				m.Links = append(m.Links, Link{m.siteNode(sip, e.from, e.out, conn), m.siteNode(sip, e.to, e.in, conn), spec})
			}
		}
	}
	if m.outside != nil {
		m.makeLevels(t)
	}
}

// makeLevels adds the links between SIPs.
func (m *Machine) makeLevels(t *conf.Topology) {
	for i := range m.outside.at {
		at := &m.outside.at[i]
		s := newLevelSpecs(t, m.outside, i)
		ends := at.net.edges()
		for copy := range at.copies {
			for _, e := range ends {
				from, to := m.outside.site(i, copy, int(e.from)), m.outside.site(i, copy, int(e.to))
				m.Links = append(m.Links, Link{m.outerNode(from), m.outerNode(to), s.of(e)})
			}
		}
	}
}

func (m *Machine) makeCube(s *specs, base NodeID) {
	l := &m.cube
	router := func(x, y int) NodeID { return base + NodeID(l.router(point{x, y})) }
	add := func(from, to NodeID, spec *LinkSpec) { m.Links = append(m.Links, Link{from, to, spec}) }
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
		add(base+NodeID(l.peNode+i), router(p.x, p.y), s.tile)
	}
	for i, p := range l.pe {
		add(router(p.x, p.y), base+NodeID(l.peNode+i), s.tile)
	}
	for i := range l.pes {
		add(base+NodeID(l.hbmNode+i), base+NodeID(l.hbmNode+i), s.hbm)
	}
	for range 2 { // read ports, write ports
		for i := range l.pes {
			add(base+NodeID(l.tcmNode+i), base+NodeID(l.tcmNode+i), s.tcm)
		}
	}
	sram, at := base+NodeID(l.sramNode), router(l.sram.x, l.sram.y)
	add(sram, sram, s.sramPort)
	add(sram, at, s.sram)
	add(at, sram, s.sram)
}

// siteNode is the node at which a connection's link ends at a site of a SIP.
func (m *Machine) siteNode(sip int, site int32, s side, conn int) NodeID {
	if int(site) < m.cubes {
		cube := sip*m.cubes + int(site)
		return NodeID(cube*m.cube.nodes + m.cube.router(m.cube.conn[s][conn]))
	}
	return NodeID(m.NumCubes()*m.cube.nodes + sip*m.perSIP + int(site) - m.cubes)
}

// outerNode is the node of a site of the network between SIPs: an IO chiplet, a gateway or a switch.
func (m *Machine) outerNode(site int) NodeID {
	if site < m.sips {
		return m.siteNode(site, int32(m.cubes), north, 0)
	}
	return NodeID(m.NumCubes()*m.cube.nodes + m.sips*m.perSIP + site - m.sips)
}
