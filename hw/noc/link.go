package noc

import (
	"iter"
	"math/bits"
	"slices"

	"kernbench/des"
	"kernbench/unit"
)

// last tells whether m is at the last link of its route: what follows takes everything.
func (m *message) last() bool { return m.hop+1 == m.route.hops }

// arrive handles the head of a message that reaches the near end of a link.
func (n *Fabric) arrive(li, mi uint32) {
	l, m := &n.links[li], &n.msgs[mi]
	if n.ideal {
		n.pass(m, mi)
		return
	}
	if m.hop == 1 && m.taken && m.left == 0 {
		n.sink.Taken(m.user)
		m = &n.msgs[mi]
	}
	if m.hop == 0 && !m.inLine && (l.lines > 0 || m.left > 0) && n.standInLine(l, li, mi) {
		return
	}
	now := n.q.Now()
	if l.waiting == 0 && l.freeAt <= now && (m.last() || n.fits(li, &n.bufs[m.into], m.bytes, now)) {
		n.start(li, mi)
		return
	}
	b := &n.bufs[m.into]
	m.next = 0
	if b.head == 0 {
		b.head = mi
		l.queues |= n.queue(l, m)
	} else {
		n.msgs[b.tail].next = mi
	}
	b.tail = mi
	l.waiting++
	n.schedule(li)
}

// fits tells whether a message has room in a buffer of link li now.
func (n *Fabric) fits(li uint32, b *buffer, bytes int32, now unit.Time) bool {
	if b.held <= b.room-bytes {
		return true
	}
	if b.room == 0 {
		b.link, b.room = li, n.roomOf(&n.links[li])
	}
	n.settle(b, now)
	return b.held <= b.room-bytes
}

// settle takes out what has been released by now. The earliest releases stay in the
// buffer itself.
func (n *Fabric) settle(b *buffer, now unit.Time) {
	for b.few > 0 && b.first[0].at <= now {
		b.held -= int32(b.first[0].bytes)
		b.first[0] = b.first[1]
		b.few--
		if b.more != 0 && len(n.spill[b.more]) > 0 {
			rest := n.spill[b.more]
			b.first[b.few] = rest[0]
			b.few++
			n.spill[b.more] = rest[:copy(rest, rest[1:])]
		}
	}
}

// roomAt is when a message that does not fit will, as far as is known; never if unknown.
func (n *Fabric) roomAt(li uint32, b *buffer, bytes int32, now unit.Time) unit.Time {
	if n.fits(li, b, bytes, now) {
		return now
	}
	over := int64(b.held) + int64(bytes) - int64(b.room)
	for _, r := range b.first[:b.few] {
		if over -= r.bytes; over <= 0 {
			return r.at
		}
	}
	for _, r := range n.spill[b.more] {
		if over -= r.bytes; over <= 0 {
			return r.at
		}
	}
	return never
}

// schedule makes sure that link li looks again for work when it can next do some.
func (n *Fabric) schedule(li uint32) {
	l, now := &n.links[li], n.q.Now()
	at := never
	if l.freeAt > now {
		at = l.freeAt
	} else {
		for k := range n.waitedFor(l) {
			b := &n.bufs[k]
			m := &n.msgs[b.head]
			t := now
			if !m.last() {
				t = n.roomAt(li, b, m.bytes, now)
			}
			b.blocked = t > now // an earlier release may come to be known
			at = min(at, t)
		}
	}
	if at < l.retryAt {
		l.retryAt = at
		n.q.Post(des.Event{Time: at, Key: n.key(l, li, des.Retry), Target: Target(kindRetry, li)})
	}
}

// queue is the bit, among those of its link, of the queue that m stands in.
func (n *Fabric) queue(l *link, m *message) uint64 {
	class := uint32(m.class)
	return 1 << (class*l.channels + m.into - class*n.inClass - l.bufs)
}

// waitedFor are the numbers of the buffers of a link that messages wait for, class by class.
func (n *Fabric) waitedFor(l *link) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for q := l.queues; q != 0; q &= q - 1 {
			k := uint32(bits.TrailingZeros64(q))
			c := k / l.channels
			if !yield(c*n.inClass + l.bufs + k - c*l.channels) {
				return
			}
		}
	}
}

// key orders what link li causes; components of the owner come after all links.
func (n *Fabric) key(l *link, li uint32, p des.Phase) des.Key {
	l.counter++
	return des.MakeKey(p, li, 0, l.counter)
}

// retry lets a link choose among the heads of its queues: the one that came first and
// has room, then round robin over where they came from.
func (n *Fabric) retry(li uint32) {
	l, now := &n.links[li], n.q.Now()
	if l.retryAt != now {
		return // superseded by an earlier one
	}
	l.retryAt = never
	if l.freeAt <= now && l.waiting > 0 {
		if mi, prev := n.pick(li, now); mi != 0 {
			m := &n.msgs[mi]
			b := &n.bufs[m.into]
			n.unlink(b, mi, prev)
			if b.head == 0 {
				l.queues &^= n.queue(l, m)
			}
			l.waiting--
			n.start(li, mi)
			l = &n.links[li]
		}
	}
	if l.waiting > 0 {
		n.schedule(li)
	}
}

// pick chooses a message and says which one stands before it in its queue, if any.
func (n *Fabric) pick(li uint32, now unit.Time) (msg, prev uint32) {
	l, first := &n.links[li], never
	turn := ^uint32(0)
	for k := range n.waitedFor(l) {
		b := &n.bufs[k]
		n.ties = n.ties[:0]
		before := uint32(0)
		// Messages whose heads came at the same instant stand side by side: each of a
		// different input may go first.
		for mi := b.head; mi != 0; mi = n.msgs[mi].next {
			m := &n.msgs[mi]
			if m.arrived != n.msgs[b.head].arrived || m.arrived > first {
				break
			}
			from := n.from(m)
			if !slices.Contains(n.ties, from) {
				n.ties = append(n.ties, from)
				t := from - l.served - 1 // distance after the one served last, modulo 2^32
				if (m.arrived < first || t < turn) && (m.last() || n.fits(li, b, m.bytes, now)) {
					first, turn = m.arrived, t
					msg, prev = mi, before
				}
			}
			before = mi
		}
	}
	return msg, prev
}

// from is where a message came from: the link before, or its source, which counts after
// all links.
func (n *Fabric) from(m *message) uint32 {
	if m.hop == 0 {
		return uint32(len(n.links)) + 1 + m.via
	}
	return m.via
}

func (n *Fabric) unlink(b *buffer, mi, prev uint32) {
	next := n.msgs[mi].next
	if prev == 0 {
		b.head = next
	} else {
		n.msgs[prev].next = next
	}
	if b.tail == mi {
		b.tail = prev
	}
}

// start puts a message on its link now.
func (n *Fabric) start(li, mi uint32) {
	l, m := &n.links[li], &n.msgs[mi]
	now := n.q.Now()
	l.freeAt = max(now+l.spec.Serial.Time(int64(m.bytes)), m.tail)
	l.served = n.from(m)
	if n.edges != nil {
		n.reached(m)
	}
	end := l.freeAt
	m.tail = end + l.latency
	if m.hop > 0 {
		n.release(m, end)
	} else {
		n.leaveSource(l, li, m, end)
		m = &n.msgs[mi]
	}
	if m.last() {
		if n.alone != nil {
			n.deliver(mi)
			return
		}
		n.q.Post(des.Event{Time: m.tail, Key: n.key(l, li, des.Arrive), Target: Target(kindDeliver, 0), Arg: mi})
		return
	}
	n.bufs[m.into].held += m.bytes
	m.in, m.via = m.into, li+1
	m.hop++
	h := n.hops[m.route.first+uint32(m.hop)]
	m.into = h.buf + uint32(m.class)*n.inClass
	m.arrived = now + l.latency
	if n.edges != nil {
		n.edges[h.edge].flying++
		if n.alone[m.route.first+m.hop] || n.follows(m, h) {
			n.follow(mi, n.key(l, li, des.Arrive))
			return
		}
	}
	if l.latency == 0 {
		n.arrive(h.link, mi) // at once: ports and the links of a tile have no wires
		return
	}
	n.q.Post(des.Event{Time: m.arrived, Key: n.key(l, li, des.Arrive), Target: Target(kindArrive, h.link), Arg: mi})
}

// release gives back the buffer that m came from, at the time its tail leaves.
func (n *Fabric) release(m *message, at unit.Time) {
	if m.in == nowhere {
		return
	}
	b := &n.bufs[m.in]
	r := release{at, int64(m.bytes)}
	if b.few == 2 {
		n.settle(b, n.q.Now())
	}
	switch {
	case b.few < 2:
		b.first[b.few] = r
		b.few++
		if b.few == 2 && b.first[0].at > at {
			b.first[0], b.first[1] = b.first[1], b.first[0]
		}
	default:
		if b.first[1].at > at {
			r, b.first[1] = b.first[1], r
			if b.first[0].at > at {
				b.first[0], b.first[1] = b.first[1], b.first[0]
			}
		}
		if b.more == 0 {
			n.spill = append(n.spill, nil)
			b.more = uint32(len(n.spill) - 1)
		}
		rest := append(n.spill[b.more], r)
		for i := len(rest) - 1; i > 0 && rest[i-1].at > r.at; i-- {
			rest[i], rest[i-1] = rest[i-1], rest[i]
		}
		n.spill[b.more] = rest
	}
	if b.blocked {
		b.blocked = false
		n.schedule(b.link)
	}
}

// leaveSource tells the sink of the last part, or sends the next part after this one: a
// long transfer takes turns at the source with those of others.
func (n *Fabric) leaveSource(l *link, li uint32, m *message, end unit.Time) {
	if m.left == 0 {
		if m.inLine {
			n.nextInLine(l, li, m, end)
		}
		n.sink.Departed(m.user, end)
		return
	}
	part := min(m.left, n.most)
	next := *m
	next.bytes, next.left = int32(part), m.left-part
	m.inLine = false
	i := n.newMessage()
	n.msgs[i] = next
	if n.edges != nil {
		n.expect(next.route)
	}
	n.enter(l, li, i, end)
}

// enter brings a message to the near end of its first link at a time to come.
func (n *Fabric) enter(l *link, li, mi uint32, at unit.Time) {
	m := &n.msgs[mi]
	m.arrived, m.tail, m.hop = at, at, 0
	m.into = n.hops[m.route.first].buf + uint32(m.class)*n.inClass
	n.q.Post(des.Event{Time: at, Key: n.key(l, li, des.Arrive), Target: Target(kindArrive, li), Arg: mi})
}

// standInLine puts a message behind a longer transfer of its source, if there is one. A
// transfer of several messages without one before it starts a line.
func (n *Fabric) standInLine(l *link, li, mi uint32) bool {
	m := &n.msgs[mi]
	key := line{li, m.via, m.class}
	behind, ok := n.lines[key]
	if ok {
		m.next = 0
		if behind.head == 0 {
			behind.head = mi
		} else {
			n.msgs[behind.tail].next = mi
		}
		behind.tail = mi
		n.lines[key] = behind
		return true
	}
	if m.left > 0 {
		n.lines[key] = chain{}
		l.lines++
		m.inLine = true
	}
	return false
}

// nextInLine lets the next message of a line come when the last of the transfer before
// it has left.
func (n *Fabric) nextInLine(l *link, li uint32, m *message, end unit.Time) {
	key := line{li, m.via, m.class}
	behind := n.lines[key]
	next := behind.head
	if next == 0 {
		delete(n.lines, key)
		l.lines--
		return
	}
	behind.head = n.msgs[next].next
	n.lines[key] = behind
	n.msgs[next].inLine = true
	n.enter(l, li, next, end)
}
