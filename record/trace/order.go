package trace

import (
	"cmp"
	"slices"

	"kernbench/unit"
)

// Sort puts events in the order in which a Sink gets them. Ties go by all other fields of an event.
func Sort(events []Event) {
	slices.SortFunc(events, func(a, b Event) int { return compare(&a, &b) })
}

// compare decides most pairs by their first fields. The arguments of cmp.Or are all evaluated.
func compare(a, b *Event) int {
	if a.Start != b.Start {
		return cmp.Compare(a.Start, b.Start)
	}
	if a.PE != b.PE {
		return cmp.Compare(a.PE, b.PE)
	}
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Seq, b.Seq),
		cmp.Compare(a.Dir, b.Dir), cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.End, b.End), cmp.Compare(a.Bytes, b.Bytes),
		cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Stalled, b.Stalled), cmp.Compare(a.Core, b.Core),
		cmp.Compare(a.Ring, b.Ring), cmp.Compare(a.Flow, b.Flow))
}

// Sorter gets the events of a run out of order, and passes them on in the order of a Sink. It keeps
// each event until no event can come that began earlier.
type Sorter struct {
	Shown Sink   // gets the events that are shown; nil: none
	Usage *Usage // gets all events; nil: none
	Kept  int    // number of events that are kept before the first are handed on; 0: 1<<18

	events []kept
	full   int // number of events at which those that are complete are handed on
}

// kept is an event, which may be for Sorter.Usage only.
type kept struct {
	Event
	hidden bool
}

const keptAtFirst = 1 << 18

// Add keeps an event. Hidden ones are not for Shown. It returns true if it is time for Flush.
func (s *Sorter) Add(e Event, hidden bool) (full bool) {
	if hidden && s.Usage == nil {
		return false
	}
	s.events = append(s.events, kept{e, hidden})
	if s.full == 0 {
		s.full = cmp.Or(s.Kept, keptAtFirst)
	}
	return len(s.events) >= s.full
}

// Flush emits all events that began before a time. Only events that begin later can still
// come.
func (s *Sorter) Flush(bound unit.Time) {
	s.sort()
	n, _ := slices.BinarySearchFunc(s.events, bound, func(e kept, t unit.Time) int { return cmp.Compare(e.Start, t) })
	s.emit(s.events[:n])
	s.events = s.events[:copy(s.events, s.events[n:])]
	s.full = max(s.full, 2*len(s.events))
}

// End passes on the remaining events, except for events to be left out.
func (s *Sorter) End(leaveOut func(e *Event) bool) {
	s.events = slices.DeleteFunc(s.events, func(e kept) bool { return leaveOut(&e.Event) })
	s.sort()
	s.emit(s.events)
	s.events = nil
}

func (s *Sorter) sort() {
	slices.SortFunc(s.events, func(a, b kept) int { return compare(&a.Event, &b.Event) })
}

func (s *Sorter) emit(events []kept) {
	for i := range events {
		e := &events[i]
		if !e.hidden && s.Shown != nil {
			s.Shown.Emit(&e.Event)
		}
		if s.Usage != nil {
			s.Usage.Emit(&e.Event)
		}
	}
}
