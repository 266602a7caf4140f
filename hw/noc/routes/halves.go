package routes

// Halves has routes of two parts, of which one follows from the source, and one from the
// destination. So there are as many of them as nodes, and not as pairs.
type Halves struct{ fronts, tails []uint32 } // by node: where in Table.Hops; 0: not stored

// Grow makes space for a number of nodes.
func (h *Halves) Grow(nodes int) {
	if h.fronts == nil {
		h.fronts, h.tails = make([]uint32, nodes), make([]uint32, nodes)
	}
}

// Find returns the route between two nodes, if both parts of it are stored.
func (h *Halves) Find(from, to uint32) (r Route, ok bool) {
	r = Route{At: h.fronts[from], Then: h.tails[to]}
	return r, r.At != 0 && r.Then != 0
}

// Store stores those parts of a path that are not stored yet. The front has `first` hops.
func (h *Halves) Store(t *Table, from, to uint32, path []Hop, first int) Route {
	if h.fronts[from] == 0 {
		h.fronts[from] = t.Add(path[:first]).At
	}
	if h.tails[to] == 0 {
		h.tails[to] = t.Add(path[first:]).At
	}
	return Route{At: h.fronts[from], Then: h.tails[to]}
}
