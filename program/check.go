package program

import (
	"kernbench/mem"
	"kernbench/tl"
)

// checker is a Core that checks a kernel's instructions without storing them. It keeps only what
// is sent into each ring. It is used for programs that are too long to store.
type checker struct {
	guard
	at    int     // number of instructions checked so far
	sends []Sends // by ring
}

// enter resets the checker for the kernel of a PE with the given number of outgoing rings.
func (k *checker) enter(pe, rings int) {
	k.slice, k.stopped, k.at, k.sends = mem.At(mem.HBM, pe, 0), nil, 0, make([]Sends, rings)
}

// Do refuses instructions that cannot be recorded. It stops the kernel if recording is cancelled.
func (k *checker) Do(in *tl.Instr) {
	if in.Op == tl.OpDrop {
		return
	}
	if k.at++; k.at%checkEvery == 0 {
		k.checkContext()
	}
	k.allow(in)
	switch in.Op {
	case tl.OpLoad, tl.OpStore:
		k.offset(in)
	case tl.OpSend:
		if in.A == tl.None && in.N > 0 {
			k.offset(in)
		}
		k.sends[in.Port].add(in.Bytes())
	case tl.OpRecv:
		fillReceive(in)
	}
}
