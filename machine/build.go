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
	inner, err := findKind(mesh.Network)
	if err != nil {
		return nil, t.Errorf("sip.cube_mesh.network", "%v", err)
	}
	if inner.limit > 0 && m.cubes > inner.limit {
		return nil, t.Errorf("sip.cube_mesh.network", "%q joins at most %d cubes; the SIP has %d", mesh.Network, inner.limit, m.cubes)
	}
	m.inSIP = inner.build(size{n: m.cubes, w: mesh.W, h: mesh.H, shore: m.shore})
	m.ends = m.inSIP.edges()
	m.perSIP = m.inSIP.hubs()
	if m.shore {
		m.perSIP++
		if err := m.joinSIPs(t); err != nil {
			return nil, err
		}
	}
	if len(m.ends) > 0 { // else all traffic is in its last cube at once
		if !m.cube.apart {
			m.turned = m.inSIP.channels()
		}
		m.final = m.turned + m.inSIP.channels()
	}
	if n := m.outerLink(len(m.endsOut)); n > maxLinks {
		return nil, t.Errorf("system.sips.count", "the machine has %d links; at most %d fit", n, maxLinks)
	}
	m.makeLinks(t)
	return m, nil
}

func (m *Machine) joinSIPs(t *conf.Topology) error {
	w, h := t.System.SIPs.Grid()
	const key = "system.sips.topology"
	k, err := findKind(t.System.SIPs.Topology)
	switch {
	case err != nil:
		return t.Errorf(key, "%v", err)
	case k.limit > 0 && m.sips > k.limit:
		return t.Errorf(key, "%q joins at most %d SIPs; the system has %d", t.System.SIPs.Topology, k.limit, m.sips)
	case k.grid && w*h != m.sips:
		return t.Errorf(key, "a grid of %d × %d SIPs has not %d SIPs", w, h, m.sips)
	}
	m.outside = k.build(size{n: m.sips, w: w, h: h})
	m.endsOut = m.outside.edges()
	return nil
}

// makeLinks fills Links in the order that layout, crossing and outerLink count in.
func (m *Machine) makeLinks(t *conf.Topology) {
	s := newSpecs(t, m)
	m.Links = make([]Link, 0, m.outerLink(len(m.endsOut)))
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
	for _, e := range m.endsOut {
		spec := s.outer
		if int(e.from) >= m.sips {
			spec = s.fromSwitch
		}
		m.Links = append(m.Links, Link{m.outerNode(e.from), m.outerNode(e.to), spec})
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

// outerNode is the node of a site of the network between SIPs: an IO chiplet or a switch.
func (m *Machine) outerNode(site int32) NodeID {
	if int(site) < m.sips {
		return m.siteNode(int(site), int32(m.cubes), north, 0)
	}
	return NodeID(m.NumCubes()*m.cube.nodes + m.sips*m.perSIP + int(site) - m.sips)
}

// specs are the kinds of link that a machine has.
type specs struct {
	noc, tile, hbm, tcm, sram, sramPort          *LinkSpec
	crossing, fromIO, fromHub, outer, fromSwitch *LinkSpec
}

// newSpecs sets the delays. A router's is paid on the link out of it to a next router: leaving the network at a PE's own
// router is free. Crossing from cube to cube pays both ports. An IO chiplet's is paid on every link out of it.
func newSpecs(t *conf.Topology, m *Machine) *specs {
	inner, outer := m.inSIP.channels(), uint8(1)
	if m.outside != nil {
		outer = m.outside.channels()
	}
	link := func(rate unit.Rate, router, wire unit.Time, channels uint8) *LinkSpec {
		return &LinkSpec{Serial: rate.Serial(), Rate: rate, Router: router, Wire: wire,
			Buffer: int64(t.Fabric.BufferBytes), Channels: channels}
	}
	port := func(rate unit.Rate, access unit.Time) *LinkSpec {
		p := link(rate, 0, access, 1)
		p.Port = true
		return p
	}
	noc, ucie, io, out := t.Cube.NoC, t.SIP.UCIe, t.SIP.IO, t.System.Link
	crossing := 2 * ucie.Port
	outerRate := min(out.BW, io.BW)
	return &specs{
		noc:        link(noc.BW, noc.Router, unit.Nanoseconds(noc.Pitch*noc.NsPerMM), m.final+1),
		tile:       link(t.PE.LinkBW, 0, 0, 1),
		sram:       link(t.Cube.SRAMBW, 0, 0, 1),
		hbm:        port(t.Cube.HBMBW, t.Cube.HBM.Access),
		tcm:        port(t.PE.TCM.BW, t.PE.TCM.Access),
		sramPort:   port(t.Cube.SRAMBW, t.Cube.SRAM.Access),
		crossing:   link(ucie.BW, 0, crossing, inner),
		fromIO:     link(ucie.BW, io.Overhead+io.PCIe, crossing, inner),
		fromHub:    link(ucie.BW, t.SIP.CubeMesh.Switch.Overhead, crossing, inner),
		outer:      link(outerRate, io.Overhead+io.PCIe, out.Latency, outer),
		fromSwitch: link(outerRate, t.System.Switch.Overhead, out.Latency, outer),
	}
}

// checkValues refuses what conf cannot know to be impossible, and all that would make Build itself fail.
func checkValues(t *conf.Topology) error {
	var errs conf.Errors
	refuse := func(key, format string, args ...any) { errs = append(errs, t.Errorf(key, format, args...)) }
	for _, r := range []struct {
		key  string
		rate unit.Rate
	}{
		{"cube.noc.link_bw_gbs", t.Cube.NoC.BW},
		{"cube.hbm_to_router_bw_gbs", t.Cube.HBMBW},
		{"cube.sram_to_router_bw_gbs", t.Cube.SRAMBW},
		{"pe.link_bw_gbs", t.PE.LinkBW},
		{"pe.tcm.bw_gbs", t.PE.TCM.BW},
		{"sip.ucie.bw_gbs", t.SIP.UCIe.BW},
		{"sip.io.bw_gbs", t.SIP.IO.BW},
		{"system.link.bw_gbs", t.System.Link.BW},
	} {
		if r.rate <= 0 {
			refuse(r.key, "a bandwidth must be above 0")
		}
	}
	for _, d := range []struct {
		key  string
		time unit.Time
	}{
		{"cube.noc.router_ns", t.Cube.NoC.Router},
		{"cube.hbm.access_ns", t.Cube.HBM.Access},
		{"cube.sram.access_ns", t.Cube.SRAM.Access},
		{"pe.tcm.access_ns", t.PE.TCM.Access},
		{"sip.ucie.port_ns", t.SIP.UCIe.Port},
		{"sip.io.overhead_ns", t.SIP.IO.Overhead},
		{"sip.io.pcie_ep_ns", t.SIP.IO.PCIe},
		{"sip.cube_mesh.switch.overhead_ns", t.SIP.CubeMesh.Switch.Overhead},
		{"system.link.latency_ns", t.System.Link.Latency},
		{"system.switch.overhead_ns", t.System.Switch.Overhead},
	} {
		if d.time < 0 || d.time > unit.Second {
			refuse(d.key, "a delay of %v is not between 0 and 1 s", d.time)
		}
	}
	if d := t.Cube.NoC.Pitch * t.Cube.NoC.NsPerMM; !(d >= 0 && d <= 1e9) {
		refuse("cube.noc.pitch_mm", "a wire delay of pitch_mm × ns_per_mm = %g ns is not between 0 and 1 s", d)
	}
	for _, n := range []struct {
		key   string
		value int
		max   int
	}{
		{"system.sips.count", t.System.SIPs.Count, 1 << 16},
		{"sip.cube_mesh.w", t.SIP.CubeMesh.W, 1 << 10},
		{"sip.cube_mesh.h", t.SIP.CubeMesh.H, 1 << 10},
		{"sip.ucie.connections", t.SIP.UCIe.Connections, 256},
		{"cube.noc.w", t.Cube.NoC.W, 64},
		{"cube.noc.h", t.Cube.NoC.H, 64},
		{"cube.pe_layout.pe_per_corner", t.Cube.PELayout.PEPerCorner, 64},
		{"cube.pe_layout.corners", len(t.Cube.PELayout.Corners), 4},
	} {
		if n.value < 1 || n.value > n.max {
			refuse(n.key, "%d is not between 1 and %d", n.value, n.max)
		}
	}
	for _, c := range t.Cube.PELayout.Corners {
		if len(c) != 2 || c[0] != 'N' && c[0] != 'S' || c[1] != 'W' && c[1] != 'E' {
			refuse("cube.pe_layout.corners", "%q is no corner: NW, NE, SW or SE", c)
		}
	}
	if list := t.SIP.UCIe.ConnectionOfPE; len(list) > 0 {
		if len(list) != t.PEsPerCube() {
			refuse("sip.ucie.connection_of_pe", "it has %d entries for the %d PEs of a cube", len(list), t.PEsPerCube())
		}
		for pe, c := range list {
			if c < 0 || c >= t.SIP.UCIe.Connections {
				refuse("sip.ucie.connection_of_pe", "PE %d has connection %d; the connections are 0 to %d", pe, c, t.SIP.UCIe.Connections-1)
			}
		}
	}
	f := t.Fabric
	if f.MessageBytes < 1 {
		refuse("fabric.message_bytes", "a message needs a byte")
	}
	if most := max(f.MessageBytes, f.RequestBytes); f.BufferBytes < most {
		refuse("fabric.buffer_bytes", "an input buffer of %v cannot hold a message of %v", f.BufferBytes, most)
	}
	if len(errs) > 0 {
		return errs
	}
	if cubes := t.System.SIPs.Count * t.CubesPerSIP(); cubes > maxLinks/newLayout(&t.Cube, 1).links {
		return t.Errorf("system.sips.count", "%d cubes have more than %d links", cubes, maxLinks)
	}
	return nil
}
