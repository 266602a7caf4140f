package program

import (
	"kernbench/mem"
	"kernbench/tl"
)

// checker is the Core of a kernel of which only the lengths of its messages are stored. It is used
// for programs that are too long to be kept.
type checker struct {
	guard
	at    int
	sends []int64 // by ring: bytes of the longest payload; -1: none
}

// enter prepares for the kernel of a PE with so many rings.
func (k *checker) enter(pe, rings int) {
	k.slice, k.stopped, k.at, k.sends = mem.At(mem.HBM, pe, 0), nil, 0, noSends(rings)
}

// Do checks an instruction.
func (k *checker) Do(in *tl.Instr) {
	if in.Op == tl.OpDrop {
		return
	}
	if k.at++; k.at%checkEvery == 0 {
		k.look()
	}
	k.allow(in)
	switch in.Op {
	case tl.OpLoad, tl.OpStore:
		k.offset(in)
	case tl.OpSend:
		if in.A == tl.None && in.N > 0 {
			k.offset(in)
		}
		k.sends[in.Port] = max(k.sends[in.Port], in.Bytes())
	case tl.OpRecv:
		answer(in)
	}
}
