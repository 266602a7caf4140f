package noc

import (
	"slices"

	"kernbench/des"
	"kernbench/unit"
)

// This file parts the links of isolated routes in two sides that can be followed at the same time, in
// windows. A route has its first links on the side of its source, and the others on that of its end.
// What leaves a side does so over a link with a wire, whose latency is the time in which neither side
// hears of the other: the lookahead. The state of a link, its input buffer's too, belongs to its
// side; that room has become free again beyond the border is known late, so that what may depend on it
// waits until it is known.

// half is what a fabric has that is one side of another.
type half struct {
	split   bool      // it is one
	side    uint64    // 0 or 1
	second  []uint64  // links of side 1, a bit each: all of them stay in the cache
	horizon unit.Time // of what comes from the other side
	told    []Crossing
	stuck   int // buffers at the border that messages wait for room in
}

// Crossing is what one side has to tell the other: a message that comes, or room that it gives back.
type Crossing struct {
	message
	key  des.Key // that the message comes with
	room bool    // it is room instead, in buffer in, from arrived on
}

// Time is when it comes to be.
func (c *Crossing) Time() unit.Time { return c.arrived }

// Transfer is the number that the owner knows the transfer of a message by, and whether the message is
// the last of it.
func (c *Crossing) Transfer() (user uint32, last bool) { return c.user, !c.room && c.left == 0 }

// SetUser gives the transfer another number.
func (c *Crossing) SetUser(user uint32) { c.user = user }

// Part gives each link that uses pass to one side, and returns the lookahead, which is unit.MaxTime where
// nothing crosses; 0 where that cannot be: then nothing has changed. Uses are those that Isolate was told
// of, which say between which sides they go.
func (n *Fabric) Part(uses []Use) (lookahead unit.Time) {
	const none = 2
	sides := slices.Repeat([]uint8{none}, len(n.links))
	for i := range uses {
		u := &uses[i]
		if u.Side != u.ToSide {
			continue
		}
		for _, h := range n.pathOf(u) {
			if s := &sides[n.linkOf(h)]; *s == none {
				*s = u.Side
			} else if *s != u.Side {
				return 0
			}
		}
	}
	lookahead = never
	last := make(map[uint32]bool) // links that lead to the other side
	for i := range uses {
		u := &uses[i]
		path := n.pathOf(u)
		if u.Side == u.ToSide || len(path) == 0 {
			continue
		}
		at := n.borderOf(path, sides, u.Side)
		if at < 0 {
			return 0
		}
		for k, h := range path {
			if sides[n.linkOf(h)] = u.ToSide; k <= at {
				sides[n.linkOf(h)] = u.Side
			}
		}
		last[n.linkOf(path[at])] = true
		lookahead = min(lookahead, n.kind(&n.links[n.linkOf(path[at])]).latency)
	}
	for i := range uses {
		if u := &uses[i]; u.Side != u.ToSide {
			for _, h := range n.pathOf(u) {
				if sides[n.linkOf(h)] == u.ToSide {
					n.links[n.linkOf(h)].own.flags |= reached
				}
			}
		}
	}
	n.second = make([]uint64, (len(n.links)+63)/64)
	for i, s := range sides {
		if s == 1 {
			n.second[i/64] |= 1 << (i % 64)
		}
		if last[uint32(i)] {
			n.links[i].own.flags |= border
		}
	}
	return lookahead
}

// borderOf is which hop of a path is the last on the side of its source: of those that can be, the one
// with the longest latency; -1: none can.
func (n *Fabric) borderOf(path []hop, sides []uint8, side uint8) int {
	const none = 2
	first, end := 0, len(path)-1
	for k, h := range path {
		switch s := sides[n.linkOf(h)]; {
		case s == side:
			first = k
		case s != none:
			end = min(end, k)
		}
	}
	at, longest := -1, unit.Time(0)
	for k := first; k < end; k++ {
		// A message is not to come to the border at once with what brings it: see Unsure.
		if l := n.kind(&n.links[n.linkOf(path[k])]).latency; l > longest && (k == 0 || n.kind(&n.links[n.linkOf(path[k-1])]).latency > 0) {
			at, longest = k, l
		}
	}
	return at
}

// Split gives each side of a parted fabric at rest a fabric of its own, with a queue and a sink.
func (n *Fabric) Split(sinks [2]Sink) (halves [2]*Fabric) {
	for i := range halves {
		h := new(Fabric)
		*h = *n
		h.q, h.sink, h.split = des.From(n.q.Now()), sinks[i], true
		h.q.Soon(h.soon)
		if i == 1 {
			h.side = 1
		}
		h.msgs, h.free, h.ties, h.read, h.lines = make([]message, 1, 1024), 0, nil, nil, map[line]chain{}
		h.lanes, h.queues, h.spill = slices.Clone(n.lanes), slices.Clone(n.queues), slices.Clone(n.spill)
		halves[i] = h
	}
	return halves
}

// Join ends Split: both sides are at rest.
func (n *Fabric) Join(halves [2]*Fabric) {
	lanes, queues := uint32(len(n.lanes)), uint32(len(n.queues))
	a, b := halves[0], halves[1]
	moved := func(i, kept uint32, before int) uint32 {
		if i < kept {
			return i
		}
		return i - kept + uint32(before)
	}
	laneAt := func(i uint32) uint32 { return moved(i, lanes, len(a.lanes)) }
	queueAt := func(i uint32) uint32 { return moved(i, queues, len(a.queues)) }
	n.lanes = append(a.lanes, b.lanes[lanes:]...)
	n.queues = append(a.queues, b.queues[queues:]...)
	n.spill, n.spillFree = make([]release, 1), 0
	for i := range n.links {
		l := &n.links[i]
		side := n.sideOf(uint32(i))
		n.takeSpill(&l.own, halves[side].spill)
		if side == 0 {
			for k := l.lanes; k != 0; k = n.lanes[k].next {
				n.takeSpill(&n.lanes[k].buffer, a.spill)
			}
			continue
		}
		for k := l.lanes; k != 0; k = b.lanes[k].next {
			e := b.lanes[k]
			n.takeSpill(&e.buffer, b.spill)
			e.next = laneAt(e.next)
			n.lanes[laneAt(k)] = e
		}
		l.lanes = laneAt(l.lanes)
		n.queues[queueAt(l.queue)] = b.queues[l.queue]
		l.queue = queueAt(l.queue)
	}
}

// Queue has the events of one side.
func (n *Fabric) Queue() *des.Queue { return n.q }

// Open begins a window that ends at a time before which nothing comes over the border that has not been
// told.
func (n *Fabric) Open(end unit.Time) { n.horizon = end }

// Crossings are what a side has to tell, in place of what is in a list.
func (n *Fabric) Crossings(list []Crossing) []Crossing {
	told := n.told
	n.told = list[:0]
	return told
}

// Hear takes up what the other side has told: all messages are expected before any goes on.
func (n *Fabric) Hear(told []Crossing) {
	for k := range told {
		c := &told[k]
		if c.room {
			n.giveBack(c.in, c.bytes, c.arrived)
			continue
		}
		c.next = n.newMessage()
		m := &n.msgs[c.next]
		*m = c.message
		m.crosses, m.foreign = false, true
		n.expect(m)
	}
	for k := range told {
		if c := &told[k]; !c.room {
			n.come(c.next, c.key)
		}
	}
}

// come brings a message to its first link on this side.
func (n *Fabric) come(mi uint32, key des.Key) {
	m := &n.msgs[mi]
	h := n.hopOf(m)
	li, e := n.linkOf(h), edgeOf(h)
	if m.lane = n.laneAt(h, m.class()); n.goesOn(m, li, e) {
		n.follow(mi, e, cause{key: key})
		return
	}
	n.q.Post(des.Event{Time: m.arrived, Key: key, Target: Target(kindArrive, li), Arg: mi})
}

// leaves tells whether a message has a hop on the other side.
func (n *Fabric) leaves(m *message, h hop) bool {
	return m.crosses && n.sideOf(n.linkOf(h)) != n.side
}

// sideOf is the side of a link of a parted fabric.
func (n *Fabric) sideOf(li uint32) uint64 { return n.second[li/64] >> (li % 64) & 1 }

// tell hands a message over.
func (n *Fabric) tell(mi uint32, key des.Key) {
	n.told = append(n.told, Crossing{message: n.msgs[mi], key: key})
	n.freeMessage(mi)
}

// AwaitsRoom tells whether messages wait for room that may have been given back beyond the border. Then
// nothing may happen beyond the time up to which that is known.
func (n *Fabric) AwaitsRoom() bool { return n.stuck > 0 }

// Unsure tells whether what an event leads to depends on whether room has been given back beyond the
// border.
func (n *Fabric) Unsure(e des.Event) bool {
	switch Kind(e) {
	case kindArrive, kindRetry:
	default:
		return false
	}
	li := Index(e)
	l := &n.links[li]
	if l.own.flags&(border|alone) != border {
		return false
	}
	for a := range n.waitedFor(l) {
		if m := &n.msgs[a.head]; !n.last(m) && !n.fits(m.into, m.bytes, e.Time) {
			return true
		}
	}
	if Kind(e) == kindRetry {
		return false
	}
	m := &n.msgs[e.Arg]
	return !n.last(m) && !n.fits(n.into(li, m.lane), m.bytes, e.Time)
}
