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
	at := make([]uint8, len(l.flat)) // of each link among those of its peer
	var sorted []uint64
	for r := range ws {
		lo, hi := l.start[r], l.start[r+1]
		ws[r].Out = outs[lo:hi:hi]
		lo, hi = l.arriveFrom[r], l.arriveFrom[r+1]
		ws[r].In = ins[lo:hi:hi]
		sorted = sorted[:0]
		for _, i := range l.arriving[lo:hi] {
			sorted = append(sorted, uint64(l.name[i])<<32|uint64(i))
		}
		slices.Sort(sorted)
		for k, x := range sorted {
			at[uint32(x)] = uint8(k)
		}
	}
	for from := range ws {
		for i := l.start[from]; i < l.start[from+1]; i++ {
			peer := l.flat[i].Peer
			outs[i] = tl.OutPort{Dir: l.flat[i].Dir, Peer: peer, PeerIn: at[i]}
			ins[l.arriveFrom[peer]+int32(at[i])] = tl.InPort{Dir: l.name[i], Peer: int32(from), PeerOut: uint8(i - l.start[from])}
		}
	}
	return ws
}
