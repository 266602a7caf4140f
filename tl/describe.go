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

// WaitsForWord is a kernel or stream on a PE that waits for words by this instruction, or
// looks at one again and again. Peers are the ranks that could still change them.
func (in *Instr) WaitsForWord(pe int32, peers []int) fault.Blocked {
	x := *in.Side
	word := x.Word
	switch in.Op {
	case OpWaitWord, OpTestWord:
		word = x.Words[max(0, x.Failing(0))]
	case OpCompareSwap:
		x.Cmp, x.Value = EQ, x.Expect
	}
	b := fault.Blocked{
		Peers: peers, Word: x.Win.WordName(word), Held: x.Win.Words(int(x.Peer))[word], Unsigned: x.WordType == mem.Uint64,
	}
	switch {
	case in.Op == OpReadWord || in.Op == OpFetchAdd:
		b.Want = "to change"
	case b.Unsigned:
		b.Want = fmt.Sprintf("%v %d", x.Cmp, uint64(x.Value))
	default:
		b.Want = fmt.Sprintf("%v %d", x.Cmp, x.Value)
	}
	if x.Win.Team.PEs[x.Peer] != pe {
		b.Word += fmt.Sprintf(" of rank %d", x.Peer)
	}
	return b
}

// Failing is the first of the words of a wait or test, from number at on and round, that does
// not satisfy it; -1 when all do.
func (x *OneSided) Failing(at int) int {
	held := x.Win.Words(int(x.Peer))
	for k := range x.Words {
		i := at + k
		if i >= len(x.Words) {
			i -= len(x.Words)
		}
		if !x.Cmp.Holds(x.WordType, held[x.Words[i]], x.Value) {
			return i
		}
	}
	return -1
}

// Awaits reports whether a kernel on a PE that waits for words could be waiting for what the
// one on another PE has yet to do: for that of any member of the team that has not ended, and
// in a rendezvous for that of members who have not come to it, ended or not.
func (x *OneSided) Awaits(pe, other int32, ended bool) bool {
	t := x.Win.Team
	member, ok := t.Rank(int(other))
	if ok && x.Win == t.Meeting {
		me, _ := t.Rank(int(pe))
		return t.Met[member] < t.Met[me]
	}
	return ok && other != pe && !ended
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
