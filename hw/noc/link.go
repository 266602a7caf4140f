package noc

import (
	"iter"
	"slices"

	"kernbench/des"
	"kernbench/hw/noc/buffer"
	"kernbench/hw/noc/routes"
	"kernbench/unit"
)

// inTransit holds the messages in flight, and their state.
type inTransit struct {
	msgs         []message
	free         uint32                    // list of unused messages, by next; 0: none
	stuck        []uint32                  // scratch of pick: inputs whose first message does not fit
	sourceQueues map[sourceQueue]chain     // the messages behind a transfer of several messages
	latest       map[sourceQueue]unit.Time // when the latest transfer arrives, by link with a memory; ideal only
}

// last reports whether m is at the last link of its route. The destination always has space.
func (n *Fabric) last(m *message) bool {
	return n.routes.Last(m.route)
}

// passed counts a link that m has passed. Values above 2 make no difference.
func (m *message) passed() { m.hop = min(m.hop+1, 2) }

// hopOf returns the hop that a message wants next.
func (n *Fabric) hopOf(m *message) routes.Hop { return n.routes.Hop(m.route) }

// arrive handles the head of a message that reaches the near end of link li.
func (n *Fabric) arrive(li, mi uint32) {
	m := &n.msgs[mi]
	if n.ideal {
		n.pass(m, mi)
		return
	}
	if m.hop == 1 && m.taken && m.left == 0 {
		n.sink.Taken(m.user)
		m = &n.msgs[mi]
	}
	l := &n.links[li]
	if m.hop == 0 && !m.headsQueue && (n.queues[l.queue].sourceQueues > 0 || m.left > 0) && n.joinSourceQueue(li, mi) {
		return
	}
	m.into = n.into(li, m.vc)
	now := n.q.Now()
	if n.queues[l.queue].waiting == 0 && l.freeAt <= now && (n.last(m) || n.fits(m.into, m.bytes, now)) {
		n.start(li, mi)
		return
	}
	vc := &n.vcs[n.vcOf(m.into)]
	m.next = 0
	if vc.head == 0 {
		vc.head = mi
	} else {
		n.msgs[vc.tail].next = mi
	}
	vc.tail = mi
	q := n.queue(l)
	q.waiting++
	if n.counts != nil {
		n.counts.waits(li, int(q.waiting))
	}
	n.schedule(li)
}

// schedule posts an event at which link li tries to start a message.
func (n *Fabric) schedule(li uint32) {
	l, now := &n.links[li], n.q.Now()
	at := never
	if l.freeAt > now {
		at = l.freeAt
	} else {
		for vc := range n.waitedFor(l) {
			m := &n.msgs[vc.head]
			t := now
			if !n.last(m) {
				b := n.buffer(m.into)
				t = b.SpaceAt(&n.releases, n.spaceIn(b), m.bytes, now)
			}
			setBlocked(n.buffer(m.into), t > now) // a later event may release space earlier: then retry sooner
			at = min(at, t)
		}
	}
	if q := n.queue(l); at < q.retryAt {
		q.retryAt = at
		n.q.Post(des.Event{Time: at, Key: n.key(li, des.Retry), Target: Target(kindRetry, li)})
	}
}

// setBlocked notes whether messages wait for space in a buffer.
func setBlocked(b *buffer.Buffer, waits bool) {
	if b.Flags &^= blocked; waits {
		b.Flags |= blocked
	}
}

// waitedFor returns the vcs of a link that messages wait for, class by class.
func (n *Fabric) waitedFor(l *link) iter.Seq[*vc] {
	return func(yield func(*vc) bool) {
		for i := l.vcs; i != 0; i = n.vcs[i].next {
			if vc := &n.vcs[i]; vc.head != 0 && !yield(vc) {
				return
			}
		}
	}
}

// key orders the events of link li. The executor's events have higher ids, so they come after those
// of all links.
func (n *Fabric) key(li uint32, p des.Phase) des.Key {
	l := &n.links[li]
	l.counter++
	return des.MakeKey(p, l.id, 0, l.counter)
}

// retry lets a link choose a message, among the first messages of each input. It takes the earliest
// that has buffer space. Between messages of the same time it takes its inputs in turn.
func (n *Fabric) retry(li uint32) {
	l, now := &n.links[li], n.q.Now()
	q := &n.queues[l.queue]
	if q.retryAt != now {
		return // superseded by an earlier one
	}
	q.retryAt = never
	if l.freeAt <= now && q.waiting > 0 {
		if mi, prev := n.pick(l, now); mi != 0 {
			vc := &n.vcs[n.vcOf(n.msgs[mi].into)]
			n.unlink(vc, mi, prev)
			q.waiting--
			n.start(li, mi)
			q = &n.queues[l.queue]
		}
	}
	if q.waiting > 0 {
		n.schedule(li)
	}
}

// pick chooses a message, and returns its predecessor in the queue, if any.
func (n *Fabric) pick(l *link, now unit.Time) (msg, prev uint32) {
	first, served := never, n.inputOf(l.served)
	turn := ^uint32(0)
	for vc := range n.waitedFor(l) {
		n.stuck = n.stuck[:0]
		before := uint32(0)
		// Among messages whose heads came at the same time, the first of each input may go next.
		for mi := vc.head; mi != 0; mi = n.msgs[mi].next {
			m := &n.msgs[mi]
			if m.arrived != n.msgs[vc.head].arrived || m.arrived > first {
				break
			}
			input := from(m)
			t := n.inputOf(input) - served - 1 // distance after the input served last, modulo 2^32
			switch {
			case m.arrived == first && t >= turn:
			case slices.Contains(n.stuck, input):
			case n.last(m) || n.fits(m.into, m.bytes, now):
				first, turn = m.arrived, t
				msg, prev = mi, before
			default:
				n.stuck = append(n.stuck, input)
			}
			before = mi
		}
	}
	return msg, prev
}

// aSource is the bit that marks an input as a source. Inputs without it are links.
const aSource = 1 << 31

// from returns the input of a message: 1 + the previous link, or its source with aSource.
func from(m *message) uint32 {
	if m.hop == 0 {
		return aSource | m.via
	}
	return m.via
}

// inputOf returns the number of an input in the order of the machine: links, then sources.
func (n *Fabric) inputOf(from uint32) uint32 {
	switch {
	case from >= aSource:
		return uint32(n.m.NumLinks()) + 1 + from - aSource
	case from > 0:
		return n.links[from-1].id + 1
	}
	return 0
}

func (n *Fabric) unlink(vc *vc, mi, prev uint32) {
	next := n.msgs[mi].next
	if prev == 0 {
		vc.head = next
	} else {
		n.msgs[prev].next = next
	}
	if vc.tail == mi {
		vc.tail = prev
	}
}

// start puts a message on its link now.
func (n *Fabric) start(li, mi uint32) {
	l, m := &n.links[li], &n.msgs[mi]
	now, k := n.q.Now(), n.kind(l)
	if n.causes != nil {
		n.causes.starts(n, li, mi)
	}
	free := l.freeAt
	l.freeAt = max(now+k.serial.Time(int64(m.bytes)), m.tail)
	if n.counts != nil {
		n.counts.starts(li, m, now, free, l.freeAt-now, n.last(m))
	}
	l.served = from(m)
	if n.reserved {
		n.started(li)
	}
	end := l.freeAt
	m.tail = end + k.latency
	if m.hop > 0 {
		n.release(m, end)
	} else {
		n.leaveSource(li, m, end)
		m = &n.msgs[mi]
	}
	if n.last(m) {
		if n.reserved {
			n.deliver(mi)
			return
		}
		n.q.Post(des.Event{Time: m.tail, Key: n.key(li, des.Arrive), Target: Target(kindDeliver, 0), Arg: mi})
		return
	}
	if m.in = nowhere; l.own.Flags&neverFull == 0 {
		m.in = m.into
		n.buffer(m.into).Fill(&n.releases, m.bytes, now)
	}
	h := n.nextHop(m, li, n.routes.Onward(m.route), now+k.latency)
	if n.reserved {
		const atOnce = true
		n.advance(mi, trigger{by: li + 1, phase: des.Arrive}, atOnce)
		return
	}
	next := h.Number()
	if m.arrived == now {
		n.arrive(next, mi) // at once: some links, such as ports, have no latency
		return
	}
	n.q.Post(des.Event{Time: m.arrived, Key: n.key(li, des.Arrive), Target: Target(kindArrive, next), Arg: mi})
}

// readyAt returns the time at which a message is ready for link li, the last of its route, given
// the arrival of its head. The port of a memory always takes bytes at its own rate. If they arrive
// more slowly, the message starts later, and the port serves others meanwhile.
func (n *Fabric) readyAt(li uint32, m *message, head unit.Time) unit.Time {
	k := n.kind(&n.links[li])
	if !k.spec.Port {
		return head
	}
	return max(head, m.tail-k.serial.Time(int64(m.bytes)))
}

// leaveSource notifies the sink if m is the last part of its transfer, or sends the next part. So
// a long transfer takes turns with others at its first link.
func (n *Fabric) leaveSource(li uint32, m *message, end unit.Time) {
	if m.left == 0 {
		if m.headsQueue {
			n.advanceSourceQueue(li, m, end)
		}
		n.sink.Departed(m.user, end)
		return
	}
	part := min(m.left, n.most)
	next := *m
	next.bytes, next.left = int32(part), m.left-part
	m.headsQueue = false
	i := n.newMessage()
	n.msgs[i] = next
	if n.reserved {
		n.approaches(li)
	}
	if n.causes != nil {
		n.causes.next(li, i)
	}
	n.enter(li, i, end)
}

// enter schedules the arrival of a message at its first link.
func (n *Fabric) enter(li, mi uint32, at unit.Time) {
	m := &n.msgs[mi]
	m.arrived, m.tail, m.hop = at, at, 0
	m.vc = n.vcAt(n.hopOf(m), m.class())
	n.q.Post(des.Event{Time: at, Key: n.key(li, des.Arrive), Target: Target(kindArrive, li), Arg: mi})
}

// joinSourceQueue queues a message behind a transfer of several messages of the same source. It
// returns false if there is no such transfer. Then a message that has further parts starts a queue.
func (n *Fabric) joinSourceQueue(li, mi uint32) bool {
	m := &n.msgs[mi]
	key := sourceQueue{li, m.via, m.class()}
	behind, ok := n.sourceQueues[key]
	if ok {
		m.next = 0
		if behind.head == 0 {
			behind.head = mi
		} else {
			n.msgs[behind.tail].next = mi
		}
		behind.tail = mi
		n.sourceQueues[key] = behind
		return true
	}
	if m.left > 0 {
		n.sourceQueues[key] = chain{}
		n.queue(&n.links[li]).sourceQueues++
		m.headsQueue = true
	}
	return false
}

// advanceSourceQueue is called when the last part of a transfer has left. It admits the next
// message of the queue.
func (n *Fabric) advanceSourceQueue(li uint32, m *message, end unit.Time) {
	key := sourceQueue{li, m.via, m.class()}
	behind := n.sourceQueues[key]
	next := behind.head
	if next == 0 {
		delete(n.sourceQueues, key)
		n.queue(&n.links[li]).sourceQueues--
		return
	}
	behind.head = n.msgs[next].next
	n.sourceQueues[key] = behind
	n.msgs[next].headsQueue = true
	if n.causes != nil {
		n.causes.queued(n, li, next, end)
	}
	n.enter(li, next, end)
}
