package mock

import (
	"kernbench/fault"
	"kernbench/oplog"
	"kernbench/tl"
)

// rank is the Core of one rank: it performs every instruction at once, and gives way to
// the other ranks where it must wait.
type rank struct {
	run    *run
	kernel *tl.Context
	index  int // in its group
	group  int
	pe     int32

	in, out []*ring
	held    []bool // by port of in: its oldest slot is lent to the kernel
	served  int    // port that the last undirected receive took from

	yield     func(struct{}) bool
	next      func() (struct{}, bool)
	stop      func()
	ready     bool // something has happened that it may have waited for
	done      bool
	abandoned bool
	err       error
	calls     int
	carrying  tl.Value // of a send or receive under way, which holds a reference

	// While it has given way: what it waits for.
	waiting, sending bool
	port             int         // of out when sending, else of in, or tl.AnyPort
	place            fault.Place // where it was when the launch hung
}

// checkEvery is the number of instructions after which a kernel that never waits looks
// whether its launch was cancelled.
const checkEvery = 1024

// Do carries out one instruction.
func (r *rank) Do(in *tl.Instr) {
	if r.calls++; r.calls%checkEvery == 0 && r.run.ctx.Err() != nil {
		r.kernel.Abandon()
	}
	if r.run.launch.Ring.OnRecv && in.Op != tl.OpDrop {
		r.countHazards(in)
	}
	switch in.Op {
	case tl.OpSend:
		r.send(in)
	case tl.OpRecv:
		r.recv(in)
	default:
		if r.run.log != nil {
			r.perform(in, r.run.log)
		}
	}
}

// perform records what an instruction does to values. There is nothing to wait for:
// whatever was started before has ended.
func (r *rank) perform(in *tl.Instr, log *oplog.Log) {
	switch in.Op {
	case tl.OpLoad:
		cell := r.kernel.Cell(in.Dst)
		if in.Piece == 0 {
			cell.Value = log.NewValue()
		}
		log.Load(r.origin(), cell.Value, int(in.DstOff), in.N, in.Shape.Elems(), in.Type, in.Addr)
	case tl.OpStore:
		cell := r.kernel.Cell(in.A)
		log.Store(r.origin(), in.Addr, cell.Value, cell.Off+in.AOff, in.N, in.Type)
	case tl.OpMath, tl.OpGemm:
		v := log.Math(r.origin(), in, r.kernel)
		r.kernel.Cell(in.Dst).Value = v
	case tl.OpComposite:
		o := r.origin()
		v := log.Pipe(o, in.Pipe, r.kernel)
		log.Store(o, in.Pipe.Out.Addr, v, 0, in.N, in.Type)
		log.Release(v)
	case tl.OpDrop:
		cell := r.kernel.Cell(in.A)
		log.Release(cell.Value)
		cell.Value = 0
	}
}

func (r *rank) origin() oplog.Origin {
	return oplog.Origin{Rank: int32(r.index), PE: r.pe, Line: r.kernel.Line()}
}

// countHazards counts, under the older credit rule, operands that lie in slots which a
// later message has overwritten by now.
func (r *rank) countHazards(in *tl.Instr) {
	for _, i := range [...]int32{in.A, in.B, in.C} {
		if i == tl.None {
			continue
		}
		if c := r.kernel.Cell(i); c.InSlot && r.in[c.In].overwritten() {
			r.run.result.Hazards++
		}
	}
}

// wait gives way until something has happened to a ring of this rank.
func (r *rank) wait(sending bool, port int) {
	r.waiting, r.sending, r.port = true, sending, port
	r.ready = false
	if !r.yield(struct{}{}) {
		if r.run.hung {
			r.place = r.kernel.Place(r.operation())
		}
		r.kernel.Abandon()
	}
	r.waiting = false
}

// operation names what the rank waits in.
func (r *rank) operation() string {
	w := &r.run.launch.Groups[r.group].Wiring[r.index]
	switch {
	case r.sending:
		return "send(" + w.Out[r.port].Dir.String() + ")"
	case r.port == tl.AnyPort:
		return "recv(any)"
	}
	return "recv(" + w.In[r.port].Dir.String() + ")"
}

// finish gives back what the kernel still holds at its end.
func (r *rank) finish() {
	for port := range r.in {
		r.release(port)
	}
}

// clear drops the references that a rank still has, however it ended.
func (r *rank) clear() {
	if r.run.log == nil {
		return
	}
	r.run.log.Release(r.carrying)
	r.kernel.DropAll()
}
