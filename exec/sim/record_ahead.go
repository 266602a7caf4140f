package sim

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// A launch's kernels can be recorded on another processor than the one that follows them: each gets
// its next part while the one before is followed. What is recorded depends on nobody, so that
// nothing of the result does on who is faster. One goroutine records, so that kernels never run side
// by side, and from the first part on it alone does.

// recordAheadFrom is the number of ranks from which a second goroutine is worth its start.
const recordAheadFrom = 64

// tape is a part of a kernel's instructions that has been recorded and not yet followed.
type tape struct {
	recording
	cells int    // that they name
	forms []form // that there are by then
	here  bool
}

// ahead is the goroutine that records.
type ahead struct {
	wanted chan int32 // ranks whose next part is to be recorded
	done   chan int32 // whose is; -1: nobody's, a kernel has ended this goroutine, or a defect
	defect string
	tapes  []tape // by rank
	stop   atomic.Bool
	ended  chan struct{}
}

// recordAhead starts it, if that is of use, and has it record the first part of all kernels.
func (w *follow) recordAhead() {
	o := &w.e.opts
	if !o.SecondCore || len(w.ranks) < recordAheadFrom || runtime.GOMAXPROCS(0) < 2 || w.log != nil && o.RecordLines {
		return // the log, which numbers lines, is of one goroutine
	}
	n := len(w.ranks)
	a := &ahead{wanted: make(chan int32, n), done: make(chan int32, n+1), tapes: make([]tape, n), ended: make(chan struct{})}
	for i := range w.ranks {
		if len(w.ranks[i].ops) == 0 {
			a.wanted <- int32(i)
		}
	}
	w.ahead = a
	go func() {
		defer close(a.ended)
		exits := true
		defer func() {
			if v := recover(); v != nil {
				a.defect = fmt.Sprintf("%v\n%s", v, debug.Stack())
			}
			if exits {
				a.done <- -1
			}
		}()
		for i := range a.wanted {
			if a.stop.Load() {
				continue
			}
			r := w.recordPart(i)
			t := &a.tapes[i]
			t.keep(&w.part)
			t.cells, t.forms = len(r.known), w.made
			a.done <- i
		}
		exits = false
	}()
}

// next takes the next part of a kernel, once it is recorded, and has the one after it recorded.
func (a *ahead) next(w *follow, f *follower) {
	t := &a.tapes[f.id]
	for !t.here {
		i := <-a.done
		switch {
		case i < 0 && a.defect != "":
			panic(a.defect)
		case i < 0:
			runtime.Goexit() // as the kernel did
		}
		a.tapes[i].here = true
	}
	f.recording, t.recording, t.here = t.recording, f.recording, false
	w.widen(f, t.cells)
	if len(t.forms) > len(w.forms) {
		w.forms = t.forms
	}
	if last := f.ops[len(f.ops)-1].kind; last != opEnd && last != opFault {
		a.wanted <- f.id
	}
}

// quit ends the recording of what is still wanted.
func (w *follow) quit() {
	if a := w.ahead; a != nil {
		a.stop.Store(true)
		close(a.wanted)
		<-a.ended
		w.ahead = nil
	}
}
