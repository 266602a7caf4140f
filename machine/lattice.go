package machine

import "slices"

// lattice is a mesh or torus of any number of dimensions between SIPs: a ring is a torus of one. It
// routes dimension by dimension, the first one first, each the shortest route, up where both are as
// long. A dimension of one member has no links; one of two has a link in each direction and no
// wrap. A message starts each dimension on channel 0 and is on channel 1 from the wrap link on. So
// neither channel's links close a cycle (see grid, which does the same for cubes).
//
// With a gateway each member has a link of its own to it. So routes to and from it share no link
// with any other.
type lattice struct {
	dims    []int
	n       int // members
	wrap    bool
	gateway bool
	list    []edge
	out     []int32 // edge by member, dimension, and up or down; -1 where there is none
	up      int32   // first of the edges to the gateway; those back follow
}

func newLattice(dims []int, wrap, gateway bool) *lattice {
	l := &lattice{dims: dims, n: 1, wrap: wrap, gateway: gateway}
	for _, d := range dims {
		l.n *= d
	}
	l.out = make([]int32, 0, 2*len(dims)*l.n)
	for site := range l.n {
		stride := 1
		for _, d := range dims {
			x := site / stride % d
			l.join(site, x, x+1, d, stride)
			l.join(site, x, x-1, d, stride)
			stride *= d
		}
	}
	l.up = int32(len(l.list))
	if gateway {
		exitEdges(&l.list, l.n, l.n)
	}
	return l
}

// join adds the edge from a member at x of a dimension to the one at to, or notes that there is
// none.
func (l *lattice) join(site, x, to, d, stride int) {
	if (to < 0 || to >= d) && !l.wraps(d) {
		l.out = append(l.out, -1)
		return
	}
	l.out = append(l.out, int32(len(l.list)))
	l.list = append(l.list, edge{from: int32(site), to: int32(site + ((to+d)%d-x)*stride)})
}

func (l *lattice) wraps(d int) bool   { return l.wrap && d > 2 }
func (l *lattice) edges() []edge      { return l.list }
func (l *lattice) hubs() int          { return 0 }
func (l *lattice) hubName(int) string { return "" }
func (l *lattice) take(e int32) step  { return step{edge: e, site: l.list[e].to} }

func (l *lattice) channels() uint8 {
	for _, d := range l.dims {
		if l.wraps(d) {
			return 2
		}
	}
	return 1
}

func (l *lattice) next(from, at, to int) step {
	switch {
	case to == l.n:
		return l.take(l.up + int32(at))
	case at == l.n:
		return l.take(l.up + int32(l.n+to))
	}
	i, stride := 0, 1
	for at/stride%l.dims[i] == to/stride%l.dims[i] {
		stride *= l.dims[i]
		i++
	}
	d := l.dims[i]
	dir, channel := along(from/stride%d, at/stride%d, to/stride%d, d, l.wraps(d), 0, 1)
	s := l.take(l.out[2*(len(l.dims)*at+i)+int(dir)])
	s.channel = channel
	return s
}

// smallLattice limits the members along each dimension of a plan, and keeps the largest three
// dimensions. Any two dimensions interact alike, and their number counts in the exponent.
func smallLattice(most int) func(plan) plan {
	const kept = 3
	return func(p plan) plan {
		large := slices.Clone(p.dims)
		slices.SortFunc(large, func(a, b int) int { return b - a })
		var dims []int
		p.n = 1
		for _, d := range p.dims {
			if len(dims) < kept && d >= large[min(kept, len(large))-1] {
				dims = append(dims, min(d, most))
				p.n *= min(d, most)
			}
		}
		p.dims = dims
		return p
	}
}
