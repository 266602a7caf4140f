package topology

import (
	"slices"

	"kernbench/tl"
)

// wirings builds the two ends of every ring. All ports lie in two arrays, so that a large
// world costs two allocations.
func (l *links) wirings() []tl.Wiring {
	outs := make([]tl.OutPort, len(l.flat))
	ins := make([]tl.InPort, len(l.flat))
	ws := make([]tl.Wiring, l.world())
	for r := range ws {
		lo, hi := l.start[r], l.start[r+1]
		ws[r].Out = outs[lo:hi:hi]
		lo, hi = l.arriveFrom[r], l.arriveFrom[r+1]
		ws[r].In = ins[lo:hi:hi]
		slices.SortFunc(l.arriving[lo:hi], func(i, j int32) int { return int(l.name[i]) - int(l.name[j]) })
	}
	for from := range ws {
		for i := l.start[from]; i < l.start[from+1]; i++ {
			outs[i].Dir, outs[i].Peer = l.flat[i].Dir, l.flat[i].Peer
			k := slices.Index(l.to(l.flat[i].Peer), i)
			outs[i].PeerIn = uint8(k)
			ws[l.flat[i].Peer].In[k] = tl.InPort{Dir: l.name[i], Peer: int32(from), PeerOut: uint8(i - l.start[from])}
		}
	}
	return ws
}
