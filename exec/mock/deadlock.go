package mock

import (
	"fmt"

	"kernbench/exec/stall"
	"kernbench/fault"
	"kernbench/tl"
)

// deadlock explains why no rank can continue. Groups do not communicate, so it is about the first
// group that has ranks left.
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
		blocked[i].StoppedAt(r.place)
	}
	return stall.Deadlock(&x.launch.Groups[group], blocked, func(i int) int { return stuck[i].block }, rings)
}

// describe returns what a rank waits for. Of its place it has the operation only. peers lists the
// ranks that could still change the words that it waits for.
func (r *rank) describe(peers func() []int) fault.Blocked {
	w, ring := r.wiring, &r.run.launch.Ring
	switch r.wait {
	case forSlot:
		return stall.ToSend(w, r.port, r.out[r.port].occupancy(), ring.SlotsOf(w.Out[r.port].Slots))
	case forWord, forChange:
		return stall.ForWord(r.at, r.pe, peers())
	case forTask:
		return fault.Blocked{Place: fault.Place{Op: r.at.Call()}, Peers: []int{r.awaited.queue.rank}, Word: r.awaited.name()}
	}
	if r.port == tl.AnyPort {
		return stall.ForAny(w, ring.Slots)
	}
	return stall.ToRecv(w, r.port, r.in[r.port].occupancy(), ring.SlotsOf(w.In[r.port].Slots))
}

// others returns the blocks of this one's group that could still change the words that it waits
// for.
func (r *rank) others() []int {
	var peers []int
	for _, o := range r.run.ranks {
		if o.group == r.group && (r.at.Side.Awaits(r.pe, o.pe, o.over) || o.pe == r.pe && o != r && !o.over) {
			peers = append(peers, o.block)
		}
	}
	return peers
}

func (r *ring) occupancy() int { return int(r.Sent - r.Returned) }

// ends lists the ends of all rings of a group, by block and direction. Messages take no time here,
// so each side's pointers are exact.
func (x *run) ends(group int) []fault.RingEnd {
	var ends []fault.RingEnd
	for _, r := range x.ranks {
		if r.group != group {
			continue
		}
		ends = append(ends, stall.Ends(r.wiring, r.block, func(i int, e *fault.RingEnd) {
			q := r.out[i]
			e.Mine, e.Cached = q.Sent, q.Credited
			if s := &q.stream; s.Open() {
				e.Pending = fmt.Sprintf("sent %d of %d elements", int(s.Next)*q.cfg.SlotElems(q.pending.typ), q.pending.n)
			}
		}, func(i int, e *fault.RingEnd) {
			q := r.in[i]
			e.Mine, e.Cached = q.Taken, q.Visible
		})...)
	}
	return ends
}
