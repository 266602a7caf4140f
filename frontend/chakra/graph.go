package chakra

import (
	"container/heap"
	"fmt"
	"slices"
)

// graph holds the nodes of a trace in an order that their dependencies allow, cut into chains. Each
// node of a chain depends on the one before.
type graph struct {
	trace *Trace
	order []int   // places of nodes
	deps  [][]int // of each node, by place
	chain []int   // of each node
	index []int   // of each node in its chain
	last  []int   // of each chain: place of its last node
}

// newGraph orders the nodes of a trace. Of the possible next nodes it takes the first in the file.
func newGraph(t *Trace) (*graph, error) {
	g := &graph{trace: t, deps: make([][]int, len(t.Nodes)), chain: make([]int, len(t.Nodes)), index: make([]int, len(t.Nodes))}
	at := make(map[uint64]int, len(t.Nodes))
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if before, ok := at[n.ID]; ok {
			return nil, t.fail(n, fmt.Sprintf("the id is that of the node at byte %d too", t.Nodes[before].Offset))
		}
		at[n.ID] = i
	}
	users := make([][]int, len(t.Nodes))
	open := make([]int, len(t.Nodes))
	for i := range t.Nodes {
		n := &t.Nodes[i]
		for _, id := range slices.Concat(n.DataDeps, n.CtrlDeps) {
			d, ok := at[id]
			if !ok {
				return nil, t.fail(n, fmt.Sprintf("it depends on node %d, which the trace does not have", id))
			}
			if slices.Contains(g.deps[i], d) {
				continue
			}
			g.deps[i] = append(g.deps[i], d)
			users[d] = append(users[d], i)
			open[i]++
		}
	}
	ready := &places{}
	for i := range t.Nodes {
		if open[i] == 0 {
			heap.Push(ready, i)
		}
	}
	for ready.Len() > 0 {
		i := heap.Pop(ready).(int)
		g.order = append(g.order, i)
		g.place(i)
		for _, u := range users[i] {
			if open[u]--; open[u] == 0 {
				heap.Push(ready, u)
			}
		}
	}
	if len(g.order) < len(t.Nodes) {
		return nil, g.cycle(open)
	}
	return g, nil
}

// place puts a node at the end of a chain that it depends on, else into a new chain.
func (g *graph) place(i int) {
	for _, d := range g.deps[i] {
		if c := g.chain[d]; g.last[c] == d {
			g.chain[i], g.index[i] = c, g.index[d]+1
			g.last[c] = i
			return
		}
	}
	g.chain[i] = len(g.last)
	g.last = append(g.last, i)
}

// cycle names nodes that wait for each other.
func (g *graph) cycle(open []int) error {
	start := slices.IndexFunc(open, func(n int) bool { return n > 0 })
	seen := map[int]int{}
	var path []int
	for i := start; ; {
		if at, ok := seen[i]; ok {
			path = path[at:]
			break
		}
		seen[i] = len(path)
		path = append(path, i)
		i = g.deps[i][slices.IndexFunc(g.deps[i], func(d int) bool { return open[d] > 0 })]
	}
	text := "it waits for "
	for k := range path {
		if k > 0 {
			text += ", which waits for "
		}
		text += fmt.Sprintf("node %d", g.trace.Nodes[path[(k+1)%len(path)]].ID)
	}
	return g.trace.fail(&g.trace.Nodes[path[0]], text)
}

// fail returns the error for a mistake in a node.
func (t *Trace) fail(n *Node, reason string) error {
	return &Error{File: t.File, Offset: n.Offset, Node: fmt.Sprintf("node %d", n.ID), Reason: reason}
}

// places is a heap, the least first.
type places []int

func (p places) Len() int           { return len(p) }
func (p places) Less(i, j int) bool { return p[i] < p[j] }
func (p places) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *places) Push(x any)        { *p = append(*p, x.(int)) }
func (p *places) Pop() any {
	old := *p
	x := old[len(old)-1]
	*p = old[:len(old)-1]
	return x
}
