package sim

import (
	"fmt"

	"kernbench/exec/stall"
	"kernbench/fault"
)

// deadlock explains why no rank can go on. Groups do not talk to each other, so it is
// about the first group that has ranks left.
func (x *run) deadlock() error {
	var stuck []*rank
	for i := range x.ranks {
		r := &x.ranks[i]
		if !r.done && (len(stuck) == 0 || stuck[0].group == r.group) {
			stuck = append(stuck, r)
		}
	}
	rings := x.ringEnds(stuck[0].group)
	blocked := make([]fault.Blocked, len(stuck))
	for i, r := range stuck {
		blocked[i] = r.describe()
	}
	x.hung = true
	for i, r := range stuck {
		r.stop()
		blocked[i].StoppedAt(r.place)
	}
	d := stall.Deadlock(&x.launch.Groups[stuck[0].group], blocked, func(i int) int { return int(stuck[i].block) }, rings)
	// Kernels run ahead of the clock of events, up to the point at which they wait.
	at := max(x.e.q.Now(), x.result.End)
	for _, r := range stuck {
		at = max(at, r.since)
	}
	d.Time, d.Timed = at, true
	return d
}

// describe returns what a rank waits for. Of its place it has the operation only.
func (r *rank) describe() fault.Blocked {
	switch r.wait {
	case forWord, forChange:
		return stall.ForWord(r.instr, r.pe, r.others())
	case forCell:
		if t := r.postOf(r.target); t != nil {
			return fault.Blocked{Place: fault.Place{Op: r.instr.Call()}, Word: t.name(), Peers: []int{t.queue.rank}}
		}
	}
	w, ring := r.wiring, r.run.ring
	switch r.wait {
	case forCredit, forStream:
		q := r.tx[r.target]
		return stall.ToSend(w, int(r.target), int(q.Sent-q.Credited), ring.SlotsOf(w.Out[r.target].Slots))
	case forToken:
		return stall.ToRecv(w, int(r.target), int(r.rx[r.target].Occupied()), ring.SlotsOf(w.In[r.target].Slots))
	}
	return stall.ForAny(w, ring.Slots)
}

// others returns the blocks of this one's group that could still change the words that it waits
// for.
func (r *rank) others() []int {
	var ranks []int
	for i := range r.run.ranks {
		o := &r.run.ranks[i]
		if o.group == r.group && (r.instr.Side.Awaits(r.pe, o.pe, o.done) || o.pe == r.pe && o != r && !o.done) {
			ranks = append(ranks, int(o.block))
		}
	}
	return ranks
}

// ringEnds lists the ends of all rings of a group, by block and direction.
func (x *run) ringEnds(group int32) []fault.RingEnd {
	var ends []fault.RingEnd
	for i := range x.ranks {
		r := &x.ranks[i]
		if r.group != group {
			continue
		}
		ends = append(ends, stall.Ends(r.wiring, int(r.block), func(i int, e *fault.RingEnd) {
			q := r.tx[i]
			e.Mine, e.Cached = q.Sent, q.Credited
			if s := &q.payload; s.Open() {
				e.Pending = fmt.Sprintf("sent %d of %d parts", s.Next, s.Parts)
			}
		}, func(i int, e *fault.RingEnd) {
			q := r.rx[i]
			e.Mine, e.Cached = q.Returned, q.Visible
		})...)
	}
	return ends
}
