package race

import (
	"unsafe"

	"kernbench/internal/prefetch"
	"kernbench/record/history"
)

// Invariant of this file: it changes no state. It prefetches the updates that the next waits of a
// batch are for. (Prefetching accesses of memory too costs more than it saves.)

const (
	// prefetchDistance is the number of records from a wait to the one before which its update is
	// prefetched.
	prefetchDistance = 8
	// prefetchEvents is the number of events from which on the caches do not hold all of them.
	prefetchEvents = 1 << 13
)

// prefetch fetches what is kept of the word of a wait.
func (d *Detector) prefetch(r *history.Record) {
	if r.Kind != history.Wait {
		return
	}
	s := d.words.lookup(r.Word)
	if s == nil {
		return
	}
	switch s.how() {
	case oneAddition:
		prefetch.Lines(unsafe.Pointer(d.event(eventID(s.number()))), 2)
	case settledOne:
		prefetch.Line(unsafe.Pointer(d.words.settledAt(s.number())))
	}
}
