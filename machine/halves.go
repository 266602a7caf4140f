package machine

// Apart reports whether a route is two halves. One follows from the node where it starts and the
// other from the node where it ends. This holds if both are PEs or memories of different SIPs, and
// one switch joins all SIPs.
func (m *Machine) Apart(from, to NodeID) bool {
	if !m.halves {
		return false
	}
	perSIP := NodeID(m.cubes * m.cube.nodes)
	return from/perSIP != to/perSIP
}

// Half returns the number of hops in the first half of such a route: those up to the switch. Of any
// route it is the number of hops up to the first one outside SIPs, or of all hops.
func (m *Machine) Half(route []Hop) int {
	for i, h := range route {
		if int(h.Link) >= m.outerLink(0) {
			return i + 1
		}
	}
	return len(route)
}

// meetAtSwitch reports whether one switch joins all SIPs, and messages have one exit from a cube on
// each side.
func (m *Machine) meetAtSwitch() bool {
	l := m.outside
	return l != nil && len(l.at) == 1 && l.at[0].net.hubs() == 1 && m.conns == 1
}

// Nodes returns the number of PEs, memories and routers: those of lower numbers than all that is
// between cubes.
func (m *Machine) Nodes() int { return m.NumCubes() * m.cube.nodes }
