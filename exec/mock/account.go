package mock

import (
	"kernbench/record/history"
	"kernbench/tl"
)

// accounted holds what a rank has for the account of memory.
type accounted struct {
	agent     history.Agent
	book      *history.Book // nil: no account is kept
	lineKnown bool          // line is that of the current instruction
	line      string
}

// lines returns which source lines a kernel keeps: all, or those of choices.
func (x *run) lines() (all, choices bool) {
	switch {
	case x.opts.RecordLines || x.opts.Edits != nil:
		return true, false
	case x.history == nil:
		return false, false
	}
	choices = x.history.OmitLines()
	return !choices, choices
}

// Record adds a record of a rank's current instruction.
func (r *rank) Record(k history.Kind) *history.Record {
	rec := r.run.history.Begin(k, r.agent)
	if r.at != nil {
		if !r.lineKnown {
			r.lineKnown, r.line = true, tl.DriverOf(r.kernel).Line()
		}
		rec.Call, rec.Line = r.at.Call(), r.line
	}
	return rec
}

// Slot returns the number in the account of the slot that a ring has lent.
func (r *rank) Slot(in uint8) (ring, seq uint32) {
	q := r.in[in]
	return q.Tag, q.Taken - 1
}

// accountStart records the start of all ranks of a launch, and numbers their rings.
func (x *run) accountStart() {
	x.beginLocal()
	for _, r := range x.ranks {
		w := history.AgentInfo{Rank: r.index, PE: int(r.pe), Stream: -1, Program: -1}
		if b := x.launch.Groups[r.group].Block(r.block); b.Of > 1 {
			w.Block = 1 + b.Number
		}
		r.agent = x.history.Begins(w, history.Host, 0)
	}
	first := x.history.NextRings(len(x.rings))
	for i, q := range x.rings {
		q.Tag = first + uint32(i)
	}
}

// accountEnd records that a rank, program or task has ended, with all that it started.
func (r *rank) accountEnd() {
	begetter := history.Host
	switch {
	case r.stream != nil:
		begetter = r.stream.agent
	case r.task != nil:
		begetter = r.task.queue.agent
	}
	r.run.history.Joins(begetter, r.agent, 0)
}

// accountSend records that the next part of a payload has its slot.
func (r *ring) accountSend(p *payload) {
	r.from.run.history.Add(history.Record{
		Kind: history.Send, Agent: r.from.agent, Op: p.op, Ring: r.Tag, Seq: r.Sent, Slots: r.sizing.Slots(),
		Call: tl.OpSend.String(), Line: p.line,
	})
}

// accountRecv records that the message at the head is taken.
func (r *ring) accountRecv() {
	rec := r.to.Record(history.Recv)
	rec.Ring, rec.Seq = r.Tag, r.Taken
}

// accountCredit records that the oldest slot is given back.
func (r *ring) accountCredit() {
	rec := r.to.Record(history.Credit)
	rec.Ring, rec.Seq = r.Tag, r.Returned-1
}
