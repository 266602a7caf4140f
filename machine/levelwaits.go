package machine

// foldedWaits returns the graph of all routes between SIPs, with the networks of a level folded
// onto one. A cycle of the whole is also one of the folded graph. A route is segments through
// networks: up to gateways, across, down, along planes (see levels). Each segment of a network is
// walked. Between two segments a message passes a gateway or a SIP. What may follow there does not
// depend on what came before, so these places are vertices of their own.
func (l *levels) foldedWaits() *waitGraph {
	const start = -1 // at a SIP, with nothing before
	edges := 0
	for i := range l.at {
		edges += l.at[i].count
	}
	place := func(kind, level int) int { return edges + kind*(len(l.at)+2) + level }
	rising := func(i int) int { return place(0, i) }  // at a gateway of level i, upwards
	falling := func(i int) int { return place(1, i) } // there, downwards
	landed := func(i int) int { return place(2, i) }  // at a SIP, to go on along planes of level i or above
	g := newWaitGraph(place(3, 0), 2)
	first := 0
	for i := range l.at {
		at := &l.at[i]
		before, after := landed(i), landed(i+1)
		up, down := start, landed(i+2) // what has come down has crossed level i + 1 or one above it
		if at.group {
			before, after = rising(i-1), falling(i-1)
			up, down = before, after
		}
		for from := range at.n {
			for to := range at.n {
				if from != to {
					g.addSegment(at.net, first, from, to, before, after)
				}
			}
			if at.gateway {
				g.addSegment(at.net, first, from, at.n, up, rising(i))
				g.addSegment(at.net, first, at.n, from, falling(i), down)
			}
		}
		g.wait(g.vertex(Hop{Link: LinkID(landed(i))}), g.vertex(Hop{Link: LinkID(landed(i + 1))}))
		first += at.count
	}
	return g
}

// addSegment records a path through a network whose edges are the links from first on, and the
// nodes before and after it. A negative number is nothing.
func (g *waitGraph) addSegment(net network, first, from, to, before, after int) {
	route := g.route[:0]
	if before >= 0 {
		route = append(route, Hop{Link: LinkID(before)})
	}
	for at := from; at != to; {
		s := net.next(from, at, to)
		route = append(route, Hop{LinkID(first + int(s.edge)), s.channel})
		at = int(s.site)
	}
	if after >= 0 {
		route = append(route, Hop{Link: LinkID(after)})
	}
	g.add(route)
	g.route = route
}

// levelOf returns the innermost level that a circle of foldedWaits passes.
func (l *levels) levelOf(circle []Hop) int {
	level := len(l.at) - 1
	for _, h := range circle {
		first := 0
		for i := range level {
			if first += l.at[i].count; int(h.Link) < first {
				level = i
				break
			}
		}
	}
	return level
}
