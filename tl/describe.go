package tl

import (
	"fmt"
	"slices"

	"kernbench/fault"
	"kernbench/mem"
)

// WaitsToSend is a rank that waits for a slot of its ring Out[i], of which so many are
// taken.
func (w *Wiring) WaitsToSend(i, occupied, slots int) fault.Blocked {
	o := w.Out[i]
	return fault.Blocked{Sending: true, Dir: o.Dir.String(), Peers: []int{int(o.Peer)}, Occupancy: occupied, Slots: slots}
}

// WaitsToRecv is a rank that waits for a message in its ring In[i].
func (w *Wiring) WaitsToRecv(i, occupied, slots int) fault.Blocked {
	p := w.In[i]
	return fault.Blocked{Dir: p.Dir.String(), Peers: []int{int(p.Peer)}, Occupancy: occupied, Slots: slots}
}

// WaitsForAny is a rank that waits for a message in any of its rings.
func (w *Wiring) WaitsForAny(slots int) fault.Blocked {
	b := fault.Blocked{Dir: AnyDir.String(), Slots: slots}
	for _, p := range w.In {
		b.Peers = append(b.Peers, int(p.Peer))
	}
	slices.Sort(b.Peers)
	b.Peers = slices.Compact(b.Peers)
	return b
}

// WaitsForWord is a rank that waits for a word of its own copy of a window, which holds held.
// Peers are the ranks of the launch that could still change it.
func (x *OneSided) WaitsForWord(word int32, held int64, peers []int) fault.Blocked {
	b := fault.Blocked{Peers: peers, Word: x.Win.WordName(word), Held: held, Unsigned: x.WordType == mem.Uint64}
	if b.Want = fmt.Sprintf("%v %d", x.Cmp, x.Value); b.Unsigned {
		b.Want = fmt.Sprintf("%v %d", x.Cmp, uint64(x.Value))
	}
	return b
}

// Call is the instruction in the words of the kernel API, for reports: put_signal_nbi.
func (in *Instr) Call() string {
	x := in.Side
	switch in.Op {
	case OpPut:
		name := "put"
		switch {
		case x.Atomic:
			name = "put_combine"
		case x.Signal:
			name = "put_signal"
		}
		if x.NBI {
			name += "_nbi"
		}
		return name
	case OpGet:
		if x.NBI {
			return "get_nbi"
		}
	case OpWaitWord, OpNotify:
		if x.Win == x.Win.Team.Meeting {
			return "sync"
		}
	}
	return in.Op.String()
}

// Ends lists the ends of all rings of a rank by direction. The executor fills in what only
// it knows: the pointers, and what is still on its way into the ring.
func (w *Wiring) Ends(rank int, out, in func(i int, e *fault.RingEnd)) []fault.RingEnd {
	ends := make([]fault.RingEnd, 0, len(w.Out)+len(w.In))
	for i, o := range w.Out {
		ends = append(ends, fault.RingEnd{Rank: rank, Peer: int(o.Peer), Dir: o.Dir.String(), Sending: true})
		out(i, &ends[len(ends)-1])
	}
	for i, p := range w.In {
		ends = append(ends, fault.RingEnd{Rank: rank, Peer: int(p.Peer), Dir: p.Dir.String()})
		in(i, &ends[len(ends)-1])
	}
	return ends
}
