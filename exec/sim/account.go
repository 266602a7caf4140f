package sim

import (
	"kernbench/record/history"
	"kernbench/tl"
	"kernbench/unit"
)

// The account of memory is in the order in which kernels run here. It agrees with every order that
// the program enforces, but not with time, because kernels run ahead.

// accounted holds what a rank has for the account of memory.
type accounted struct {
	book  *history.Book // nil: no account is kept
	agent history.Agent
	after history.Agent // agent that has started it
	sends []sending     // by port; nil: there is none
}

// Record adds a record of what a rank does in the instruction that it is in.
func (r *rank) Record(k history.Kind) *history.Record { return r.recordAt(k, r.Clock) }

func (r *rank) recordAt(k history.Kind, at unit.Time) *history.Record {
	rec := r.recordFrom(k, at, "", "")
	if rec.Call == "" && r.instr != nil {
		rec.Call, rec.Line = r.instr.Call(), tl.DriverOf(r.ctx).Line()
	}
	return rec
}

// recordFrom adds a record of a place in the program. That of a stream's operation takes
// precedence.
func (r *rank) recordFrom(k history.Kind, at unit.Time, call, line string) *history.Record {
	rec := r.run.history.Begin(k, r.agent)
	rec.Time, rec.Call, rec.Line = at, call, line
	if r.stream != nil && r.stream.op != nil {
		rec.Call, rec.Line = r.stream.op.Kind.String(), r.stream.op.Line
	}
	return rec
}

// Slot returns what the account calls the slot that a ring has lent.
func (r *rank) Slot(in uint8) (ring, seq uint32) {
	q := r.rx[in]
	return q.Tag, q.Taken - 1
}

// accountBegin records the start of the ranks of a launch, and numbers their rings.
func (x *run) accountBegin() {
	if x.history == nil || x.batch != nil {
		return
	}
	rings := 0
	for i := range x.ranks {
		r := &x.ranks[i]
		r.agent = x.history.Begins(r.accountInfo(), history.Host, x.start)
		rings += len(r.tx)
	}
	number := x.history.NextRings(rings)
	for i := range x.ranks {
		r := &x.ranks[i]
		r.sends = make([]sending, len(r.tx))
		for p := range r.tx {
			r.tx[p].Tag = number
			number++
		}
	}
}

// accountInfo describes the rank, or its block.
func (r *rank) accountInfo() history.AgentInfo {
	w := history.AgentInfo{Rank: int(r.index), PE: int(r.pe), Stream: -1, Program: -1}
	if b := r.run.launch.Groups[r.group].Block(int(r.block)); b.Of > 1 {
		w.Block = 1 + b.Number
	}
	return w
}

// sending is, in the account, the payload that was sent last into a ring. The ring's Tag is its
// number there.
type sending struct {
	op   uint64
	line string
}

// accountSend records that the next part of the payload in a ring has its slot.
func (r *rank) accountSend(port int, at unit.Time) {
	q, s := r.tx[port], &r.sends[port]
	rec := r.recordFrom(history.Send, at, tl.OpSend.String(), s.line)
	rec.Op, rec.Ring, rec.Seq, rec.Slots = s.op, q.Tag, q.Sent, q.sizing.Slots()
}

// accountRecv records that the message at the head of a ring is taken.
func (r *rank) accountRecv(q *ring) {
	if r.book != nil {
		rec := r.Record(history.Recv)
		rec.Ring, rec.Seq = q.Tag, q.Taken
	}
}

// accountCredit records that the oldest slot of a ring is given back.
func (r *rank) accountCredit(q *ring, at unit.Time) {
	if r.book != nil {
		rec := r.recordFrom(history.Credit, at, "credit", "")
		rec.Ring, rec.Seq = q.Tag, q.Returned-1
	}
}
