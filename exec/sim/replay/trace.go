package replay

import (
	"kernbench/program"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"
)

// notes holds what a trace needs to know of a rank at a step.
type notes struct {
	ops          []program.Op // of the steps; nil if they are shared
	from, waited unit.Time    // when the step was issued, and when it knew its operand
}

func (x *Replay) noteIssue(f *rank) {
	if x.traced {
		x.notes[f.id].from = f.clock
	}
}

func (x *Replay) noteWaited(f *rank) {
	if x.traced {
		x.notes[f.id].waited = f.clock
	}
}

// This file makes the events of the trace. A replay that is not traced never calls it.

func (x *Replay) trace(f *rank, e trace.Event) {
	e.PE, e.Rank = f.pe, f.index
	x.events = append(x.events, e)
}

func (x *Replay) traceKernel(f *rank, end unit.Time) {
	x.trace(f, trace.Event{Kind: trace.Kernel, Peer: -1, Start: x.in.Start, End: end})
}

func (x *Replay) traceAccess(f *rank, s *step, done unit.Time) {
	k := trace.Load
	if s.kind == stepStore {
		k = trace.Store
	}
	x.trace(f, trace.Event{Kind: k, Peer: -1, Start: f.clock, End: done, Bytes: x.moved(f)})
}

func (x *Replay) traceCompute(f *rank, s *step, start, end unit.Time) {
	x.trace(f, trace.Event{Kind: x.in.Spec.Units[s.unit].Kind(), Peer: -1, Start: start, End: end, Bytes: x.moved(f)})
}

func (x *Replay) traceWait(f *rank, from unit.Time) {
	x.trace(f, trace.Event{Kind: trace.Wait, Peer: -1, Start: from, End: f.clock, Stalled: f.clock - from})
}

func (x *Replay) traceSend(f *rank, s *step, r *ring, seq uint32) {
	n := &x.notes[f.id]
	x.trace(f, trace.Event{
		Kind: trace.Send, Peer: x.ranks[r.to].pe, Dir: uint8(x.outOf(r)), Start: n.from, End: f.clock,
		Bytes: x.moved(f), Seq: int64(seq), Stalled: f.clock - n.waited - x.send, Ring: r.number(),
	})
}

func (x *Replay) traceMessage(r *ring, seq uint32, bytes int64, sent, at unit.Time) {
	x.trace(&x.ranks[r.from], trace.Event{
		Kind: trace.Message, Peer: x.ranks[r.to].pe, Dir: uint8(x.outOf(r)), Start: sent, End: at, Bytes: bytes,
		Seq: int64(seq), Ring: r.number(),
	})
}

func (x *Replay) traceRecv(f *rank, s *step, r *ring) {
	n, seq := &x.notes[f.id], r.Taken-uint32(max(1, f.part))
	in := &x.in.Launch.Groups[f.group].Wiring[f.index].In[s.port]
	x.trace(f, trace.Event{
		Kind: trace.Recv, Peer: x.ranks[r.from].pe, Dir: uint8(in.Dir), Start: n.from, End: f.clock,
		Bytes: x.moved(f), Seq: int64(seq), Stalled: n.waited - x.recv - n.from, Ring: r.number(),
	})
}

func (x *Replay) traceCredit(r *ring, left, at unit.Time) {
	x.trace(&x.ranks[r.to], trace.Event{
		Kind: trace.Credit, Peer: x.ranks[r.from].pe, Start: left, End: at,
		Bytes: x.in.Launch.Ring.CreditBytes, Seq: int64(r.Returned - 1), Ring: r.number(),
	})
}

// number returns the number of the ring in the trace.
func (r *ring) number() uint32 { return trace.RingNumber(int(r.from), r.out) }

// outOf returns the sender's direction of a ring.
func (x *Replay) outOf(r *ring) tl.Dir {
	f := &x.ranks[r.from]
	return x.in.Launch.Groups[f.group].Wiring[f.index].Out[r.out].Dir
}

// moved returns the bytes that the current operation of a rank moves or makes.
func (x *Replay) moved(f *rank) int64 {
	ops := x.notes[f.id].ops
	if ops == nil {
		ops = x.in.Program.Records[x.in.Program.Blocks[f.id].Record].Ops
	}
	return x.bytes(&ops[f.at])
}
