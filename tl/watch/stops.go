package watch

import (
	"cmp"
	"slices"

	"kernbench/fault"
)

// Stop is the position of a kernel when its launch was stopped.
type Stop struct {
	fault.Place
	Calls uint32 // instructions it had issued
	Every uint32 // instructions from one visit of Line to the next; 0: not known
}

// noteLap notes where a kernel is, and how many instructions it takes to come back there.
func (w *Watch) noteLap(k *Kernel, at fault.Place) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.stops[k]
	switch {
	case s == nil || s.Rank != at.Rank || s.PE != at.PE || s.Calls > k.Calls:
		w.stops[k] = &Stop{Place: at, Calls: k.Calls}
	case s.Every == 0 && s.Line == at.Line:
		s.Every = k.Calls - s.Calls
	}
}

// note records where a kernel is that ends now.
func (w *Watch) note(k *Kernel, at fault.Place) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &Stop{Place: at, Calls: k.Calls}
	if before := w.stops[k]; before != nil && before.Rank == s.Rank {
		s.Every = before.Every
	}
	w.stops[k] = s
}

// Ends notes that a kernel is given up, if positions are wanted.
func (w *Watch) Ends(k *Kernel, place func() fault.Place) {
	if w.locating.Load() {
		w.note(k, place())
	}
}

// Stops lists the kernels that had not ended when the launch was stopped, by rank.
func (w *Watch) Stops() []Stop {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []Stop
	for _, s := range w.stops {
		all = append(all, *s)
	}
	slices.SortFunc(all, byRank)
	return all
}

func byRank(a, b Stop) int {
	return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.PE, b.PE), cmp.Compare(a.Line, b.Line))
}

// Exit notes that a kernel ended its goroutine, at a place.
func (w *Watch) Exit(at fault.Place) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.exited == nil {
		w.exited = &fault.Exited{Place: at}
	}
}

// Exited returns the fault of the first kernel that ended its goroutine, or nil.
func (w *Watch) Exited() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.exited
}
