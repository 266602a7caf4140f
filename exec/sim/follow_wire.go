package sim

import "kernbench/unit"

// wire is a token on links that several routes share.
type wire struct {
	token
	ring  uint32
	slot  int32 // that is read, or -1
	seq   uint32
	next  uint32
	at    unit.Time
	bytes int64
}

func (w *follow) newWire(t wire) uint32 {
	if i := w.wireFree; i != 0 {
		w.wireFree = w.wires[i].next
		w.wires[i] = t
		return i
	}
	w.wires = append(w.wires, t)
	return uint32(len(w.wires) - 1)
}

// departed: a token has been read, and its slot may go.
func (w *follow) departed(user uint32, end unit.Time) {
	t := &w.wires[user]
	f := &w.ranks[w.rings[t.ring].from]
	f.flying--
	f.last = max(f.last, end)
	if f.flying == 0 && f.wait == forDrain {
		w.wake(f)
	}
	if slot := t.slot; slot >= 0 {
		w.endRead(slot, end)
	}
}

// delivered: a token has arrived whole.
func (w *follow) delivered(user uint32, now unit.Time) {
	t := w.wires[user]
	w.wires[user].next, w.wireFree = w.wireFree, user
	w.arrive(t.ring, t.token, t.seq, t.bytes, t.at, now)
}
