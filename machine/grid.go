package machine

// grid is the common part of mesh, torus and ring of cubes. It has sites in w columns and h rows
// and dimension-order routing (along the row first, then along the column). Where a dimension
// wraps, routes take the shorter direction.
//
// A dimension of one site has no links. One of two sites has a link in each direction and no wrap,
// since both directions are the same. On a ring a message starts on channel 0 and is on channel 1
// from the wrap link on. So neither channel's links close a cycle.
type grid struct {
	size
	wrapX, wrapY bool
	list         []edge
	out          [][4]int32 // edge by site and side; -1 where there is none
	up, down     []int32    // edges between the exit and each site that borders it, by site; -1 elsewhere
	direct       bool       // every site borders the exit, not row 0 alone
}

// newGrid wires a grid. With direct every site has its own link to the exit; else the exit lies
// along row 0.
func newGrid(s size, wrap, direct bool) *grid {
	g := &grid{size: s, wrapX: wrap && s.w > 2, wrapY: wrap && s.h > 2, direct: direct}
	g.out = make([][4]int32, s.n)
	for site := range g.out {
		x, y := site%s.w, site/s.w
		g.out[site] = [4]int32{
			east:  g.join(site, x+1, y, east, west),
			west:  g.join(site, x-1, y, west, east),
			north: g.join(site, x, y-1, north, south),
			south: g.join(site, x, y+1, south, north),
		}
	}
	if s.exit {
		g.joinExit()
	}
	return g
}

// join adds the edge from site to (x, y), unless that lies beyond a border that does not wrap.
func (g *grid) join(site, x, y int, out, in side) int32 {
	if (x < 0 || x >= g.w) && !g.wrapX || (y < 0 || y >= g.h) && !g.wrapY {
		return -1
	}
	to := (y+g.h)%g.h*g.w + (x+g.w)%g.w
	g.list = append(g.list, edge{from: int32(site), to: int32(to), out: out, in: in})
	return int32(len(g.list) - 1)
}

func (g *grid) joinExit() {
	border := g.w
	if g.direct {
		border = g.n
	}
	g.up, g.down = exitEdges(&g.list, g.n, border)
}

// exitEdges appends an edge to the exit, and one back, for each of the first border sites of n.
// All are on the north.
func exitEdges(list *[]edge, n, border int) (up, down []int32) {
	for site := range int32(border) {
		up = append(up, int32(len(*list)))
		*list = append(*list, edge{from: site, to: int32(n), out: north, in: north})
	}
	for site := range int32(border) {
		down = append(down, int32(len(*list)))
		*list = append(*list, edge{from: int32(n), to: site, out: north, in: north})
	}
	return up, down
}

func (g *grid) edges() []edge      { return g.list }
func (g *grid) hubs() int          { return 0 }
func (g *grid) hubName(int) string { return "" }

func (g *grid) channels() uint8 {
	if g.wrapX || g.wrapY {
		return 2
	}
	return 1
}

// next goes along the row until the column is right, then along the column. To and from the exit it
// goes along the column alone and never over a wrap link. So routes up and routes down share no
// link. Otherwise a cycle could close through two SIPs.
func (g *grid) next(from, at, to int) step {
	switch {
	case at == g.n && g.direct:
		return g.take(g.down[to], 0)
	case at == g.n:
		return g.take(g.down[to%g.w], 0)
	case to == g.n && (g.direct || at < g.w):
		return g.take(g.up[at], 0)
	case to == g.n:
		return g.take(g.out[at][north], 0)
	case from == g.n:
		return g.take(g.out[at][south], 0)
	}
	if x, tx := at%g.w, to%g.w; x != tx {
		s, channel := along(from%g.w, x, tx, g.w, g.wrapX, east, west)
		return g.take(g.out[at][s], channel)
	}
	s, channel := along(from/g.w, at/g.w, to/g.w, g.h, g.wrapY, south, north)
	return g.take(g.out[at][s], channel)
}

func (g *grid) take(e int32, channel uint8) step {
	return step{edge: e, site: g.list[e].to, channel: channel}
}

// along chooses the direction from at to to, n sites in a line that wraps or not: up where the
// numbers rise. The message began at from, which decides whether this step is at or beyond the wrap
// link. Of two equal ways it takes up.
func along(from, at, to, n int, wrap bool, up, down side) (side, uint8) {
	if !wrap {
		if to > at {
			return up, 0
		}
		return down, 0
	}
	if 2*((to-from+n)%n) <= n {
		if (at+1)%n < from {
			return up, 1
		}
		return up, 0
	}
	if (at+n-1)%n > from {
		return down, 1
	}
	return down, 0
}
