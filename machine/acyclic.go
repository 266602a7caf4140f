package machine

import (
	"fmt"
	"strings"

	"kernbench/conf"
)

// A waitGraph records the hops that a message may wait for while it fills a link's input buffer,
// for each (link, channel). They are the next hop of each route. Without a cycle the fabric cannot
// deadlock. Classes need no vertices of their own, because each has its own buffers and the same
// routes. Nor do memory ports: a port before a route is a source, one after it a sink, and no cycle
// passes either.
type waitGraph struct {
	channels int
	next     [][]int32 // by vertex = link · channels + channel
	route    []Hop     // of segment
}

func newWaitGraph(links, channels int) *waitGraph {
	return &waitGraph{channels: channels, next: make([][]int32, links*channels)}
}

func (g *waitGraph) vertex(h Hop) int32 { return int32(int(h.Link)*g.channels + int(h.Channel)) }

// add records a route, without its ports.
func (g *waitGraph) add(route []Hop) {
	for i := 1; i < len(route); i++ {
		g.wait(g.vertex(route[i-1]), g.vertex(route[i]))
	}
}

func (g *waitGraph) wait(a, b int32) {
	for _, n := range g.next[a] {
		if n == b {
			return
		}
	}
	g.next[a] = append(g.next[a], b)
}

// cycle returns a cycle, in the order of waiting, or nil.
func (g *waitGraph) cycle() []Hop {
	const fresh, open, done = 0, 1, 2
	state := make([]uint8, len(g.next))
	seen := make([]int32, len(g.next)) // successors already followed
	for start := range g.next {
		path := []int32{int32(start)}
		for state[start] != done {
			v := path[len(path)-1]
			state[v] = open
			if int(seen[v]) == len(g.next[v]) {
				state[v] = done
				path = path[:len(path)-1]
				continue
			}
			n := g.next[v][seen[v]]
			seen[v]++
			switch state[n] {
			case fresh:
				path = append(path, n)
			case open:
				for path[0] != n {
					path = path[1:]
				}
				hops := make([]Hop, len(path))
				for i, p := range path {
					hops[i] = Hop{LinkID(int(p) / g.channels), uint8(int(p) % g.channels)}
				}
				return hops
			}
		}
	}
	return nil
}

// checkRouting returns an error for a machine whose fabric could deadlock. It examines a small
// machine of the same kinds, which has every sequence of hops that a larger one has. SIPs are
// equal, so all are merged into one. The network between them, which levelWaits examines, is merged
// into one vertex. A cycle of the whole machine is a cycle of the merged one too.
//
// The SIPs of the embedded machine are examined by a test, not in each run.
func checkRouting(t *conf.Topology) error {
	if !t.EmbeddedRoutes() {
		if err := checkSIP(t); err != nil {
			return err
		}
	}
	if t.System().SIPs.Count == 1 {
		return nil
	}
	l, err := newLevels(t, true)
	if err != nil {
		return fmt.Errorf("machine: the routing between fewer SIPs: %w", err)
	}
	g := l.foldedWaits()
	if circle := g.cycle(); circle != nil {
		return t.Errorf(t.LevelKey(l.levelOf(circle), "network"),
			"its routes wait for each other in a circle of %d links, so the fabric can lock up", len(circle))
	}
	return nil
}

// checkSIP examines all but the network between SIPs.
func checkSIP(t *conf.Topology) error {
	m, err := window(t)
	if err != nil {
		return fmt.Errorf("machine: the routing of a smaller machine of this kind: %w", err)
	}
	if circle := m.foldedWaits().cycle(); circle != nil {
		return t.Errorf("sip.cube_mesh.network", "its routes wait for each other in a circle, so the fabric can lock up: %s",
			m.circleText(circle))
	}
	return nil
}

func (m *Machine) circleText(circle []Hop) string {
	var b strings.Builder
	for _, h := range circle {
		fmt.Fprintf(&b, "%s (channel %d), then ", m.LinkName(h.Link), h.Channel)
	}
	return b.String() + "the first again"
}

// Sizes of the small machine. In a ring of five the shortest ways are two links long, in both
// directions and over the dateline. In a mesh of three there is a border on each side and a middle.
const (
	ringWindow  = 5
	meshWindow  = 3
	otherWindow = 3
	thinned     = 8 // connections, and places of PEs, that are looked at
)

// window returns the machine of t with fewer repeated parts.
func window(t *conf.Topology) (*Machine, error) {
	var pair *levels
	if t.System().SIPs.Count > 1 {
		pair = newPair()
	}
	mesh := t.SIP().CubeMesh
	w, h := shrink(mesh.Network, mesh.W, mesh.H)
	return build(t, w, h, pair)
}

// shrink returns the size of a network that shows all that w × h sites of its kind do.
func shrink(name string, w, h int) (int, int) {
	k, _ := findKind(name, ofCubes) // one that is unknown has been refused before
	most := otherWindow
	switch {
	case k.ring:
		most = ringWindow
	case k.grid:
		most = meshWindow
	}
	if k.grid {
		return min(w, most), min(h, most)
	}
	return min(w*h, most), 1
}

// foldedWaits returns the graph of all routes of the first SIP, to itself and to the second, with
// the second folded onto the first. A route is the hops from its start to its first crossing, those
// in transit, and those from its last crossing on. These depend on the start, the connection and
// the end one by one, so that not all pairs are needed.
func (m *Machine) foldedWaits() *waitGraph {
	crossings := m.crossing(0, 0, 0)
	folded := m.cubes*m.cube.links + len(m.ends)*m.conns
	g := newWaitGraph(folded+1, int(m.final)+1)
	betweenSIPs := LinkID(folded) // stands for all links between SIPs
	fold := func(route []Hop) []Hop {
		kept := route[:0]
		for _, h := range route {
			link := int(h.Link)
			switch {
			case m.Spec(LinkID(link)).Port:
				continue
			case link >= m.outerLink(0):
				h = Hop{Link: betweenSIPs}
			case link >= crossings:
				h.Link = LinkID(m.cubes*m.cube.links + (link-crossings)%(len(m.ends)*m.conns))
			default:
				h.Link = LinkID(link % (m.cubes * m.cube.links))
			}
			if n := len(kept); n == 0 || kept[n-1] != h {
				kept = append(kept, h)
			}
		}
		return kept
	}
	var route []Hop
	add := func(from, to NodeID) {
		route = m.Route(route[:0], from, to)
		route = fold(route)
		g.add(route)
	}
	starts := thin(m.pesWith(func(pe int) any { return m.cube.pe[pe] }))
	conns := thin(m.pesWith(func(pe int) any { return m.connOf[pe] }))
	for a := range m.cubes {
		for b := range m.NumCubes() {
			pesA, pesB := a*m.cube.pes, b*m.cube.pes
			for _, c := range conns {
				for _, p := range starts {
					add(m.PE(pesA+p), m.PE(pesB+c))  // each start with each connection
					add(m.HBM(pesA+c), m.PE(pesB+p)) // each connection with each end
				}
				add(m.SRAM(a), m.PE(pesB+c))
				add(m.PE(pesA+c), m.SRAM(b))
			}
		}
	}
	return g
}

// pesWith returns the first PE of a cube for each value that of has.
func (m *Machine) pesWith(of func(pe int) any) []int {
	seen := make(map[any]bool)
	var list []int
	for pe := range m.cube.pes {
		if v := of(pe); !seen[v] {
			seen[v] = true
			list = append(list, pe)
		}
	}
	return list
}

// thin keeps the first, the last and some between of a long list.
func thin(list []int) []int {
	if len(list) <= thinned {
		return list
	}
	kept := make([]int, thinned)
	for i := range kept {
		kept[i] = list[i*(len(list)-1)/(thinned-1)]
	}
	return kept
}
