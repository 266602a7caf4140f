package sim

import (
	"runtime"

	"kernbench/hw/noc"
	"kernbench/machine"
	"kernbench/tl"
	"kernbench/unit"
)

// connection leads the rings of some receivers, where there is a second core of half of them. Each has manners of its own, of which those of all are numbered in turn.
type connection struct {
	*follow
	first, end int    // ranks
	id         uint32 // of the ring before the first
	number, of uint32 // this one, of so many
	uses       []noc.Use
	alike      *machine.Alike
	manners    []manner
	hops       []machine.Hop
}

// connect leads rings from rank to rank. Those of a receiver lie side by side.
func (w *follow) connect() {
	uses := make([]noc.Use, len(w.rings)-1)
	n := len(w.ranks)
	all := []*connection{{follow: w, end: n, of: 1}}
	if w.e.opts.SecondCore && w.launch.Sends == nil && n >= sidesFrom && runtime.GOMAXPROCS(0) > 1 {
		rings := uint32(0)
		for i := range w.ranks[:n/2] {
			rings += uint32(w.ranks[i].ins)
		}
		all = []*connection{{follow: w, end: n / 2, of: 2}, {follow: w, first: n / 2, end: n, id: rings, number: 1, of: 2}}
	}
	for _, c := range all {
		c.uses, c.alike = uses, w.e.m.Alike()
	}
	if len(all) == 1 {
		all[0].lead()
	} else {
		both(func(i int) { all[i].lead() }, func() {})
	}
	most := 0
	for _, c := range all {
		most = max(most, len(c.manners))
	}
	w.manners = make([]manner, most*len(all))
	lead := w.e.spec.Issue + w.e.spec.Send
	for k, c := range all {
		for i, m := range c.manners {
			w.manners[i*len(all)+k] = m
			lead = min(lead, m.credit)
		}
	}
	// From what happens on the fabric to what is sent because of it: a send after a receive, or what waited for a credit.
	w.uses, w.lead = uses, lead+w.e.spec.DMA.Setup
}

// lead connects the rings of its receivers.
func (c *connection) lead() {
	w, l, id := c.follow, c.launch, c.id
	for i := c.first; i < c.end; i++ {
		f := &w.ranks[i]
		g := &l.Groups[f.group]
		for k, p := range g.Wiring[f.index].In {
			from := &w.ranks[f.base+p.Peer]
			like := c.manner(from, f)
			if l.Sends != nil && !l.SendsIn(g.Wiring[p.Peer].Out[p.PeerOut].Dir) {
				continue
			}
			id++
			w.rings[id] = ring{from: from.id, to: f.id, out: p.PeerOut, manner: like}
			w.ports[from.tx+uint32(p.PeerOut)], w.ports[f.rx+uint32(k)] = id, id
			c.uses[id-1] = noc.Use{From: w.e.m.TCM(int(from.pe)), To: w.e.m.TCM(int(f.pe)), Like: like, Side: w.sideOf(from.id), ToSide: w.sideOf(f.id)}
		}
	}
}

// manner is that of rings from one rank to another. Each side that may follow the sender has its own.
func (c *connection) manner(from, to *follower) uint32 {
	n := 2 * c.alike.Number(int(from.pe), int(to.pe))
	if int(n) == len(c.manners) {
		late, _ := c.ring.Protocol.Late(c.e.m.Between(int(from.pe), int(to.pe)))
		var m manner
		m.late = late
		m.credit, c.hops = c.e.creditTime(c.ring, int(to.pe), int(from.pe), c.hops)
		c.manners = append(c.manners, m, m)
	}
	return (n+uint32(c.sideOf(from.id)))*c.of + c.number
}

// creditTime is what a credit takes on its way back: the latency of the path, which it finds in hops, its
// bytes over the slowest link, and until it is seen.
func (e *Executor) creditTime(ring *tl.Ring, from, to int, hops []machine.Hop) (unit.Time, []machine.Hop) {
	hops = e.m.Route(hops[:0], e.m.PE(from), e.m.PE(to))
	head, slowest := e.m.Latency(hops)
	_, seen := ring.Protocol.Late(e.m.Between(from, to))
	if slowest > 0 {
		seen += slowest.Time(ring.CreditBytes)
	}
	return head + seen, hops
}
