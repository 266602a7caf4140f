package bound

import "math"

// A network is a graph with capacities and two more nodes. A source has an arc to every rank, and a
// sink has one from every rank. Dinic's method finds its largest flows: see docs/decisions/0024.
//
// One network serves every question: capacities are set anew for each, and an arc of capacity 0
// is not there.
type network struct {
	g            *graph
	source, sink int32
	arcs         []arc
	first        []int32 // index of the first arc of each node, and the number of arcs; arcs of a node are contiguous
	ofEdge       []int32 // arc by edge
	in, out      []int32 // arcs from the source and to the sink, by rank

	level, next, queue, path []int32
}

// arc is one direction of a link, with what is left of its capacity.
type arc struct {
	to, back int32
	left     int64
}

// unlimited is a capacity that no flow uses up.
const unlimited = math.MaxInt64 / 4

func newNetwork(g *graph) *network {
	n := &network{g: g, source: int32(g.nodes), sink: int32(g.nodes + 1)}
	ends := make([][2]int32, 0, len(g.edges)+2*len(g.rank))
	for i := range g.edges {
		ends = append(ends, [2]int32{g.edges[i].from, g.edges[i].to})
	}
	for _, v := range g.rank {
		ends = append(ends, [2]int32{n.source, v}, [2]int32{v, n.sink})
	}
	n.first = make([]int32, g.nodes+3)
	for _, e := range ends {
		n.first[e[0]+1]++
		n.first[e[1]+1]++
	}
	for i := 1; i < len(n.first); i++ {
		n.first[i] += n.first[i-1]
	}
	free := append([]int32(nil), n.first...)
	n.arcs = make([]arc, 2*len(ends))
	at := make([]int32, len(ends))
	for i, e := range ends {
		a := free[e[0]]
		free[e[0]]++
		b := free[e[1]]
		free[e[1]]++
		n.arcs[a], n.arcs[b] = arc{to: e[1], back: b}, arc{to: e[0], back: a}
		at[i] = a
	}
	n.ofEdge = at[:len(g.edges)]
	for r := range g.rank {
		n.in = append(n.in, at[len(g.edges)+2*r])
		n.out = append(n.out, at[len(g.edges)+2*r+1])
	}
	n.level, n.next = make([]int32, g.nodes+2), make([]int32, g.nodes+2)
	return n
}

// clear sets the capacity of every link to its rate in a unit times a factor, and removes the arcs
// of the ranks.
func (n *network) clear(unit, factor int64) {
	for i := range n.arcs {
		n.arcs[i].left = 0
	}
	for i, a := range n.ofEdge {
		n.arcs[a].left = n.g.edges[i].rate / unit * factor
	}
}

// run finds a largest flow from the source to the sink and returns how much it is.
func (n *network) run() int64 {
	total := int64(0)
	for n.layers() {
		copy(n.next, n.first)
		total += n.blocking()
	}
	return total
}

// layers numbers the nodes by their distance from the source over what is left, and reports whether
// the sink can be reached. After the last flow, those with a number are the source's side of a
// smallest cut.
func (n *network) layers() bool {
	for i := range n.level {
		n.level[i] = -1
	}
	n.level[n.source] = 0
	n.queue = append(n.queue[:0], n.source)
	for k := 0; k < len(n.queue); k++ {
		v := n.queue[k]
		for a := n.first[v]; a < n.first[v+1]; a++ {
			if w := n.arcs[a].to; n.arcs[a].left > 0 && n.level[w] < 0 {
				n.level[w] = n.level[v] + 1
				n.queue = append(n.queue, w)
			}
		}
	}
	return n.level[n.sink] >= 0
}

// blocking fills every path along the layers.
func (n *network) blocking() int64 {
	total := int64(0)
	n.path = n.path[:0]
	for v := n.source; ; {
		if v == n.sink {
			least := int64(math.MaxInt64)
			for _, a := range n.path {
				least = min(least, n.arcs[a].left)
			}
			cut := 0
			for i, a := range n.path {
				n.arcs[a].left -= least
				n.arcs[n.arcs[a].back].left += least
				if n.arcs[a].left == 0 && cut == 0 {
					cut = i + 1
				}
			}
			total += least
			v = n.arcs[n.arcs[n.path[cut-1]].back].to // go on from before the first that is full
			n.path = n.path[:cut-1]
		}
		if a, ok := n.advance(v); ok {
			n.path = append(n.path, a)
			v = n.arcs[a].to
			continue
		}
		if len(n.path) == 0 {
			return total
		}
		n.level[v] = -1 // a dead end
		last := n.path[len(n.path)-1]
		n.path = n.path[:len(n.path)-1]
		v = n.arcs[n.arcs[last].back].to
		n.next[v]++
	}
}

// advance returns the next arc of a node that leads to the next layer.
func (n *network) advance(v int32) (int32, bool) {
	for ; n.next[v] < n.first[v+1]; n.next[v]++ {
		a := &n.arcs[n.next[v]]
		if a.left > 0 && n.level[a.to] == n.level[v]+1 {
			return n.next[v], true
		}
	}
	return 0, false
}

// inside returns the nodes of the graph on the source's side of the smallest cut that run found.
func (n *network) inside() []bool {
	s := make([]bool, n.g.nodes)
	for i := range s {
		s[i] = n.level[i] >= 0
	}
	return s
}
