package watch

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"kernbench/fault"
	"kernbench/tl/frames"
	"kernbench/unit"
)

// Watch watches the kernels of one launch.
//
// An instruction costs one comparison: a kernel calls Look only if it has issued more than NextLook
// instructions. Ask sets NextLook to 0. So the next instruction of any kernel calls Look, and Look
// counts an answer.
type Watch struct {
	nextLook atomic.Uint32
	answers  atomic.Uint32
	kernel   atomic.Pointer[Kernel] // kernel that runs, or ran last

	limits    Limits
	locating  atomic.Bool // kernels record their positions: see Locate
	abandoned atomic.Bool

	mu     sync.Mutex
	known  map[*Kernel]struct{} // kernels that have run
	exited error                // fault of the first kernel that ended its goroutine
	stops  map[*Kernel]*Stop
}

// Kernel holds what a Watch sees of a kernel. The kernel's own goroutine changes it.
type Kernel struct {
	Calls uint32 // instructions so far
	Rank  int
	PE    func() string            // may be nil
	Now   func() (unit.Time, bool) // simulated time; false without a clock; may be nil

	entered *Watch // watch that has it in known; the executor's goroutine changes it

	context, entry uintptr // of the latest call of SetCode; read and written by atomic operations
}

// SetCode stores the address of the kernel's tl.Context, as stacks show it, and the start of the
// kernel's code.
func (k *Kernel) SetCode(context, entry uintptr) {
	atomic.StoreUintptr(&k.context, context)
	atomic.StoreUintptr(&k.entry, entry)
}

// Limits end a launch that does not end by itself. A field of 0 is no limit.
type Limits struct {
	Calls uint32    // instructions of one kernel
	Until unit.Time // latest simulated time at which an instruction may begin
}

// New makes the Watch of one launch.
func New(l Limits) *Watch {
	if l.Calls == 0 {
		l.Calls = math.MaxUint32
	}
	w := &Watch{limits: l, known: map[*Kernel]struct{}{}, stops: map[*Kernel]*Stop{}}
	w.resetNextLook()
	return w
}

// resetNextLook sets nextLook as it was before Ask.
func (w *Watch) resetNextLook() {
	if w.limits.Until > 0 {
		w.nextLook.Store(0) // each instruction looks at the time
		return
	}
	w.nextLook.Store(w.nearLimit())
}

// NextLook returns the number of instructions above which a kernel calls Look.
func (w *Watch) NextLook() uint32 { return w.nextLook.Load() }

// Timed reports whether simulated time is limited.
func (w *Watch) Timed() bool { return w != nil && w.limits.Until > 0 }

// Enter notes which kernel runs.
func (w *Watch) Enter(k *Kernel) {
	if w == nil {
		return
	}
	if k.entered != w {
		k.entered = w
		w.mu.Lock()
		w.known[k] = struct{}{}
		w.mu.Unlock()
	}
	w.kernel.Store(k)
}

// Answers returns the number of answers so far.
func (w *Watch) Answers() uint32 { return w.answers.Load() }

// Ask makes the next instruction of any kernel answer. It returns the number of answers so far.
func (w *Watch) Ask() uint32 {
	n := w.answers.Load()
	w.nextLook.Store(0)
	return n
}

// Locate makes kernels record their place, and how many instructions they issue from one visit of a
// line to the next, until the launch ends. See Stops.
func (w *Watch) Locate() {
	w.locating.Store(true)
	w.nextLook.Store(0)
}

// Abandon ends the goroutine of each kernel that issues another instruction.
func (w *Watch) Abandon() {
	w.abandoned.Store(true)
	w.nextLook.Store(0)
}

// Look counts an answer to Ask, and returns the fault of a kernel that has passed a limit. place
// returns where the kernel is; it walks the stack.
func (w *Watch) Look(k *Kernel, place func() fault.Place) error {
	w.answers.Add(1)
	if w.abandoned.Load() {
		runtime.Goexit()
	}
	if k.Calls > w.limits.Calls {
		return w.exceeded(k, fault.Limit{Place: place(), Calls: int64(w.limits.Calls)})
	}
	near := k.Calls > w.nearLimit()
	if until := w.limits.Until; until > 0 && k.Now != nil {
		now, timed := k.Now()
		if timed && now > until {
			return w.exceeded(k, fault.Limit{Place: place(), Until: until})
		}
		near = near || timed && now > until-until/16
	}
	if locating := w.locating.Load(); near || locating {
		if w.noteLap(k, place()); locating {
			return nil
		}
	}
	w.resetNextLook()
	return nil
}

// nearLimit returns the number of instructions above which a kernel records its position, because
// it may soon pass its limit.
func (w *Watch) nearLimit() uint32 { return w.limits.Calls - min(w.limits.Calls/2, 256) }

// exceeded notes that a kernel has passed a limit, and makes the others note where they are.
func (w *Watch) exceeded(k *Kernel, f fault.Limit) error {
	w.locating.Store(true)
	w.note(k, f.Place)
	return &f
}

// Running returns the place and the stack of the kernel that runs its author's code. It is nil if
// no kernel runs, or if the kernel waits for an instruction to be carried out. It is for reports
// only.
func (w *Watch) Running() *fault.Stalled {
	k := w.kernel.Load()
	if k == nil {
		return nil
	}
	stack := frames.Running(atomic.LoadUintptr(&k.context), atomic.LoadUintptr(&k.entry))
	if stack == nil {
		return nil
	}
	s := &fault.Stalled{Place: fault.Place{Rank: k.Rank, Line: frames.LineOf(stack[0])}, Stack: stack}
	if k.PE != nil {
		s.PE = k.PE()
	}
	return s
}

// Suspended returns the positions of kernels that have begun and wait for their turn, while another
// kernel runs its author's code. It is for reports only.
func (w *Watch) Suspended() []Stop {
	if w.kernel.Load() == nil { // this atomic load also makes visible what kernels wrote before
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	kernels := map[uintptr]*Kernel{}
	for k := range w.known {
		kernels[atomic.LoadUintptr(&k.context)] = k
	}
	var all []Stop
	for context, line := range frames.Suspended(func(a uintptr) bool { return kernels[a] != nil }) {
		k := kernels[context]
		s := Stop{Place: fault.Place{Rank: k.Rank, Line: line}, Calls: k.Calls}
		if k.PE != nil {
			s.PE = k.PE()
		}
		all = append(all, s)
	}
	slices.SortFunc(all, byRank)
	return all
}
