package mock

import (
	"fmt"
	"slices"

	"kernbench/fault"
	"kernbench/tl"
)

// deadlock explains why nobody can go on. Groups do not talk to each other, so it is
// about the first group that has ranks left.
func (x *run) deadlock() error {
	var stuck []*rank
	for _, r := range x.ranks {
		if !r.done && (len(stuck) == 0 || stuck[0].group == r.group) {
			stuck = append(stuck, r)
		}
	}
	group := stuck[0].group
	rings := x.ends(group) // before the coroutines end, which gives slots back
	blocked := make([]fault.Blocked, len(stuck))
	for i, r := range stuck {
		blocked[i] = r.describe()
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

// describe says what a rank waits for, but for its place.
func (r *rank) describe() fault.Blocked {
	w := &r.run.launch.Groups[r.group].Wiring[r.index]
	b := fault.Blocked{Sending: r.sending, Slots: r.run.launch.Ring.Slots}
	switch {
	case r.sending:
		o := w.Out[r.port]
		b.Dir, b.Peers, b.Occupancy = o.Dir.String(), []int{int(o.Peer)}, r.out[r.port].occupancy()
	case r.port == tl.AnyPort:
		b.Dir = tl.AnyDir.String()
		for _, i := range w.In {
			b.Peers = append(b.Peers, int(i.Peer))
		}
		slices.Sort(b.Peers)
		b.Peers = slices.Compact(b.Peers)
	default:
		i := w.In[r.port]
		b.Dir, b.Peers, b.Occupancy = i.Dir.String(), []int{int(i.Peer)}, r.in[r.port].occupancy()
	}
	return b
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
		w := &x.launch.Groups[group].Wiring[r.index]
		for i, o := range w.Out {
			q := r.out[i]
			e := fault.RingEnd{Rank: r.index, Peer: int(o.Peer), Dir: o.Dir.String(), Sending: true, Mine: uint32(q.head), Cached: uint32(q.tail)}
			if q.busy {
				e.Pending = fmt.Sprintf("sent %d of %d elements", q.sent, q.pending.n)
			}
			ends = append(ends, e)
		}
		for i, p := range w.In {
			q := r.in[i]
			ends = append(ends, fault.RingEnd{Rank: r.index, Peer: int(p.Peer), Dir: p.Dir.String(), Mine: uint32(q.taken), Cached: uint32(q.head)})
		}
	}
	return ends
}
