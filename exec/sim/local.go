package sim

import (
	"kernbench/hw/noc"
	"kernbench/mem"
	"kernbench/tl"
)

// follows tells whether a launch takes the short way: one that is local (tl.Launch.Local). Its
// kernels hear of each other through rings alone, by receives that name their direction, so that
// what each does depends on nobody, and when follows from the times at which its tokens and
// credits come, in whatever order kernels are carried out here (a Kahn network). So each kernel's
// instructions are recorded as far as they will go (recorder), and then followed (follow): a token
// or a credit whose arrival is known is handed over at once, with its time, and a rank goes on
// until it needs one that is not known yet. Events are left for links that several routes share:
// there global time decides who comes first. The memory port of a PE serves that PE alone.
//
// Options that look closer (every instruction stopped, random delays, an account of memory), the
// reference fidelity, and rings outside TCM, take the long way. It gives the same times, traces
// and values; tests hold one against the other.
func (e *Executor) follows(l *tl.Launch) bool {
	o := &e.opts
	if !l.Local || o.Yield || o.Seed != 0 || o.History != nil || o.Fidelity == noc.Flit || l.Ring.OnRecv || l.Ring.Space != mem.TCM {
		return false
	}
	for g := range l.Groups {
		for _, w := range l.Groups[g].Wiring {
			rings := 0
			for i := range w.Out {
				if l.SendsIn(w.Out[i].Dir) {
					rings++
				}
			}
			if rings*l.Ring.Slots > e.spec.DMA.Depth {
				return false // a send might wait for others to leave the queue
			}
		}
	}
	return true
}
