package mock

import (
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/tl"
)

// multimem refuses a load or store of all copies on a machine that has no switch for it.
func (r *rank) multimem(in *tl.Instr) {
	if r.run.opts.Multimem == nil {
		return
	}
	if err := r.run.opts.Multimem(in.Side.Win.Team.PEs, in.Type, in.Op == tl.OpLoadReduce); err != nil {
		tl.Drive(r.kernel).Fail(&fault.Unsupported{Place: tl.Drive(r.kernel).Place(in.Call()), What: "what multimem needs: " + err.Error()})
	}
}

// copies are the places of a load or store in the copies of all members.
func copies(in *tl.Instr) []mem.Addr {
	at := make([]mem.Addr, in.Side.Win.Team.Size())
	for member := range at {
		at[member] = in.Side.Of(member)
	}
	return at
}
