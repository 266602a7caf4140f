package view

import (
	"cmp"
	"slices"

	"kernbench/unit"
)

// rings fills in how many slots of the fullest ring of a rank were in use: the most in each bin.
func (l *laner) rings(t *Timeline) {
	i := 0
	for seat, p := range l.order {
		if l.lanes[seat] == nil {
			continue
		}
		if changes := l.events.slots[p]; len(changes) > 0 {
			t.Lanes[i].Slots = l.slots(changes)
			t.Slots = max(t.Slots, int(slices.Max(t.Lanes[i].Slots)))
		}
		i++
	}
}

func (l *laner) slots(changes []change) []byte {
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	used := map[uint32]int32{}
	out := make([]byte, l.bins)
	most := func() byte {
		m := int32(0)
		for _, n := range used {
			m = max(m, n)
		}
		return byte(min(m, 255))
	}
	now := byte(0)
	filled := 0 // bins up to the time of the last change
	for i, c := range changes {
		bin := l.bin(min(max(c.at, l.start), l.start+l.length-unit.Picosecond))
		for ; filled <= bin; filled++ {
			out[filled] = now
		}
		used[c.ring] += c.by
		if i+1 < len(changes) && changes[i+1].at == c.at {
			continue
		}
		now = most()
		out[bin] = max(out[bin], now)
	}
	for ; filled < l.bins; filled++ {
		out[filled] = now
	}
	return out
}
