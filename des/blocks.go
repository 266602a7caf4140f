package des

import (
	"math/bits"
	"unsafe"

	"kernbench/internal/prefetch"
)

// A block is a run of consecutive events that fill six cache lines. Its first event is a link:
// Target is the block of the same slot that was filled before it, or the next unused block.
const (
	places     = 16
	perBlock   = places - 1
	line       = 64
	blockBytes = places * unsafe.Sizeof(Event{})
	fewest     = 8 // blocks
)

// blocks is the memory of slots.
type blocks struct {
	events []Event // in blocks; number 0 means none
	free   uint32  // list of unused blocks
}

// row is a number of slots: lists of events without order.
type row struct {
	slots  [digits]uint32 // where the next event goes; where a block begins, it takes a new one
	filled [digits / 64]uint64
}

// link returns the link of a block.
func (q *blocks) link(block uint32) *uint32 { return &q.events[block*places].Target }

// add puts an event into a slot.
func (q *blocks) add(r *row, k uint8, e *Event) {
	i := r.slots[k]
	if i%places == 0 {
		i = q.extend(r, k)
	}
	r.slots[k] = i + 1
	q.events[i] = *e
}

// extend gives a slot another block, and returns where its events begin.
func (q *blocks) extend(r *row, k uint8) uint32 {
	b := q.free
	if b == 0 {
		b = q.grow()
	}
	link := q.link(b)
	q.free = *link
	if s := r.slots[k]; s != 0 {
		*link = s/places - 1
	} else {
		*link = 0
		r.filled[k/64] |= 1 << (k % 64)
	}
	return b*places + 1
}

// grow makes blocks, half as many as there are, and returns the first.
func (q *blocks) grow() uint32 {
	had := uint32(len(q.events) / places)
	n := max(had+had/2, fewest)
	events := make([]Event, n*places)
	copy(events, q.events)
	q.events = events
	had = max(had, 1)
	for b := had; b < n-1; b++ {
		*q.link(b) = b + 1
	}
	return had
}

// first returns the first slot that has events, from one on, and around.
func (r *row) first(from uint8) (uint8, bool) {
	w := from / 64
	if f := r.filled[w] >> (from % 64); f != 0 {
		return from + uint8(bits.TrailingZeros64(f)), true
	}
	for range r.filled {
		w = (w + 1) % uint8(len(r.filled))
		if f := r.filled[w]; f != 0 {
			return w*64 + uint8(bits.TrailingZeros64(f)), true
		}
	}
	return 0, false
}

// take empties a slot.
func (r *row) take(k uint8) uint32 {
	s := r.slots[k]
	r.slots[k] = 0
	r.filled[k/64] &^= 1 << (k % 64)
	return s
}

// drop frees a block and returns the next one of its slot.
func (q *blocks) drop(block uint32) uint32 {
	link := q.link(block)
	next := *link
	*link, q.free = q.free, block
	return next
}

// prefetchBlock prefetches a block.
func (q *blocks) prefetchBlock(block uint32) {
	prefetch.Lines(unsafe.Pointer(&q.events[block*places]), int(blockBytes/line))
}

// count returns the number of events of a slot. It stops counting at a number above most.
func (q *blocks) count(s uint32, most int) int {
	n := int((s-1)%places) - perBlock
	for b := (s - 1) / places; b != 0 && n <= most; b = *q.link(b) {
		n += perBlock
	}
	return n
}

// gather moves the n events of a slot, in the order of their addition, to one slice: to, if it is
// long enough.
func (q *blocks) gather(to []Event, s uint32, n int) []Event {
	if cap(to) < n {
		to = make([]Event, 2*n)
	}
	to = to[:n]
	b, end := (s-1)/places, s
	for b != 0 {
		events := q.events[b*places+1 : end]
		n -= len(events)
		copy(to[n:], events)
		b = q.drop(b)
		end = (b + 1) * places
	}
	return to
}
