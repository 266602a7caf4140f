package mock

import (
	"fmt"
	"slices"

	"kernbench/fault"
	"kernbench/mem"
	"kernbench/tl"
)

// deadlock explains why nobody can go on. Groups do not talk to each other, so it is
// about the first group that has ranks left.
func (x *run) deadlock() error {
	var stuck []*rank
	for _, r := range x.ranks {
		if !r.over && (len(stuck) == 0 || stuck[0].group == r.group) {
			stuck = append(stuck, r)
		}
	}
	group := stuck[0].group
	rings := x.ends(group) // before the coroutines end, which gives slots back
	blocked := make([]fault.Blocked, len(stuck))
	for i, r := range stuck {
		blocked[i] = r.describe(r.others)
	}
	x.hung = true
	for i, r := range stuck {
		r.stop()
		blocked[i].Place = r.place
	}
	d := fault.NewDeadlock(len(x.launch.Groups[group].PEs), blocked)
	d.Rings = rings
	return d
}

// describe says what a rank waits for, but for its place. peers lists who could still change
// the words of a window.
func (r *rank) describe(peers func(*mem.Window) []int) fault.Blocked {
	w, slots := r.wiring, r.run.launch.Ring.Slots
	switch r.wait {
	case forSlot:
		return w.WaitsToSend(r.port, r.out[r.port].occupancy(), slots)
	case forWord, forChange:
		return r.describeWord(peers(r.at.Side.Win))
	}
	if r.port == tl.AnyPort {
		return w.WaitsForAny(slots)
	}
	return w.WaitsToRecv(r.port, r.in[r.port].occupancy(), slots)
}

// describeWord says which word a rank waits for, or looks at again and again.
func (r *rank) describeWord(peers []int) fault.Blocked {
	in, x := r.at, *r.at.Side
	held := x.Win.Words(int(x.Peer))
	word := x.Word
	switch in.Op {
	case tl.OpWaitWord, tl.OpTestWord:
		word, _ = failing(&x)
	case tl.OpCompareSwap:
		x.Cmp, x.Value = tl.EQ, x.Expect
	}
	b := x.WaitsForWord(word, held[word], peers)
	if in.Op == tl.OpReadWord || in.Op == tl.OpFetchAdd {
		b.Want = "to change"
	}
	if x.Win.Team.PEs[x.Peer] != r.pe {
		b.Word += fmt.Sprintf(" of rank %d", x.Peer)
	}
	return b
}

// others are the ranks of this one's group that are members of a window's team and have not
// ended; in a rendezvous, those members that have not come to it, ended or not.
func (r *rank) others(w *mem.Window) []int {
	awaited := func(o *rank, _ int) bool { return o != r && !o.over }
	if w == w.Team.Meeting {
		me, _ := w.Team.Rank(int(r.pe))
		behind := w.Team.Behind(me)
		awaited = func(_ *rank, member int) bool { return slices.Contains(behind, member) }
	}
	var peers []int
	for _, o := range r.run.ranks {
		if member, ok := w.Team.Rank(int(o.pe)); ok && o.group == r.group && awaited(o, member) {
			peers = append(peers, o.index)
		}
	}
	return peers
}

// operation names what the rank waits in.
func (r *rank) operation() string {
	switch r.wait {
	case forSlot:
		return "send(" + r.wiring.Out[r.port].Dir.String() + ")"
	case forMessage:
		if r.port == tl.AnyPort {
			return "recv(any)"
		}
		return "recv(" + r.wiring.In[r.port].Dir.String() + ")"
	}
	return r.at.Call()
}

func (r *ring) occupancy() int { return int(r.head - r.tail) }

// ends lists the ends of all rings of a group, by rank and direction. Here nothing is
// ever on its way, so what a side knows of the other is how it is.
func (x *run) ends(group int) []fault.RingEnd {
	var ends []fault.RingEnd
	for _, r := range x.ranks {
		if r.group != group {
			continue
		}
		ends = append(ends, r.wiring.Ends(r.index, func(i int, e *fault.RingEnd) {
			q := r.out[i]
			e.Mine, e.Cached = uint32(q.head), uint32(q.tail)
			if q.busy {
				e.Pending = fmt.Sprintf("sent %d of %d elements", q.sent, q.pending.n)
			}
		}, func(i int, e *fault.RingEnd) {
			q := r.in[i]
			e.Mine, e.Cached = uint32(q.taken), uint32(q.head)
		})...)
	}
	return ends
}
