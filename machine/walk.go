package machine

// A walk is a route being written: where its head stands and on which channels it goes on.
//
// Channels inside a cube. A message in flight along a row of cubes uses the channel of its last
// crossing, 0 or, beyond a dateline, 1. So does one that is about to leave its first cube on the
// east or the west. A message along a column of cubes uses turned + the channel of its last
// crossing. A message in its last cube uses final. The number never sinks except where the column
// begins, and there it is on links that row traffic never uses:
//
//   - a row of cubes is left at the same height at which it was entered, so row traffic in transit
//     uses no column link, and what joins it uses those of the outermost columns only;
//   - connections to the north and the south stand on inner columns (layout.apart), so column
//     traffic uses those only; where a grid is too narrow for that, turned lies above all channels
//     of row traffic;
//   - a message that has reached its last cube leaves the network, whichever turn it takes there.
//
// So every chain of links is row traffic, column traffic towards the exit, links between SIPs,
// column traffic from the exit, last cube. Within each it goes in one direction or passes a
// dateline. Build checks it all the same.
type walk struct {
	m           *Machine
	buf         []Hop
	conn        int   // the connection that carries the message on every side
	cube        int   // where the head stands, through the whole machine
	at          point // and its router there
	row, column uint8 // channel of the last crossing along a row, along a column
}

func (w *walk) hop(link int, channel uint8) {
	w.buf = append(w.buf, Hop{Link: LinkID(link), Channel: channel})
}

// inside goes to another router of the same cube.
func (w *walk) inside(to point, cx, cy uint8) {
	w.buf = w.m.cube.appendXY(w.buf, w.cube*w.m.cube.links, w.at, to, cx, cy)
	w.at = to
}

// travel goes between two sites of one SIP: cubes, or its exit.
func (w *walk) travel(sip, from, to int) {
	m := w.m
	for site := from; site != to; {
		s := m.inSIP.next(from, site, to)
		e := &m.ends[s.edge]
		if site < m.cubes {
			exit := m.cube.conn[e.out][w.conn]
			if e.out.horizontal() {
				w.inside(exit, w.row, w.row)
			} else {
				w.inside(exit, w.row, m.turned+w.column)
			}
		}
		w.hop(m.crossing(sip, int(s.edge), w.conn), s.channel)
		if site = int(s.site); site < m.cubes {
			w.cube, w.at = sip*m.cubes+site, m.cube.conn[e.in][w.conn]
			if e.in.horizontal() {
				w.row = s.channel
			} else {
				w.column = s.channel
			}
		}
	}
}

// betweenSIPs goes from one SIP's exit to another's.
func (w *walk) betweenSIPs(from, to int) {
	w.buf = w.m.outside.route(w.buf, w.m.outerLink(0), from, to)
	w.row, w.column = 0, 0
}

// crossing returns the number of one connection's link for an edge between the cubes of a SIP.
func (m *Machine) crossing(sip, edge, conn int) int {
	return m.NumCubes()*m.cube.links + (sip*len(m.ends)+edge)*m.conns + conn
}

// outerLink returns the number of the link for an edge between SIPs.
func (m *Machine) outerLink(edge int) int { return m.crossing(m.sips, 0, 0) + edge }

// connection returns the one that carries a message between two tiles on each side of each cube
// that it crosses. It is that of the owner of the memory which is written or, where none is, read.
// So a read's request and its data share it. The SRAM has no owner; then the other end decides.
func (m *Machine) connection(a, b place) int {
	pe := b.index
	if b.kind == kindSRAM || b.kind == kindPE && (a.kind == kindHBM || a.kind == kindTCM) {
		pe = a.index
	}
	return m.connOf[pe]
}
