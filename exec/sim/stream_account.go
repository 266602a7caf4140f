package sim

import (
	"kernbench/record/history"
	"kernbench/tl/launch"
)

// accountStart records the start of a stream, or of one of its programs.
func (r *rank) accountStart() {
	streams := r.run.batch.Streams
	who := history.AgentInfo{Rank: int(r.index), PE: int(r.pe), Program: -1}
	if r.parent == nil {
		who.Stream = streams[r.id].ID
	} else {
		who.Rank = int(r.parent.index)
		who.Stream, who.Program = streams[r.parent.id].ID, r.program
		r.after = r.parent.agent
	}
	r.agent = r.run.history.Begins(who, r.after, r.Clock)
}

// numberIn returns the event's number in the account.
func (v *event) numberIn(h *history.Log) uint32 {
	if v.number == 0 {
		v.number = h.NextRings(1) + 1 // 0: has none
	}
	return v.number - 1
}

// accountMark records that a stream has reached an event.
func (r *rank) accountMark(v *event) {
	if h := r.run.history; h != nil {
		r.Record(history.Mark).Ring = v.numberIn(h)
	}
}

// accountPass records that a stream continues after an event. An event of an earlier batch is
// before everything here.
func (r *rank) accountPass(v *event) {
	if h := r.run.history; h != nil && v.number != 0 {
		r.Record(history.Pass).Ring = v.numberIn(h)
	}
}

// accountCopy records the reads and writes of a copy engine.
func (r *rank) accountCopy(op *launch.StreamOp) {
	if h := r.run.history; h != nil {
		r.Record(history.Copy).SetCopied(op, h.NextOp())
	}
}
