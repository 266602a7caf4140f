package mock

import (
	"kernbench/mem"
)

// This file has the lines of packets. In random schedules those of a packet come in parts, in any
// order. A part is whole lines and whole elements.

// cut is a part of a packet.
type cut struct {
	from, lines int32
	lo, n       int // elements
}

// mostCuts is into how many parts a packet is cut.
const mostCuts = 4

// cut divides the packet of an effect into parts, and shuffles them.
func (e *effect) cut() {
	x := e.by.run
	line, size := int(e.side.Lines.Data()), e.typ.Size()
	lines := max(1, size/line) // lines of an element, at least one
	elems := lines * line / size
	units := (e.n + elems - 1) / elems
	parts := min(units, 1+x.random.IntN(mostCuts))
	at := 0
	for i := range parts {
		end := units
		if left := parts - 1 - i; left > 0 {
			end = at + 1 + x.random.IntN(units-at-left)
		}
		lo := at * elems
		n := min(end*elems, e.n) - lo
		c := cut{from: int32(at * lines), lo: lo, n: n}
		c.lines = e.side.Lines.Count(int64(n * size))
		e.cuts = append(e.cuts, c)
		at = end
	}
	x.random.Shuffle(len(e.cuts), func(i, k int) { e.cuts[i], e.cuts[k] = e.cuts[k], e.cuts[i] })
}

// partArrives writes the next part of a packet, and shows its flags.
func (e *effect) partArrives() {
	x, s, c := e.by.run, &e.side, e.cuts[0]
	e.cuts = e.cuts[1:]
	if x.log != nil {
		to := s.Remote + mem.Addr(c.lo*e.typ.Size())
		x.log.Store(e.origin, to, e.value, e.off+int32(c.lo), c.n, e.typ)
	}
	s.Win.LinesArrived(s.Peer, s.Word, s.Value, c.from, c.lines)
	x.changes++
	x.show(s.Win, s.Peer)
	if len(e.cuts) > 0 {
		return
	}
	if x.log != nil {
		x.log.Release(e.value)
		e.value = 0
	}
	e.next = stepUpdate
}
