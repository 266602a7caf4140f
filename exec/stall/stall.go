// Package stall describes the waits of kernels that cannot continue, as types of package fault. An
// executor supplies the waiting rank and its port or word; this package supplies the names for the
// report. The place of a wait has its operation only: see Blocked.StoppedAt.
//
// It may import tl, tl/launch, mem and fault. Start at ToSend.
package stall

import (
	"fmt"
	"slices"

	"kernbench/fault"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// ToSend describes a rank that waits for a slot of its ring Out[i].
func ToSend(w *tl.Wiring, i, occupied, slots int) fault.Blocked {
	o := w.Out[i]
	return fault.Blocked{
		Place: within("send", o.Dir), Sending: true, Dir: o.Dir.String(), Peers: []int{int(o.Peer)}, Occupancy: occupied, Slots: slots,
	}
}

// ToRecv returns a rank that waits for a message in its ring In[i].
func ToRecv(w *tl.Wiring, i, occupied, slots int) fault.Blocked {
	p := w.In[i]
	return fault.Blocked{Place: within("recv", p.Dir), Dir: p.Dir.String(), Peers: []int{int(p.Peer)}, Occupancy: occupied, Slots: slots}
}

func within(op string, d tl.Dir) fault.Place { return fault.Place{Op: op + "(" + d.String() + ")"} }

// ForAny returns a rank that waits for a message in any of its rings.
func ForAny(w *tl.Wiring, slots int) fault.Blocked {
	b := fault.Blocked{Place: within("recv", tl.AnyDir), Dir: tl.AnyDir.String(), Slots: slots}
	for _, p := range w.In {
		b.Peers = append(b.Peers, int(p.Peer))
	}
	slices.Sort(b.Peers)
	b.Peers = slices.Compact(b.Peers)
	return b
}

// ForWord describes a kernel or stream on a PE that waits for words by this instruction, or polls
// one repeatedly. peers are the ranks that could still change them.
func ForWord(in *tl.Instr, pe int32, peers []int) fault.Blocked {
	x := *in.Side
	word := x.Word
	switch in.Op {
	case tl.OpWaitWord, tl.OpTestWord:
		word = x.Words[max(0, x.Failing(0))]
	case tl.OpCompareSwap:
		x.Cmp, x.Value = tl.EQ, x.Expect
	}
	b := fault.Blocked{
		Place: fault.Place{Op: in.Call()},
		Peers: peers, Word: x.Win.WordName(word), Held: x.Win.Words(int(x.Peer))[word], Unsigned: x.WordType == mem.Uint64,
	}
	switch {
	case in.Op == tl.OpReadWord || in.Op == tl.OpFetchAdd:
		b.Want = "to change"
	case b.Unsigned:
		b.Want = fmt.Sprintf("%v %d", x.Cmp, uint64(x.Value))
	default:
		b.Want = fmt.Sprintf("%v %d", x.Cmp, x.Value)
	}
	if x.Count > 0 {
		b.Word += fmt.Sprintf(" (lines %d:%d of a packet; the last one has %d)", x.From, x.From+x.Count, x.Win.Lines(x.Peer, word))
	}
	if x.Win.Team.PEs[x.Peer] != pe {
		b.Word += fmt.Sprintf(" of rank %d", x.Peer)
	}
	return b
}

// Ends lists the ends of all rings of a rank by direction. The executor adds the pointers, and the
// messages in flight into the ring.
func Ends(w *tl.Wiring, rank int, out, in func(i int, e *fault.RingEnd)) []fault.RingEnd {
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

// Deadlock reports why no block of a group can go on. block returns the place in the group of
// blocked[i]. Peers of blocked, and the ranks of rings, are such places too.
func Deadlock(g *launch.Group, blocked []fault.Blocked, block func(i int) int, rings []fault.RingEnd) *fault.Deadlock {
	if g.Blocks == nil {
		return fault.NewDeadlock(len(g.PEs), blocked, rings)
	}
	ranks := make([]int, len(g.Blocks))
	for i, b := range g.Blocks {
		ranks[i] = b.Rank
	}
	for i := range blocked {
		blocked[i].Rank, blocked[i].Of = block(i), g.Blocks[block(i)].Name()
	}
	return fault.NewDeadlockOfBlocks(len(g.PEs), ranks, blocked, rings)
}

// OfRanks names the ranks of rings whose ends name blocks of a group.
func OfRanks(g *launch.Group, rings []fault.RingEnd) []fault.RingEnd {
	for i := range rings {
		rings[i].Rank, rings[i].Peer = g.Block(rings[i].Rank).Rank, g.Block(rings[i].Peer).Rank
	}
	return rings
}
