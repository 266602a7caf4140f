package machine

import (
	"kernbench/conf"
	"kernbench/unit"
)

// NodeID names a node of one Machine: a PE, a memory, a router, an IO chiplet or a switch.
type NodeID int32

// LinkID is the number of a link, from 0 on.
type LinkID int32

// Link is one directed link. What it has in common with the other links of its kind stands in its
// LinkSpec, which is shared.
type Link struct {
	From, To NodeID // a memory port has its memory at both ends: what goes in and what comes out pass it alike
	*LinkSpec
}

// LinkSpec holds what all links of one kind have in common.
type LinkSpec struct {
	Serial       unit.Serial // time per byte, from Rate
	Rate         unit.Rate
	Router, Wire unit.Time // the head of a message needs Router + Wire
	Buffer       int64     // bytes per (class, channel) of the input buffer at the far end
	Channels     uint8     // virtual channels per class
	Port         bool      // a memory's port: a source or a sink, without credits
}

// AnyRate is the rate of a link, with no Serial, that passes any number of bytes in 1 ps.
const AnyRate = unit.Rate(1 << 60)

// Hop is one link of a route and the virtual channel used on it.
type Hop struct {
	Link    LinkID
	Channel uint8
}

// Coord is the place of a PE: SIP in the system, cube in the SIP, PE in the cube.
type Coord struct{ SIP, Cube, PE int }

// Machine is the graph. It is read only once built, and safe for use by many goroutines.
//
// Nodes and links are numbered cube by cube, every cube alike; then SIP by SIP what joins its
// cubes; then what joins the SIPs. So the number of any of them is a matter of arithmetic and no
// table per pair, or per PE, is needed.
type Machine struct {
	topology *conf.Topology // topology from which it was built
	cube     layout         // nodes and links of one cube
	inCube   []Link         // of the first one, by number
	links    int            // in all
	sips     int
	cubes    int // per SIP
	row      int // of them side by side: of a row, or all where the SIP has no rows
	inSIP    network
	ends     []edge // of inSIP
	specs    *specs
	outside  *levels // between SIPs; nil where there is one
	halves   bool    // see Apart
	levels   []Level // of outside, in words
	look     Look    // of the network of cubes

	exit     bool          // whether a SIP has an IO chiplet: there is more than one SIP
	perSIP   int           // nodes of a SIP outside its cubes: the IO chiplet, switches between cubes
	conns    int           // connections on each side of a cube
	connOf   []int         // connection by PE of a cube
	turned   uint8         // first channel, inside a cube, of traffic along a column of cubes: see walk
	final    uint8         // channel, inside a cube, of traffic that has reached its cube
	capacity [4]unit.Bytes // by nodeKind
}

// Topology returns the description that the machine was built from; nil of a machine of OfLinks.
func (m *Machine) Topology() *conf.Topology { return m.topology }

// NumPEs returns the number of PEs of the whole machine.
func (m *Machine) NumPEs() int { return m.NumCubes() * m.cube.pes }

// SIPs returns the number of SIPs.
func (m *Machine) SIPs() int { return m.sips }

// CubesPerSIP returns the number of cubes in each SIP.
func (m *Machine) CubesPerSIP() int { return m.cubes }

// PEsPerCube returns the number of PEs in each cube.
func (m *Machine) PEsPerCube() int { return m.cube.pes }

// NumCubes returns the number of cubes of the whole machine.
func (m *Machine) NumCubes() int { return m.sips * m.cubes }

// Coord returns the place of a PE, counted in rank order: SIP, then cube, then PE.
func (m *Machine) Coord(pe int) Coord {
	cube := pe / m.cube.pes
	return Coord{SIP: cube / m.cubes, Cube: cube % m.cubes, PE: pe % m.cube.pes}
}

// Index returns the inverse of Coord; false where the machine has no such place.
func (m *Machine) Index(c Coord) (pe int, ok bool) {
	if c.SIP < 0 || c.SIP >= m.sips || c.Cube < 0 || c.Cube >= m.cubes || c.PE < 0 || c.PE >= m.cube.pes {
		return 0, false
	}
	return (c.SIP*m.cubes+c.Cube)*m.cube.pes + c.PE, true
}

// PE returns the node of a PE.
func (m *Machine) PE(pe int) NodeID { return m.tileNode(pe, m.cube.peNode) }

// HBM returns the node of a PE's own HBM slice.
func (m *Machine) HBM(pe int) NodeID { return m.tileNode(pe, m.cube.hbmNode) }

// TCM returns the node of a PE's TCM.
func (m *Machine) TCM(pe int) NodeID { return m.tileNode(pe, m.cube.tcmNode) }

// SRAM returns the node of a cube's SRAM; cubes are counted through the whole machine.
func (m *Machine) SRAM(cube int) NodeID { return NodeID(cube*m.cube.nodes + m.cube.sramNode) }

func (m *Machine) tileNode(pe, base int) NodeID {
	return NodeID(pe/m.cube.pes*m.cube.nodes + base + pe%m.cube.pes)
}

// Capacity returns the size of a memory node, and 0 for any other node.
func (m *Machine) Capacity(n NodeID) unit.Bytes {
	if kind := m.place(n).kind; kind <= kindSRAM {
		return m.capacity[kind]
	}
	return 0
}

// Latency sums a route. It returns the time that the head of a message needs over all hops, and
// their slowest rate, 0 for no hops. An uncontended message of b bytes has arrived whole at head +
// b / slowest.
func (m *Machine) Latency(hops []Hop) (head unit.Time, slowest unit.Rate) {
	for _, h := range hops {
		l := m.Spec(h.Link)
		head += l.Router + l.Wire
		if slowest == 0 || l.Rate < slowest {
			slowest = l.Rate
		}
	}
	return head, slowest
}
