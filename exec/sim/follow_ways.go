package sim

import "kernbench/hw/noc"

// isolate finds the ways of rings. Where all kernels have been recorded, it is known what they send: rings
// into which nobody sends take no way, and leave it to others.
func (w *follow) isolate(recorded bool) {
	n, slots := w.e.net, int64(w.ring.Slots)
	largest := w.ring.Protocol.Wire(w.ring.SlotBytes)
	if recorded {
		largest = 0
		w.eachSend(func(ring uint32, size int64) {
			w.uses[ring-1].Bytes = slots * size
			largest = max(largest, size)
		})
	} else {
		for i := range w.uses {
			w.uses[i].Bytes = slots * largest
		}
	}
	uses, rings := w.uses[:0], make([]uint32, 0, len(w.uses))
	for i, u := range w.uses {
		if u.Bytes > 0 {
			uses, rings = append(uses, u), append(rings, uint32(i+1))
		}
	}
	n.Isolate(uses, noc.Load{Largest: largest, Lead: w.lead})
	w.isolated = true
	if w.e.opts.Fidelity == noc.Slot && w.e.opts.SecondCore && len(w.ranks) >= sidesFrom {
		w.lookahead = n.Part(uses)
	}
	w.private = true
	for i, id := range rings {
		r := &w.rings[id]
		r.own, r.private = uses[i].Private, uses[i].Alone
		w.private = w.private && r.private
	}
	w.uses = nil
}

// eachSend calls f with each ring into which its sender has been recorded to send, and the size of the
// largest token on the links.
func (w *follow) eachSend(f func(ring uint32, size int64)) {
	known := map[*op]*[1 << 8]int64{} // by record
	for i := range w.ranks {
		rank := &w.ranks[i]
		if len(rank.ops) == 0 {
			continue
		}
		sizes := known[&rank.ops[0]]
		if sizes == nil {
			sizes = w.largest(rank.ops)
			known[&rank.ops[0]] = sizes
		}
		for port := range rank.rx - rank.tx {
			if id := w.ports[rank.tx+port]; id != noRing && sizes[port] > 0 {
				f(id, sizes[port])
			}
		}
	}
}

// largest is the size on the links of the largest token that a record sends at each port.
func (w *follow) largest(ops []op) *[1 << 8]int64 {
	sizes := new([1 << 8]int64)
	for i := range ops {
		if o := &ops[i]; o.kind == opSend || o.kind == opSendRef {
			f, size := &w.forms[o.form], &sizes[o.port]
			if *size = max(*size, f.wire[1], 1); f.parts > 1 {
				*size = max(*size, f.wire[0])
			}
		}
	}
	return sizes
}
