package machine

import "fmt"

// PEName returns the name of a PE, such as "sip0.cube3.pe1".
func (m *Machine) PEName(pe int) string {
	c := m.Coord(pe)
	return fmt.Sprintf("sip%d.cube%d.pe%d", c.SIP, c.Cube, c.PE)
}

// Home returns the SIP and the cube, through the whole machine, that a node stands in; -1 where it
// stands in none.
func (m *Machine) Home(n NodeID) (sip, cube int) {
	switch p := m.place(n); p.kind {
	case kindIO, kindHub:
		return p.cube, -1
	case kindSystemHub:
		return -1, -1
	default:
		return p.cube / m.cubes, p.cube
	}
}

// NodeName returns the name of a node: "sip0.cube3.pe1", "sip0.cube3.pe1.hbm", "sip0.cube3.sram",
// "sip0.cube3.r2c1", "sip0.io", "sip0.switch", "switch"; of levels with names "rail3.leaf0",
// "rack.gateway2".
func (m *Machine) NodeName(n NodeID) string {
	p := m.place(n)
	switch p.kind {
	case kindIO:
		return fmt.Sprintf("sip%d.io", p.cube)
	case kindHub:
		return numbered(fmt.Sprintf("sip%d.switch", p.cube), p.index)
	case kindSystemHub:
		return m.outside.nodeName(m.sips + p.index)
	}
	cube := fmt.Sprintf("sip%d.cube%d", p.cube/m.cubes, p.cube%m.cubes)
	switch p.kind {
	case kindRouter:
		return fmt.Sprintf("%s.r%dc%d", cube, p.index/m.cube.w, p.index%m.cube.w)
	case kindSRAM:
		return cube + ".sram"
	case kindHBM:
		return fmt.Sprintf("%s.pe%d.hbm", cube, p.index)
	case kindTCM:
		return fmt.Sprintf("%s.pe%d.tcm", cube, p.index)
	}
	return fmt.Sprintf("%s.pe%d", cube, p.index)
}

// numbered leaves the number of an only switch away.
func numbered(name string, i int) string {
	if i == 0 {
		return name
	}
	return fmt.Sprintf("%s%d", name, i)
}

// LinkName returns the name of a link: "sip0.cube0.r0c0->sip0.cube0.r0c1", with "#2" for the
// connection where links between the same two nodes are several, "sip0.cube0.pe1.hbm.port",
// "sip0.cube0.pe1.tcm.read".
func (m *Machine) LinkName(id LinkID) string {
	l := m.Link(id)
	from := m.NodeName(l.From)
	if l.Port {
		switch i := int(id) % m.cube.links; {
		case m.place(l.From).kind != kindTCM:
			return from + ".port"
		case i < m.cube.tcmWriteLink:
			return from + ".read"
		}
		return from + ".write"
	}
	name := from + "->" + m.NodeName(l.To)
	if first := m.crossing(0, 0, 0); int(id) >= first && int(id) < m.outerLink(0) && m.conns > 1 {
		name += fmt.Sprintf("#%d", (int(id)-first)%m.conns)
	}
	return name
}

// LinkLevel names the part of the machine that a link belongs to: "HBM port", "TCM port", "SRAM
// port", "SRAM", "PE", "cube", "between cubes", or the level between SIPs, by its name if it has
// one.
func (m *Machine) LinkLevel(id LinkID) string {
	if i := int(id) - m.NumCubes()*m.cube.links; i >= 0 {
		if i -= m.sips * len(m.ends) * m.conns; i < 0 {
			return "between cubes"
		}
		at, _ := m.outside.edge(i)
		if name := m.levels[at.number].Name; name != "" {
			return name
		}
		return "between SIPs"
	}
	switch m.Spec(id) {
	case m.specs.hbm:
		return "HBM port"
	case m.specs.tcm:
		return "TCM port"
	case m.specs.sramPort:
		return "SRAM port"
	case m.specs.sram:
		return "SRAM"
	case m.specs.tile:
		return "PE"
	}
	return "cube"
}
