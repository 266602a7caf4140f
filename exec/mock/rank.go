package mock

import (
	"fmt"
	"iter"

	"kernbench/fault"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// rank executes one kernel: that of a rank, a program of a grid, or a task of a communication
// engine. It implements tl.Core. It performs every instruction at once, and yields to the others
// while it must wait. Each embedded part is declared in the file whose methods change it.
type rank struct {
	schedState
	parking
	ringUse
	oneSidedState
	tasking
	accounted
	run     *run
	kernel  *tl.Context
	wiring  *tl.Wiring
	index   int // of the rank in its group
	group   int
	block   int // index among the blocks of its group; equals index if each rank has one block
	pe      int32
	stream  *stream // of a program of a grid
	program int     // index of the program in its grid
}

// parking is the coroutine of a kernel, and what it waits for while it is parked.
type parking struct {
	yield     func(struct{}) bool
	next      func() (struct{}, bool)
	stop      func()
	done      bool // the kernel has ended
	abandoned bool // stopped by the executor, without an error of its own
	err       error
	calls     int // instructions so far

	wait    waiting
	port    int       // port that it waits for: outgoing for a send, else incoming or tl.AnyPort
	at      *tl.Instr // the instruction it is in
	awaited *task
	place   fault.Place // where it was when the launch hung
}

// waiting is the event that a rank waits for.
type waiting uint8

const (
	forNothing waiting = iota
	forSlot
	forMessage
	forWord    // a word to satisfy a comparison
	forChange  // a change of any word, after polls without success
	forEffects // effects of its own operations
	forTask    // the end of a task
)

// Odds of random schedules: one in so many cases.
const (
	suspends       = 2  // an observable instruction suspends its rank
	holdsBack      = 16 // a suspended rank gets a low priority
	holdsBackSteps = 4  // a step of an effect gets a low priority
	holdsBackQueue = 8  // a stream gets a low priority
)

// checkEvery is the number of instructions after which a kernel that never waits checks whether its
// launch was cancelled.
const checkEvery = 1024

// start makes the kernel's context and coroutine.
func (r *rank) start(s tl.Setup, k tl.Kernel, a tl.Args) {
	x := r.run
	s.Core, s.PE, s.Wiring, s.CellCapacity = r, int(r.pe), r.wiring, 8
	s.Ring, s.Addrs, s.Watch = &x.launch.Ring, x.launch.Addrs, x.launch.Watch
	s.Edits = x.opts.Edits
	s.RecordLines, s.ChoiceLines = x.lines()
	r.kernel = tl.NewContext(s)
	r.book = x.history.Book(r.kernel, r)
	r.in = make([]*ring, len(r.wiring.In))
	r.next, r.stop = iter.Pull(r.body(k, a))
}

// body returns a rank's coroutine.
func (r *rank) body(k tl.Kernel, a tl.Args) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		r.yield = yield
		r.abandoned, r.err = tl.DriverOf(r.kernel).Run(k, a)
		if r.err != nil && r.task != nil {
			r.err = fmt.Errorf("%s: %w", r.task.name(), r.err)
		}
		r.at = nil
		if !r.abandoned {
			for _, q := range r.in {
				q.releaseSlot()
			}
		}
		r.done = true
	}
}

// advance resumes the kernel until it suspends itself or ends.
func (r *rank) advance() {
	tl.DriverOf(r.kernel).Enter()
	r.next()
	switch {
	case !r.done:
	case r.err != nil:
		r.run.failed = r.err
	case r.abandoned:
		r.run.failed = r.run.cancelled(r)
	default:
		r.settle()
	}
}

// settle ends a rank if its kernel has ended and all that it started is complete.
func (r *rank) settle() {
	if r.pending > 0 {
		r.run.sleep(r)
		return
	}
	r.run.leave(r)
	if r.run.history != nil {
		r.accountEnd()
	}
	switch {
	case r.stream != nil:
		r.stream.programEnded(r)
	case r.task != nil:
		r.task.end()
	}
}

// Do carries out one instruction.
func (r *rank) Do(in *tl.Instr) {
	x := r.run
	if in.Op == tl.OpDrop { // A drop may also come at the end of the launch, when no kernel runs.
		r.drop(in)
		return
	}
	if r.calls++; r.calls%checkEvery == 0 && x.ctx.Err() != nil {
		tl.DriverOf(r.kernel).Abandon()
	}
	r.at, r.lineKnown = in, false
	if x.local {
		r.endLocalUnless(in)
	}
	if x.launch.Ring.OnRecv {
		r.countHazards(in)
	}
	if x.random != nil && observable(in.Op) && x.oneIn(suspends) {
		r.lowPriority = x.oneIn(holdsBack)
		r.suspend()
	}
	r.book.Operands(in)
	switch in.Op {
	case tl.OpSend:
		r.send(in)
	case tl.OpRecv:
		r.recv(in)
	case tl.OpPut, tl.OpGet, tl.OpNotify, tl.OpFetchAdd, tl.OpCompareSwap:
		r.oneSided(in)
	case tl.OpWaitWord:
		r.waitWord(in)
	case tl.OpTestWord, tl.OpReadWord:
		r.lookAtWords(in)
	case tl.OpFence, tl.OpQuiet, tl.OpDrain:
		r.fenceOrQuiet(in)
	case tl.OpTask:
		r.polls = polls{}
		r.post(in)
	case tl.OpAwait:
		r.polls = polls{}
		r.awaitTask(in)
	case tl.OpBeginTurn, tl.OpEndTurn:
		r.mark(in)
	default:
		r.polls = polls{}
		switch in.Op {
		case tl.OpLoadReduce, tl.OpMulticast, tl.OpReduceMulticast:
			r.multimem(in)
		}
		if x.log != nil {
			r.logValues(in, x.log)
		}
		r.book.Accesses(in)
	}
}

// observable reports whether other ranks can observe when an instruction is performed.
func observable(op tl.Op) bool {
	switch op {
	case tl.OpMath, tl.OpGemm, tl.OpRecvAsync, tl.OpAwait, tl.OpFence, tl.OpDrain:
		return false
	}
	return true
}

// logValues records the effect of an instruction on values. It never waits: all earlier operations
// have ended.
func (r *rank) logValues(in *tl.Instr, log *oplog.Log) {
	switch in.Op {
	case tl.OpLoad:
		cell := tl.DriverOf(r.kernel).Cell(in.Dst)
		if in.Piece == 0 {
			cell.Value = log.NewValue()
		}
		rows := max(1, in.Rows)
		for k := range rows {
			n := in.N / rows
			log.Load(r.origin(), cell.Value, int(in.DstOff)+k*n, n, in.Shape.Elems(), in.Type, row(in, k))
		}
	case tl.OpStore:
		cell := tl.DriverOf(r.kernel).Cell(in.A)
		rows := max(1, in.Rows)
		for k := range rows {
			n := in.N / rows
			log.Store(r.origin(), row(in, k), cell.Value, cell.Off+in.AOff+int32(k*n), n, in.Type)
		}
	case tl.OpLoadReduce, tl.OpMulticast, tl.OpReduceMulticast:
		r.throughSwitches(in, log)
	case tl.OpMath, tl.OpGemm:
		v := log.Math(r.origin(), in, r.kernel)
		tl.DriverOf(r.kernel).Cell(in.Dst).Value = v
	case tl.OpComposite:
		o := r.origin()
		v := log.Composite(o, in, r.kernel)
		log.Store(o, in.Pipe.Out.Addr, v, 0, in.N, in.Type)
		log.Release(v)
	}
}

// mark records for the data pass that a collective begins or ends for this rank.
func (r *rank) mark(in *tl.Instr) {
	log := r.run.log
	if in.Op == tl.OpBeginTurn {
		if r.turnID = in.Turn.ID; log != nil {
			log.BeginTurn(r.origin(), in.Turn)
		}
		return
	}
	if log != nil {
		log.EndTurn(r.origin(), in.Turn)
	}
	r.turnID = 0
}

// row returns the address of row k of a load or store.
func row(in *tl.Instr, k int) mem.Addr { return in.Addr + mem.Addr(int64(k)*in.Pitch) }

// drop releases the value of a tensor.
func (r *rank) drop(in *tl.Instr) {
	cell := tl.DriverOf(r.kernel).Cell(in.A)
	if r.run.log != nil {
		r.run.log.Release(cell.Value)
	}
	cell.Value = 0
}

func (r *rank) origin() oplog.Origin {
	return oplog.Origin{Rank: int32(r.index), PE: r.pe, Line: tl.DriverOf(r.kernel).Line(), Turn: r.turnID}
}

// countHazards counts operands in slots that a later message has overwritten. That happens with
// credit on_recv, which returns the slot inside the receive.
func (r *rank) countHazards(in *tl.Instr) {
	for _, i := range [...]int32{in.A, in.B, in.C} {
		if i == tl.None {
			continue
		}
		if c := tl.DriverOf(r.kernel).Cell(i); c.InSlot && r.in[c.In].Overwritten(r.in[c.In].Taken-1, &r.in[c.In].sizing) {
			r.run.result.Hazards++
		}
	}
}

// park suspends the kernel until an event of the given type wakes the rank.
func (r *rank) park(what waiting) {
	r.run.sleep(r)
	r.wait = what
	r.suspend()
	r.wait = forNothing
}

// suspend ends this turn of the schedule. If the launch was stopped, it abandons the kernel.
func (r *rank) suspend() {
	if !r.yield(struct{}{}) {
		if r.run.hung {
			r.place = tl.DriverOf(r.kernel).Place("") // describe adds the operation
		}
		tl.DriverOf(r.kernel).Abandon()
	}
}

// clear releases the logged values that a rank still holds, however it ended.
func (r *rank) clear() {
	if r.run.log == nil {
		return
	}
	r.run.log.Release(r.carrying)
	r.carrying = 0
	tl.DriverOf(r.kernel).DropAll()
}
