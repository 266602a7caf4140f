package machine

import "kernbench/conf"

// point is a router's place in a cube's grid; (0, 0) is the north-west corner.
type point struct{ x, y int }

// A layout is the plan that all cubes share. It has the places of PEs, SRAM and connections on the
// w × h routers. It also has the number of each node and link within its cube.
//
// All routers of the grid are there. On a real cube the HBM stack replaces those in the middle.
// Here they represent the wires that pass next to it, so that every row and column is straight and
// XY routing needs no detour.
type layout struct {
	w, h, pes int
	pe        []point // by PE
	sram      point
	conn      [4][]point // by side, then by connection
	apart     bool       // no connection on a corner router: see channels in route.go

	// Nodes: routers first, row by row.
	peNode, hbmNode, tcmNode, sramNode, nodes int

	// Links to the east and to the west are listed row by row, to the south and to the north column
	// by column. So the hops along a line have consecutive numbers.
	eastLink, westLink, southLink, northLink int
	injectLink, ejectLink                    int // between a PE's tile and its router, by PE
	hbmLink, tcmReadLink, tcmWriteLink       int // memory ports, by PE
	sramLink, sramInjectLink, sramEjectLink  int
	links                                    int
}

func newLayout(c conf.Cube, connections int) layout {
	l := layout{w: c.NoC.W, h: c.NoC.H, pes: c.PELayout.PEPerCorner * len(c.PELayout.Corners)}
	l.placePEs(c.PELayout)
	// The SRAM stands half way down the west edge, as in the published floor plan (r3c0 of 6 × 6).
	l.sram = point{0, l.h / 2}
	l.placeConnections(connections)

	next := 0
	take := func(n int) int { next += n; return next - n }
	take(l.w * l.h)
	l.peNode, l.hbmNode, l.tcmNode, l.sramNode = take(l.pes), take(l.pes), take(l.pes), take(1)
	l.nodes = next

	next = 0
	l.eastLink, l.westLink = take((l.w-1)*l.h), take((l.w-1)*l.h)
	l.southLink, l.northLink = take(l.w*(l.h-1)), take(l.w*(l.h-1))
	l.injectLink, l.ejectLink = take(l.pes), take(l.pes)
	l.hbmLink, l.tcmReadLink, l.tcmWriteLink = take(l.pes), take(l.pes), take(l.pes)
	l.sramLink, l.sramInjectLink, l.sramEjectLink = take(1), take(1), take(1)
	l.links = next
	return l
}

// placePEs puts the first PE of each corner on the corner's router. The others are on the routers
// next to it, along the row towards the middle and then along the next row. A full quarter starts
// again at the corner.
func (l *layout) placePEs(p conf.PELayout) {
	halfW, halfH := (l.w+1)/2, (l.h+1)/2
	for _, corner := range p.Corners {
		for k := range p.PEPerCorner {
			at := point{k % halfW, k / halfW % halfH}
			if corner[0] == 'S' {
				at.y = l.h - 1 - at.y
			}
			if corner[1] == 'E' {
				at.x = l.w - 1 - at.x
			}
			l.pe = append(l.pe, at)
		}
	}
}

// placeConnections spreads the connections of each side over its routers. Corners stay free where a
// side has others.
func (l *layout) placeConnections(n int) {
	l.apart = l.w > 2 && l.h > 2
	spread := func(k, length int) int {
		if l.apart {
			return 1 + k*(length-2)/n
		}
		return k * length / n
	}
	for k := range n {
		x, y := spread(k, l.w), spread(k, l.h)
		l.conn[east] = append(l.conn[east], point{l.w - 1, y})
		l.conn[west] = append(l.conn[west], point{0, y})
		l.conn[north] = append(l.conn[north], point{x, 0})
		l.conn[south] = append(l.conn[south], point{x, l.h - 1})
	}
}

func (l *layout) router(p point) int { return p.y*l.w + p.x }

// appendXY appends the hops from a to b inside the cube whose links begin at base. They go along
// the row on channel cx, then along the column on channel cy.
func (l *layout) appendXY(buf []Hop, base int, a, b point, cx, cy uint8) []Hop {
	row := base + a.y*(l.w-1)
	for x := a.x; x < b.x; x++ {
		buf = append(buf, Hop{LinkID(row + l.eastLink + x), cx})
	}
	for x := a.x; x > b.x; x-- {
		buf = append(buf, Hop{LinkID(row + l.westLink + x - 1), cx})
	}
	column := base + b.x*(l.h-1)
	for y := a.y; y < b.y; y++ {
		buf = append(buf, Hop{LinkID(column + l.southLink + y), cy})
	}
	for y := a.y; y > b.y; y-- {
		buf = append(buf, Hop{LinkID(column + l.northLink + y - 1), cy})
	}
	return buf
}
