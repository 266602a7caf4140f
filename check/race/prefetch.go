package race

import (
	"unsafe"

	"kernbench/internal/prefetch"
	"kernbench/record/history"
)

// Invariant of this file: it changes no state. It prefetches what the next waits of a batch need:
// first the state of the word, then its update, then the link of the update. Each step reads what
// the one before it has fetched. (Prefetching accesses of memory too costs more than it saves.)

const (
	// prefetchDistance is the number of records between the steps, and from the last one to the
	// wait.
	prefetchDistance = 8
	// prefetchEvents is the number of events from which on the caches do not hold all of them.
	prefetchEvents = 1 << 13
)

// prefetch fetches for the waits that follow record i.
func (d *Detector) prefetch(rs []history.Record, i int) {
	if i += prefetchDistance; i < len(rs) && rs[i].Kind == history.Wait {
		d.prefetchLink(rs[i].Word)
	}
	if i += prefetchDistance; i < len(rs) && rs[i].Kind == history.Wait {
		d.prefetchUpdate(rs[i].Word)
	}
	if i += prefetchDistance; i < len(rs) && rs[i].Kind == history.Wait {
		if s := d.words.lookup(rs[i].Word); s != nil {
			prefetch.Line(unsafe.Pointer(s))
		}
	}
}

// prefetchUpdate fetches what is kept of a word.
func (d *Detector) prefetchUpdate(w history.Word) {
	s := d.words.lookup(w)
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

// prefetchLink fetches the link of the only update of a word.
func (d *Detector) prefetchLink(w history.Word) {
	if s := d.words.lookup(w); s != nil && s.how() == oneAddition {
		if l := d.linkOf(d.event(eventID(s.number())), pe(w)); l != 0 {
			prefetch.Line(unsafe.Pointer(d.linkAt(l)))
		}
	}
}
