package machine

import (
	"fmt"
	"testing"

	"kernbench/conf"
)

// topology returns the built-in one with the --set arguments applied.
func topology(tb testing.TB, sets ...string) *conf.Topology {
	tb.Helper()
	t, err := conf.LoadTopology(nil, sets)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// tryBuild builds the built-in machine with the --set arguments applied.
func tryBuild(sets []string) (*Machine, error) {
	t, err := conf.LoadTopology(nil, sets)
	if err != nil {
		return nil, err
	}
	return Build(t)
}

func mustBuild(tb testing.TB, sets ...string) *Machine {
	tb.Helper()
	m, err := Build(topology(tb, sets...))
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// shape returns a machine's shape as --set arguments.
func shape(sips int, sipNetwork string, sw, sh, w, h int, network string, noc, perCorner int) []string {
	return []string{
		fmt.Sprintf("system.sips.count=%d", sips), "system.sips.topology=" + sipNetwork,
		fmt.Sprintf("system.sips.w=%d", sw), fmt.Sprintf("system.sips.h=%d", sh),
		fmt.Sprintf("sip.cube_mesh.w=%d", w), fmt.Sprintf("sip.cube_mesh.h=%d", h), "sip.cube_mesh.network=" + network,
		fmt.Sprintf("cube.noc.w=%d", noc), fmt.Sprintf("cube.noc.h=%d", noc),
		fmt.Sprintf("cube.pe_layout.pe_per_corner=%d", perCorner),
	}
}

// site returns the place of a node as links count it: a PE's memories are at the place of the PE.
func (m *Machine) site(n NodeID) NodeID {
	if p := m.place(n); p.tile() {
		return NodeID(p.cube*m.cube.nodes + m.cube.peNode + p.index)
	}
	return n
}

// checkRoute returns what is wrong with a route, or nil.
func (m *Machine) checkRoute(from, to NodeID, route []Hop) error {
	at := m.site(from)
	for i, h := range route {
		l := m.Link(h.Link)
		switch {
		case m.site(l.From) != at:
			return fmt.Errorf("hop %d, %s, does not begin at %s", i, m.LinkName(h.Link), m.NodeName(at))
		case h.Channel >= l.Channels:
			return fmt.Errorf("hop %d, %s, is on channel %d of %d", i, m.LinkName(h.Link), h.Channel, l.Channels)
		case l.Port && !(i == 0 && l.From == from) && !(i == len(route)-1 && l.To == to):
			return fmt.Errorf("hop %d passes the port %s", i, m.LinkName(h.Link))
		}
		at = m.site(l.To)
	}
	if at != m.site(to) {
		return fmt.Errorf("it ends at %s", m.NodeName(at))
	}
	ports := 0
	for _, n := range []NodeID{from, to} {
		if k := m.place(n).kind; k != kindPE {
			ports++
		}
	}
	for _, h := range route {
		if m.Spec(h.Link).Port {
			ports--
		}
	}
	if ports != 0 {
		return fmt.Errorf("%d ports are missing", ports)
	}
	return nil
}

// endpoints lists all nodes that a route can start or end at.
func (m *Machine) endpoints() []NodeID {
	var list []NodeID
	for pe := range m.NumPEs() {
		list = append(list, m.PE(pe), m.HBM(pe), m.TCM(pe))
	}
	for cube := range m.NumCubes() {
		list = append(list, m.SRAM(cube))
	}
	return list
}

// allLinks returns all links by their numbers.
func (m *Machine) allLinks() []Link {
	all := make([]Link, m.NumLinks())
	for i := range all {
		all[i] = m.Link(LinkID(i))
	}
	return all
}
