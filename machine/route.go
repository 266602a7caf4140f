package machine

import "fmt"

// nodeKind is the kind of a node. Only the first four can hold data.
type nodeKind uint8

const (
	kindPE nodeKind = iota
	kindHBM
	kindTCM
	kindSRAM
	kindRouter
	kindIO
	kindHub       // a switch between the cubes of a SIP
	kindSystemHub // a gateway or switch between SIPs
)

// place is a node's position in the machine.
type place struct {
	kind  nodeKind
	cube  int // its number in the whole machine; for IO and hubs of a SIP, that of the SIP
	index int // number of the PE or router in its cube, or of the hub
}

func (m *Machine) place(n NodeID) place {
	l := &m.cube
	cube, i := int(n)/l.nodes, int(n)%l.nodes
	if cubes := m.NumCubes(); cube >= cubes {
		i = int(n) - cubes*l.nodes
		if i >= m.sips*m.perSIP {
			return place{kind: kindSystemHub, index: i - m.sips*m.perSIP}
		}
		sip, i := i/m.perSIP, i%m.perSIP
		if m.exit {
			if i == 0 {
				return place{kind: kindIO, cube: sip}
			}
			i--
		}
		return place{kind: kindHub, cube: sip, index: i}
	}
	switch {
	case i < l.peNode:
		return place{kind: kindRouter, cube: cube, index: i}
	case i < l.hbmNode:
		return place{kind: kindPE, cube: cube, index: i - l.peNode}
	case i < l.tcmNode:
		return place{kind: kindHBM, cube: cube, index: i - l.hbmNode}
	case i < l.sramNode:
		return place{kind: kindTCM, cube: cube, index: i - l.tcmNode}
	}
	return place{kind: kindSRAM, cube: cube}
}

// tile reports whether the node is a PE, or the HBM or TCM of one.
func (p place) tile() bool { return p.kind <= kindTCM }

// sameTile reports whether two nodes share a PE's tile, or are the same SRAM, so that no link lies
// between them.
func sameTile(a, b place) bool {
	return a.cube == b.cube && a.index == b.index && (a.tile() && b.tile() || a.kind == b.kind)
}

// Route appends the hops from one node to another, each a PE or a memory, and returns the longer
// slice. A route that starts at a memory begins with its port (TCM: its read port). One that ends
// at a memory ends with its port (TCM: its write port). A PE and its own HBM and TCM share a tile:
// a route between them has ports only. The route depends on the two nodes only. Route takes time in
// proportion to the number of hops.
func (m *Machine) Route(buf []Hop, from, to NodeID) []Hop {
	a, b := m.place(from), m.place(to)
	if a.kind > kindSRAM || b.kind > kindSRAM {
		panic(fmt.Sprintf("machine: Route from %s to %s: both must be a PE or a memory", m.NodeName(from), m.NodeName(to)))
	}
	baseA, baseB := a.cube*m.cube.links, b.cube*m.cube.links
	switch a.kind {
	case kindHBM:
		buf = append(buf, Hop{Link: LinkID(baseA + m.cube.hbmLink + a.index)})
	case kindTCM:
		buf = append(buf, Hop{Link: LinkID(baseA + m.cube.tcmReadLink + a.index)})
	case kindSRAM:
		buf = append(buf, Hop{Link: LinkID(baseA + m.cube.sramLink)})
	}
	if !sameTile(a, b) {
		buf = m.cross(buf, a, b)
	}
	switch b.kind {
	case kindHBM:
		buf = append(buf, Hop{Link: LinkID(baseB + m.cube.hbmLink + b.index)})
	case kindTCM:
		buf = append(buf, Hop{Link: LinkID(baseB + m.cube.tcmWriteLink + b.index)})
	case kindSRAM:
		buf = append(buf, Hop{Link: LinkID(baseB + m.cube.sramLink)})
	}
	return buf
}

// RouteRequest is Route for the request of a read: it stops before the port of the memory, which
// the data passes on the return path.
func (m *Machine) RouteRequest(buf []Hop, from, memory NodeID) []Hop {
	buf = m.Route(buf, from, memory)
	return buf[:len(buf)-1]
}

// cross appends the hops between two tiles: into the network of routers, through it and out of it.
func (m *Machine) cross(buf []Hop, a, b place) []Hop {
	w := walk{m: m, buf: buf, conn: m.connection(a, b), cube: a.cube}
	if a.kind == kindSRAM {
		w.hop(a.cube*m.cube.links+m.cube.sramInjectLink, 0)
		w.at = m.cube.sram
	} else {
		w.hop(a.cube*m.cube.links+m.cube.injectLink+a.index, 0)
		w.at = m.cube.pe[a.index]
	}
	sipA, siteA := a.cube/m.cubes, a.cube%m.cubes
	sipB, siteB := b.cube/m.cubes, b.cube%m.cubes
	if sipA == sipB {
		w.travel(sipA, siteA, siteB)
	} else {
		w.travel(sipA, siteA, m.cubes)
		w.betweenSIPs(sipA, sipB)
		w.travel(sipB, m.cubes, siteB)
	}
	if b.kind == kindSRAM {
		w.inside(m.cube.sram, m.final, m.final)
		w.hop(b.cube*m.cube.links+m.cube.sramEjectLink, 0)
	} else {
		w.inside(m.cube.pe[b.index], m.final, m.final)
		w.hop(b.cube*m.cube.links+m.cube.ejectLink+b.index, 0)
	}
	return w.buf
}
