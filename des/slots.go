package des

import "math/bits"

// A time is a number of 8 digits in base 256; without the last digit it is the number of 256 ps.
const (
	digitBits = 8
	digits    = 1 << digitBits
	ages      = 64/digitBits - 2
)

// slots hold the events beyond the window.
type slots struct {
	edge     uint64    // number of the 256 ps after those of the window
	instants row       // the picoseconds of those 256, when they have more than few events
	wheel    row       // the 256 times 256 ps from edge on, by the last digit of their number
	ages     [ages]row // later events: a row for each first digit in which their number differs from edge
	old      uint8     // rows of ages with events
	crowded  bool      // instants has events
	coming   uint32    // the block of the next instant that was prefetched last
	blocks
}

// put adds an event to its slot.
func (q *slots) put(e *Event) {
	w := uint64(e.Time) >> digitBits
	r, k := &q.wheel, uint8(w)
	switch d := w - q.edge; {
	case int64(d) < 0:
		r, k = &q.instants, uint8(e.Time)
		q.crowded = true
	case d >= digits:
		age := uint(bits.Len64(w^q.edge)-1)/digitBits - 1
		r, k = &q.ages[age], uint8(w>>(age*digitBits+digitBits))
		q.old |= 1 << age
	}
	q.add(r, k, e)
}

// advance takes the next slot of the wheel that has events, and moves edge past it. It returns 0 if
// there is none.
func (q *slots) advance() uint32 {
	const never = ^uint64(0)
	for {
		w := never
		if k, ok := q.wheel.first(uint8(q.edge)); ok {
			w = q.edge + uint64(k-uint8(q.edge))
		}
		if q.old != 0 && w>>digitBits != q.edge>>digitBits {
			age := uint(bits.TrailingZeros8(q.old))
			k, _ := q.ages[age].first(0)
			shift := (age + 1) * digitBits
			if begin := q.edge>>(shift+digitBits)<<(shift+digitBits) | uint64(k)<<shift; begin <= w {
				q.edge = begin
				q.pull(age, k)
				continue
			}
		}
		if w == never {
			return 0
		}
		q.edge = w + 1
		s := q.wheel.take(uint8(w))
		// Events at the new edge no longer differ from it in this digit.
		for age := uint(0); age < ages && uint8(q.edge>>(age*digitBits)) == 0; age++ {
			if k := uint8(q.edge >> (age*digitBits + digitBits)); q.ages[age].slots[k] != 0 {
				q.pull(age, k)
			}
		}
		return s
	}
}

// pull moves the events of a slot of ages to shorter slots.
func (q *slots) pull(age uint, k uint8) {
	r := &q.ages[age]
	s := r.take(k)
	if _, ok := r.first(0); !ok {
		q.old &^= 1 << age
	}
	b, end := (s-1)/places, s
	for b != 0 {
		for i := b*places + 1; i < end; i++ {
			q.put(&q.events[i]) // which may move events
		}
		b = q.drop(b)
		end = (b + 1) * places
	}
}

// crowd moves the events of 256 ps to a slot for each picosecond.
func (q *slots) crowd(s uint32) {
	q.crowded = true
	b, end := (s-1)/places, s
	for b != 0 {
		// The block after the next one is prefetched meanwhile: it was written long ago.
		q.prefetchBlock(*q.link(*q.link(b)))
		for i := b*places + 1; i < end; i++ {
			e := &q.events[i]
			q.add(&q.instants, uint8(e.Time), e)
		}
		b = q.drop(b)
		end = (b + 1) * places
	}
}

// foresee prefetches the next block of instants.
func (q *slots) foresee() {
	k, ok := q.instants.first(0)
	q.crowded, q.coming = ok, 0
	if ok {
		q.coming = (q.instants.slots[k] - 1) / places
		q.prefetchBlock(q.coming)
	}
}
