package sim

import (
	"cmp"
	"runtime"
	"sync/atomic"
	"time"

	"kernbench/hw/noc"
	"kernbench/unit"
)

// Where rings share links, two goroutines can still follow one half of the ranks each, as long as no
// link is taken by messages of both: then what one half does reaches the other over a link with a
// wire, or as a token or a credit that takes time. So in a window of time that is no longer than that
// (the lookahead), neither hears of the other. At its end they tell each other what has crossed. Each
// half has a queue of events of its own; keys do not depend on who posts them, so that all comes out
// in the same order as in one queue. This is conservative simulation in windows: Lubachevsky,
// Efficient distributed event-driven simulations of multiple-loop networks, CACM 32(1), 1989.

// leastLookahead is how far the halves must be from one another for windows to have enough events.
const leastLookahead = 10 * unit.Nanosecond

// pane is what a side says of itself at the end of a window.
type pane struct {
	next     unit.Time // of its events; unit.MaxTime: none
	ranks    []crossing
	messages []noc.Crossing
	wires    []wire // of those that are the last of their transfers
	fault    int32
	at       unit.Time
	failed   error // it stops
}

// windows is where they meet.
type windows struct {
	ended     [2]atomic.Int64 // windows
	panes     [2][2]pane      // by side, of odd and even windows
	lookahead unit.Time
	over      atomic.Bool // one side ends no more windows
}

// earliest is the time before which nothing of what a side has told happens.
func (p *pane) earliest() unit.Time {
	at := unit.Time(unit.MaxTime)
	for i := range p.ranks {
		at = min(at, p.ranks[i].at)
	}
	for i := range p.messages {
		at = min(at, p.messages[i].Time())
	}
	return at
}

// byWindows has two goroutines follow the launch, whose links part in two.
func (w *follow) byWindows() error {
	halves := [2]follow{*w, *w}
	all := &windows{lookahead: min(w.lookahead, w.apart())}
	nets := w.e.net.Split([2]noc.Sink{&halves[0], &halves[1]})
	w.makeSides(&halves)
	for i := range halves {
		h := &halves[i]
		h.net, h.q, h.side.in, h.wires = nets[i], nets[i].Queue(), all, make([]wire, 1)
	}
	var errs [2]error
	both(func(i int) { errs[i] = halves[i].followWindows() }, func() { all.over.Store(true) })
	w.join(&halves)
	w.e.net.Join(nets)
	for i := range halves {
		w.result.Events += halves[i].q.Popped() - halves[i].side.reposted
		w.rest = max(w.rest, halves[i].q.Now())
	}
	w.fault, w.at = halves[0].fault, halves[0].at
	return cmp.Or(errs[0], errs[1])
}

// apart is how long a token on links of its own, or a credit, takes from one half to the other.
func (w *follow) apart() unit.Time {
	least := unit.Time(unit.MaxTime)
	for i := range w.rings[1:] {
		r := &w.rings[i+1]
		if w.sideOf(r.from) == w.sideOf(r.to) {
			continue
		}
		least = min(least, w.manners[r.manner].credit)
		if r.private {
			least = min(least, w.net.Head(r.manner))
		}
	}
	return least
}

// followWindows follows the ranks of one side, window by window.
func (w *follow) followWindows() error {
	x := w.side
	all, limit, certain := x.in, w.start, w.start
	for n := int64(1); ; n++ {
		mine := &all.panes[x.me][n&1]
		mine.failed = w.window(limit, certain)
		w.tellAll(mine)
		if !all.meet(x.me, n) {
			return nil
		}
		others := &all.panes[1-x.me][n&1]
		if mine.failed != nil || others.failed != nil {
			return mine.failed
		}
		if f := others.fault; f >= 0 && (w.fault < 0 || others.at < w.at || others.at == w.at && f < w.fault) {
			w.fault, w.at = f, others.at
		}
		toMe, toThem := others.earliest(), mine.earliest()
		first := min(mine.next, others.next, toMe, toThem)
		if first == unit.MaxTime {
			return nil
		}
		limit, certain = unit.MaxTime, min(others.next, toThem)
		if first < limit-all.lookahead { // else nothing ever crosses
			limit = first + all.lookahead
		}
		w.net.Open(limit)
		w.hearAll(others)
	}
}

// window follows what happens before a limit. What the other side has done is known up to the time
// that is certain.
func (w *follow) window(limit, certain unit.Time) error {
	for {
		for w.catchUp() {
			w.until--
		}
		if w.until--; w.until <= 0 {
			if err := w.look(); err != nil {
				return err
			}
			w.until = checkEvery
		}
		if certain < limit && w.net.AwaitsRoom() {
			limit = certain + 1
		}
		at, ok := w.q.Next()
		if !ok || at >= limit || w.fault >= 0 && at > w.at {
			return nil
		}
		ev, _ := w.q.Pop()
		if at > certain && w.net.Unsure(ev) {
			w.q.Post(ev)
			w.side.reposted++
			return nil
		}
		w.net.Handle(ev)
	}
}

// tellAll puts down what the other side must know.
func (w *follow) tellAll(p *pane) {
	p.next = unit.MaxTime
	if at, ok := w.q.Next(); ok && (w.fault < 0 || at <= w.at) {
		p.next = at
	}
	x := w.side
	p.ranks, x.told = x.told, p.ranks[:0]
	p.messages = w.net.Crossings(p.messages[:0])
	p.wires = p.wires[:0]
	for i := range p.messages {
		if user, last := p.messages[i].Transfer(); last {
			p.wires = append(p.wires, w.wires[user])
			w.wires[user].next, w.wireFree = w.wireFree, user
		}
	}
	p.fault, p.at = w.fault, w.at
}

// hearAll takes up what the other side has put down.
func (w *follow) hearAll(p *pane) {
	w.takeUp(p.ranks)
	wires := p.wires
	for i := range p.messages {
		c := &p.messages[i]
		if _, last := c.Transfer(); last {
			c.SetUser(w.newWire(wires[0]))
			wires = wires[1:]
		}
	}
	w.net.Hear(p.messages)
}

// meet waits until the other side has ended a window too; false if it never will.
func (all *windows) meet(me int, n int64) bool {
	all.ended[me].Store(n)
	for i := 0; all.ended[1-me].Load() < n; i++ {
		switch {
		case all.over.Load():
			return false
		case i > 1<<16:
			time.Sleep(20 * time.Microsecond) // the processor is somebody else's
		case i%64 == 63:
			runtime.Gosched()
		}
	}
	return true
}

// Departed, Taken and Delivered make a half a sink of its fabric.
func (w *follow) Departed(user uint32, end unit.Time)  { w.departed(user, end) }
func (w *follow) Taken(uint32)                         {}
func (w *follow) Delivered(user uint32, now unit.Time) { w.delivered(user, now) }

var _ noc.Sink = (*follow)(nil)
