package mock

import (
	"fmt"

	"kernbench/fault"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// multimem refuses a load or store of several copies on a machine that has no switch for it.
func (r *rank) multimem(in *tl.Instr) {
	if r.run.opts.Multimem == nil {
		return
	}
	reduces, copies := in.Op != tl.OpMulticast, in.Op != tl.OpLoadReduce
	if err := r.run.opts.Multimem(in.Side.PEs(), in.Type, reduces, copies); err != nil {
		what := fmt.Sprintf("what multimem of %v needs: %v", in.Type, err)
		tl.DriverOf(r.kernel).Fail(&fault.Unsupported{Place: tl.DriverOf(r.kernel).Place(in.Call()), What: what})
	}
}

// copies returns the places of an address in the copies of all members of a group.
func copies(in *tl.Instr, a mem.Addr) []mem.Addr {
	at := make([]mem.Addr, len(in.Side.PEs()))
	for i := range at {
		at[i] = in.Side.Of(a, i)
	}
	return at
}

// throughSwitches records the effect of a load or store of several copies.
func (r *rank) throughSwitches(in *tl.Instr, log *oplog.Log) {
	o := r.origin()
	switch in.Op {
	case tl.OpLoadReduce:
		tl.DriverOf(r.kernel).Cell(in.Dst).Value = log.LoadReduce(o, copies(in, in.Side.Remote), in.N, in.Type, in.Binary)
	case tl.OpMulticast:
		cell := tl.DriverOf(r.kernel).Cell(in.A)
		for _, a := range copies(in, in.Side.Remote) {
			log.Store(o, a, cell.Value, cell.Off+in.AOff, in.N, in.Type)
		}
	case tl.OpReduceMulticast:
		sum := log.LoadReduce(o, copies(in, in.Side.Local), in.N, in.Type, in.Binary)
		for _, a := range copies(in, in.Side.Remote) {
			log.Store(o, a, sum, 0, in.N, in.Type)
		}
		log.Release(sum)
	}
}
