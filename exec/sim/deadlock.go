package sim

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
	for i := range x.ranks {
		r := &x.ranks[i]
		if !r.done && (len(stuck) == 0 || stuck[0].group == r.group) {
			stuck = append(stuck, r)
		}
	}
	rings := x.rings(stuck[0].group)
	blocked := make([]fault.Blocked, len(stuck))
	for i, r := range stuck {
		blocked[i] = r.describe()
	}
	x.hung = true
	for i, r := range stuck {
		r.stop()
		blocked[i].Place = r.place
	}
	d := fault.NewDeadlock(len(x.launch.Groups[stuck[0].group].PEs), blocked)
	// Kernels run ahead of the clock of events, as far as to where they wait.
	at := max(x.e.q.Now(), x.result.End)
	for _, r := range stuck {
		at = max(at, r.since)
	}
	d.Rings, d.Time, d.Timed = rings, at, true
	for i := range blocked {
		d.Time = max(d.Time, blocked[i].Time) // kernels may have run ahead of the last event
	}
	return d
}

// operation names what a parked rank waits in.
func (r *rank) operation() string {
	w := &r.run.launch.Groups[r.group].Wiring[r.index]
	switch r.wait {
	case forCredit, forStream:
		return "send(" + w.Out[r.waitPort].Dir.String() + ")"
	case forToken:
		return "recv(" + w.In[r.waitPort].Dir.String() + ")"
	case forAny:
		return "recv(any)"
	}
	return "wait"
}

// describe says what a rank waits for, but for its place.
func (r *rank) describe() fault.Blocked {
	w := &r.run.launch.Groups[r.group].Wiring[r.index]
	b := fault.Blocked{Slots: r.run.ring.Slots}
	switch r.wait {
	case forCredit, forStream:
		o, q := w.Out[r.waitPort], &r.tx[r.waitPort]
		b.Sending, b.Dir, b.Peers = true, o.Dir.String(), []int{int(o.Peer)}
		b.Occupancy = int(q.MyHead - q.PeerTailCache)
	case forToken:
		i := w.In[r.waitPort]
		b.Dir, b.Peers, b.Occupancy = i.Dir.String(), []int{int(i.Peer)}, int(r.rx[r.waitPort].Occupied())
	default:
		b.Dir = tl.AnyDir.String()
		for _, i := range w.In {
			b.Peers = append(b.Peers, int(i.Peer))
		}
		slices.Sort(b.Peers)
		b.Peers = slices.Compact(b.Peers)
	}
	return b
}

// rings lists the ends of all rings of a group, by rank and direction.
func (x *run) rings(group int32) []fault.RingEnd {
	var ends []fault.RingEnd
	for i := range x.ranks {
		r := &x.ranks[i]
		if r.group != group {
			continue
		}
		w := &x.launch.Groups[group].Wiring[r.index]
		for i, o := range w.Out {
			q := &r.tx[i]
			e := fault.RingEnd{Rank: int(r.index), Peer: int(o.Peer), Dir: o.Dir.String(), Sending: true, Mine: q.MyHead, Cached: q.PeerTailCache}
			if q.Streaming() {
				e.Pending = fmt.Sprintf("sent %d of %d parts", q.Stream.Next, q.Stream.Token.Parts)
			}
			ends = append(ends, e)
		}
		for i, p := range w.In {
			q := &r.rx[i]
			ends = append(ends, fault.RingEnd{Rank: int(r.index), Peer: int(p.Peer), Dir: p.Dir.String(), Mine: q.MyTail, Cached: q.PeerHeadCache})
		}
	}
	return ends
}
