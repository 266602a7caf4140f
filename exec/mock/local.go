package mock

import (
	"kernbench/mem"
	"kernbench/tl"
)

// This file leaves local launches out of the account of memory: see history.Log.Hold.

// beginLocal holds back the account of a launch. Under the older credit rule a slot may be
// overwritten while it is read, and blocks of a rank share its memory. So nothing is held back.
func (x *run) beginLocal() {
	x.local = !x.launch.Ring.OnRecv && !x.launch.SeveralBlocks() && x.history.Hold()
}

// endLocalUnless ends the local state of a launch if an instruction is not local.
func (r *rank) endLocalUnless(in *tl.Instr) {
	x := r.run
	switch {
	case !r.isLocal(in):
		x.local = false
		if x.history != nil {
			x.history.Release()
		} else {
			x.opts.History.LeftOut()
		}
	case x.history != nil && x.history.Full():
		x.history.Forget()
		x.history = nil
		for _, o := range x.ranks {
			o.book = nil
		}
	}
}

// isLocal reports whether an instruction touches memory of this PE only, and depends on other ranks
// only through messages of rings that it names.
func (r *rank) isLocal(in *tl.Instr) bool {
	switch in.Op {
	case tl.OpMath, tl.OpGemm, tl.OpRecvAsync, tl.OpAwait, tl.OpDrop, tl.OpFence, tl.OpQuiet, tl.OpDrain, tl.OpBeginTurn, tl.OpEndTurn:
		return true
	case tl.OpLoad, tl.OpStore:
		return r.ownMemory(in.Addr)
	case tl.OpSend:
		return in.A != tl.None || r.ownMemory(in.Addr)
	case tl.OpRecv:
		return in.Port != tl.AnyPort && (in.Dst != tl.None || r.ownMemory(in.Addr))
	case tl.OpComposite:
		p := in.Pipe
		return (in.A != tl.None || r.ownMemory(p.A.Addr)) && (!p.Gemm || in.B != tl.None || r.ownMemory(p.B.Addr)) &&
			r.ownMemory(p.Out.Addr)
	}
	return false
}

// ownMemory reports whether an address is in the HBM slice or TCM of the rank's PE.
func (r *rank) ownMemory(a mem.Addr) bool {
	return (a.Space() == mem.HBM || a.Space() == mem.TCM) && a.Unit() == int(r.pe)
}
