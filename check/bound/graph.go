package bound

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"

	"kernbench/machine"
	"kernbench/unit"
)

// graph is a directed graph of links between nodes, some of which are the places of ranks.
type graph struct {
	nodes int
	edges []edge
	out   [][]int32 // edges by the node that they leave
	rank  []int32   // node by rank

	cube   []int32   // of each node, from 0; nodes outside all cubes are numbered after them, each as its own part
	sip    []int32   // likewise
	groups [][]int32 // likewise for groups of SIPs, by level; -1 is in none
	levels []string  // what the members of each level are called
	orders []order   // arrangements of the nodes; everything up to a place may be one side of a cut

	port    []int64     // rate of each rank's HBM port, which its contributions leave by and its results enter by
	access  []unit.Time // and its delay
	relays  []int32     // nodes that can hold data and are no rank: an SRAM
	edgeStr func(e int32) string
	nodeStr func(n int32) string
}

// edge is one link.
type edge struct {
	from, to int32
	rate     int64 // bytes per second
	latency  unit.Time
	class    int32 // links of one kind have one number
}

// order is an arrangement of nodes: those of one place come before those of the next.
type order struct{ place []int32 }

// link completes a graph whose edges are there.
func (g *graph) link() {
	degree := make([]int32, g.nodes)
	for i := range g.edges {
		degree[g.edges[i].from]++
	}
	all := make([]int32, len(g.edges))
	g.out = make([][]int32, g.nodes)
	for n, d := range degree {
		g.out[n], all = all[:0:d], all[d:]
	}
	for i := range g.edges {
		from := g.edges[i].from
		g.out[from] = append(g.out[from], int32(i))
	}
}

// reversed returns the graph with every link turned round, its numbers kept.
func (g *graph) reversed() *graph {
	r := *g
	r.edges = make([]edge, len(g.edges))
	for i, e := range g.edges {
		e.from, e.to = e.to, e.from
		r.edges[i] = e
	}
	r.link()
	return &r
}

// fromMachine makes the graph of a machine with ranks on some PEs. Ports of memories are no
// edges: they lead from a node to itself.
func fromMachine(m *machine.Machine, pes []int32) *graph {
	g := &graph{}
	ids := make([]machine.LinkID, 0, m.NumLinks())
	classes := map[*machine.LinkSpec]int32{}
	ports := map[machine.NodeID]*machine.LinkSpec{}
	for i := range m.NumLinks() {
		l := m.Link(machine.LinkID(i))
		g.nodes = max(g.nodes, int(l.From)+1, int(l.To)+1)
		if l.Port {
			ports[l.From] = l.LinkSpec
			continue
		}
		class, ok := classes[l.LinkSpec]
		if !ok {
			class = int32(len(classes))
			classes[l.LinkSpec] = class
		}
		ids = append(ids, machine.LinkID(i))
		g.edges = append(g.edges, edge{int32(l.From), int32(l.To), int64(l.Rate), l.Router + l.Wire, class})
	}
	g.link()
	cubes := map[int]bool{}
	for _, pe := range pes {
		port := ports[m.HBM(int(pe))]
		g.rank = append(g.rank, int32(m.PE(int(pe))))
		g.port = append(g.port, int64(port.Rate))
		g.access = append(g.access, port.Router+port.Wire)
		if cube := int(pe) / m.PEsPerCube(); !cubes[cube] {
			cubes[cube] = true
			g.relays = append(g.relays, int32(m.SRAM(cube)))
		}
	}
	g.arrange(m)
	g.edgeStr = func(e int32) string { return m.LinkName(ids[e]) }
	g.nodeStr = func(n int32) string { return m.NodeName(machine.NodeID(n)) }
	return g
}

// arrange assigns nodes to cubes, SIPs and groups, and makes orders of them.
func (g *graph) arrange(m *machine.Machine) {
	g.cube, g.sip = make([]int32, g.nodes), make([]int32, g.nodes)
	single := int32(m.NumCubes())
	alone := int32(m.SIPs())
	order := order{make([]int32, g.nodes)}
	for n := range g.nodes {
		sip, cube := m.Home(machine.NodeID(n))
		if g.cube[n] = int32(cube); cube < 0 {
			g.cube[n] = single
			single++
		}
		if g.sip[n] = int32(sip); sip < 0 {
			g.sip[n] = alone
			alone++
		}
		// SIP by SIP, cube by cube; nodes outside cubes follow the cubes of their SIP.
		order.place[n] = g.sip[n] * int32(m.CubesPerSIP()+1)
		if cube >= 0 {
			order.place[n] += int32(cube % m.CubesPerSIP())
		} else {
			order.place[n] += int32(m.CubesPerSIP())
		}
	}
	g.orders = append(g.orders, order)
	for i, level := range m.Levels() {
		g.levels = append(g.levels, cmp.Or(level.Name, fmt.Sprintf("level %d", i)))
		g.arrangeLevel(m, i, &level)
	}
}

// arrangeLevel adds the groups of a level of SIPs, and an order for each dimension of it. Along a
// torus its planes are the sides of a cut. Nodes of no member come last.
func (g *graph) arrangeLevel(m *machine.Machine, i int, level *machine.Level) {
	group, member := make([]int32, g.nodes), make([]int32, g.nodes)
	for n := range g.nodes {
		group[n] = int32(m.Group(i, machine.NodeID(n)))
		if i > 0 {
			member[n] = g.groups[i-1][n]
		} else if member[n] = g.sip[n]; int(member[n]) >= m.SIPs() {
			member[n] = -1
		}
	}
	g.groups = append(g.groups, group)
	stride := int32(1)
	for _, d := range level.Dims {
		if d == 1 {
			continue
		}
		o := order{make([]int32, g.nodes)}
		for n, k := range member {
			if o.place[n] = int32(d); k >= 0 {
				o.place[n] = k / stride % int32(d)
			}
		}
		g.orders = append(g.orders, o)
		stride *= int32(d)
	}
}

// over is bytes × 1e12 / rate in whole picoseconds, rounded down.
func over(bytes, rate int64) unit.Time {
	if bytes <= 0 || rate <= 0 {
		return 0
	}
	return unit.Time(scaled(bytes, int64(unit.Second), rate))
}

// scaled returns a × b / c, rounded down; what does not fit is the largest number.
func scaled(a, b, c int64) int64 {
	high, low := bits.Mul64(uint64(a), uint64(b))
	if high >= uint64(c) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(high, low, uint64(c))
	return int64(min(q, math.MaxInt64))
}

// scaledUp is scaled, rounded up.
func scaledUp(a, b, c int64) int64 {
	q := scaled(a, b, c)
	if high, low := bits.Mul64(uint64(a), uint64(b)); q < math.MaxInt64 {
		if h, l := bits.Mul64(uint64(q), uint64(c)); h != high || l != low {
			q++
		}
	}
	return q
}

// less reports whether a/b < c/d; none is negative.
func less(a, b, c, d int64) bool {
	h1, l1 := bits.Mul64(uint64(a), uint64(d))
	h2, l2 := bits.Mul64(uint64(c), uint64(b))
	return h1 < h2 || h1 == h2 && l1 < l2
}
