package tl

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"kernbench/fault"
	"kernbench/unit"
)

// Watch sees whether the kernels of a launch issue instructions, and stops kernels that pass a
// limit. An executor gives it to the Context of each rank, and calls Enter before a kernel runs on.
// A nil Watch watches nothing.
//
// An instruction pays one comparison: a kernel calls look if it has issued more than most. Ask
// sets most to 0, so that the next instruction of any kernel answers.
type Watch struct {
	most    atomic.Uint32
	answers atomic.Uint32
	kernel  atomic.Pointer[Context] // that runs, or ran last

	limits    Limits
	stopping  atomic.Bool // positions of kernels are wanted
	abandoned atomic.Bool

	mu     sync.Mutex
	exited error // of a kernel that ended its goroutine
	stops  map[*Context]*Stop
}

// Limits end a launch that does not end by itself. A field of 0 is no limit.
type Limits struct {
	Calls uint32    // instructions of one kernel
	Until unit.Time // simulated time that an instruction may begin at
}

// Stop is where a kernel was when its launch was stopped.
type Stop struct {
	fault.Place
	Calls uint32 // instructions it had issued
	Every uint32 // instructions from one visit of Line to the next; 0: not known
}

// unwatched is the Watch of contexts that have none. Its kernels never look.
var unwatched = NewWatch(Limits{})

// NewWatch makes the Watch of one launch.
func NewWatch(l Limits) *Watch {
	if l.Calls == 0 {
		l.Calls = math.MaxUint32
	}
	w := &Watch{limits: l, stops: map[*Context]*Stop{}}
	w.rest()
	return w
}

// rest ends a question.
func (w *Watch) rest() {
	if w.limits.Until > 0 {
		w.most.Store(0) // each instruction looks at the time
		return
	}
	w.most.Store(w.soon())
}

// Timed reports whether simulated time is limited.
func (w *Watch) Timed() bool { return w != nil && w.limits.Until > 0 }

// Enter notes which kernel runs.
func (w *Watch) Enter(c *Context) {
	if w != nil {
		w.kernel.Store(c)
	}
}

// Answers is the number of answers so far.
func (w *Watch) Answers() uint32 { return w.answers.Load() }

// Ask makes the next instruction of any kernel answer. It returns the number of answers so far.
func (w *Watch) Ask() uint32 {
	n := w.answers.Load()
	w.most.Store(0)
	return n
}

// Locate makes kernels note where they are, and how many instructions they issue from one visit of
// a line to the next, until the launch ends. See Stops.
func (w *Watch) Locate() {
	w.stopping.Store(true)
	w.most.Store(0)
}

// Abandon ends the goroutine of each kernel that issues another instruction.
func (w *Watch) Abandon() {
	w.abandoned.Store(true)
	w.most.Store(0)
}

// look answers a question, and stops a kernel that has passed a limit.
func (w *Watch) look(c *Context) {
	w.answers.Add(1)
	if w.abandoned.Load() {
		runtime.Goexit()
	}
	if c.calls > w.limits.Calls {
		w.exceeded(c, &fault.Limit{Calls: int64(w.limits.Calls)})
	}
	near := c.calls > w.soon()
	if until := w.limits.Until; until > 0 && c.now != nil {
		now, timed := c.now()
		if timed && now > until {
			w.exceeded(c, &fault.Limit{Until: until})
		}
		near = near || timed && now > until-until/16
	}
	if stopping := w.stopping.Load(); near || stopping {
		if w.lap(c); stopping {
			return
		}
	}
	w.rest()
}

// soon is the number of instructions from which a kernel is so near its limit that it notes where
// it is.
func (w *Watch) soon() uint32 { return w.limits.Calls - min(w.limits.Calls/2, 256) }

// exceeded stops a kernel that has passed a limit, and makes the others note where they are.
func (w *Watch) exceeded(c *Context, f *fault.Limit) {
	f.Place = c.Place(c.in.Call())
	w.note(c)
	w.stopping.Store(true)
	c.Fail(f)
}

// lap notes where a kernel is, and how many instructions it takes to come back there.
func (w *Watch) lap(c *Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at, s := c.Place(c.in.Call()), w.stops[c]
	switch {
	case s == nil || s.Rank != at.Rank || s.PE != at.PE || s.Calls > c.calls:
		w.stops[c] = &Stop{Place: at, Calls: c.calls}
	case s.Every == 0 && s.Line == at.Line:
		s.Every = c.calls - s.Calls
	}
}

// note records where a kernel is that ends now.
func (w *Watch) note(c *Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &Stop{Place: c.Place(c.in.Call()), Calls: c.calls}
	if before := w.stops[c]; before != nil && before.Rank == s.Rank {
		s.Every = before.Every
	}
	w.stops[c] = s
}

// Stops lists the kernels that had not ended when the launch was stopped, by rank.
func (w *Watch) Stops() []Stop {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []Stop
	for _, s := range w.stops {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b Stop) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.PE, b.PE), cmp.Compare(a.Line, b.Line))
	})
	return all
}

// leaves notes that a kernel ended its goroutine, from a deferred function of it.
func (w *Watch) leaves(c *Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.exited == nil {
		w.exited = &fault.Exited{Place: c.panicPlace()}
	}
}

// Exited is the fault of the first kernel that ended its goroutine, or nil.
func (w *Watch) Exited() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.exited
}
