package noc

import (
	"slices"

	"kernbench/des"
	"kernbench/unit"
)

// buffer is the index of the buffer that message m goes into over link l.
func (n *Fabric) buffer(l *link, m *message) uint32 {
	h := n.hops[m.route.first+uint32(m.hop)]
	return l.bufs + uint32(m.class)*uint32(max(1, l.spec.Channels)) + uint32(h.Channel)
}

// last tells whether m is at the last link of its route: what follows takes everything.
func (m *message) last() bool { return m.hop+1 == m.route.hops }

// arrive handles the head of a message that reaches the near end of a link.
func (n *Fabric) arrive(li, mi uint32) {
	l, m := &n.links[li], &n.msgs[mi]
	if m.hop == 1 && m.taken && m.left == 0 {
		n.sink.Taken(m.user)
		m = &n.msgs[mi]
	}
	if m.hop == 0 && !m.inLine && (l.lines > 0 || m.left > 0) && n.standInLine(l, li, mi) {
		return
	}
	now := n.q.Now()
	bi := n.buffer(l, m)
	if l.waiting == 0 && l.freeAt <= now && (m.last() || n.fits(l, &n.bufs[bi], int64(m.bytes), now)) {
		n.start(li, mi, bi)
		return
	}
	b := &n.bufs[bi]
	m.next = 0
	if b.head == 0 {
		b.head = mi
	} else {
		n.msgs[b.tail].next = mi
	}
	b.tail = mi
	l.waiting++
	n.schedule(li)
}

// capacity of the buffers at the far end of l.
func (n *Fabric) capacity(l *link) int64 {
	if l.spec.Buffer > 0 {
		return l.spec.Buffer
	}
	return n.room
}

// fits tells whether a message has room now.
func (n *Fabric) fits(l *link, b *buffer, bytes int64, now unit.Time) bool {
	limit := n.capacity(l)
	if b.held+bytes <= limit {
		return true
	}
	b.settle(now)
	return b.held+bytes <= limit
}

// settle takes out what has been released by now.
func (b *buffer) settle(now unit.Time) {
	k := 0
	for k < len(b.releases) && b.releases[k].at <= now {
		b.held -= b.releases[k].bytes
		k++
	}
	if k > 0 {
		b.releases = b.releases[:copy(b.releases, b.releases[k:])]
	}
}

// roomAt is when a message that does not fit will, as far as is known; never if unknown.
func (n *Fabric) roomAt(l *link, b *buffer, bytes int64, now unit.Time) unit.Time {
	if n.fits(l, b, bytes, now) {
		return now
	}
	over := b.held + bytes - n.capacity(l)
	for _, r := range b.releases {
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
		for k := range n.buffersOf(l) {
			b := &n.bufs[l.bufs+k]
			if b.head == 0 {
				continue
			}
			m := &n.msgs[b.head]
			t := now
			if !m.last() {
				t = n.roomAt(l, b, int64(m.bytes), now)
			}
			b.blocked = t == never
			at = min(at, t)
		}
	}
	if at < l.retryAt {
		l.retryAt = at
		n.q.Post(des.Event{Time: at, Key: n.key(l, li, des.Retry), Target: Target(kindRetry, li)})
	}
}

func (n *Fabric) buffersOf(l *link) uint32 {
	return uint32(classes) * uint32(max(1, l.spec.Channels))
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
		if bi, mi, prev := n.pick(l, now); mi != 0 {
			n.unlink(&n.bufs[bi], mi, prev)
			l.waiting--
			n.start(li, mi, bi)
			l = &n.links[li]
		}
	}
	if l.waiting > 0 {
		n.schedule(li)
	}
}

// pick chooses a message and says which one stands before it in its queue, if any.
func (n *Fabric) pick(l *link, now unit.Time) (buf, msg, prev uint32) {
	first := never
	turn := ^uint32(0)
	for k := range n.buffersOf(l) {
		b := &n.bufs[l.bufs+k]
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
				if (m.arrived < first || t < turn) && (m.last() || n.fits(l, b, int64(m.bytes), now)) {
					first, turn = m.arrived, t
					buf, msg, prev = l.bufs+k, mi, before
				}
			}
			before = mi
		}
	}
	return buf, msg, prev
}

// from is where a message came from: the link before, or its source, which counts after
// all links.
func (n *Fabric) from(m *message) uint32 {
	if m.hop == 0 {
		return uint32(len(n.links)) + 1 + m.source
	}
	return uint32(n.hops[m.route.first+uint32(m.hop)-1].Link) + 1
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
func (n *Fabric) start(li, mi, bi uint32) {
	l, m := &n.links[li], &n.msgs[mi]
	now := n.q.Now()
	l.freeAt = max(now+l.spec.Serial.Time(int64(m.bytes)), m.tail)
	l.served = n.from(m)
	end := l.freeAt
	m.tail = end + l.latency
	if m.hop > 0 {
		n.release(m, end)
	}
	if m.hop == 0 {
		n.leaveSource(l, li, m, end)
		m = &n.msgs[mi]
	}
	if m.last() {
		n.q.Post(des.Event{Time: m.tail, Key: n.key(l, li, des.Arrive), Target: Target(kindDeliver, 0), Arg: mi})
		return
	}
	n.bufs[bi].held += int64(m.bytes)
	m.hop++
	m.arrived = now + l.latency
	next := uint32(n.hops[m.route.first+uint32(m.hop)].Link)
	n.q.Post(des.Event{Time: m.arrived, Key: n.key(l, li, des.Arrive), Target: Target(kindArrive, next), Arg: mi})
}

// release gives back the buffer that m came from, at the time its tail leaves.
func (n *Fabric) release(m *message, at unit.Time) {
	h := n.hops[m.route.first+uint32(m.hop)-1]
	pl := &n.links[h.Link]
	b := &n.bufs[pl.bufs+uint32(m.class)*uint32(max(1, pl.spec.Channels))+uint32(h.Channel)]
	if len(b.releases) == cap(b.releases) {
		b.settle(n.q.Now())
	}
	b.releases = append(b.releases, release{at, int64(m.bytes)})
	for i := len(b.releases) - 1; i > 0 && b.releases[i-1].at > at; i-- {
		b.releases[i], b.releases[i-1] = b.releases[i-1], b.releases[i]
	}
	if b.blocked {
		b.blocked = false
		n.schedule(uint32(h.Link))
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
	n.enter(l, li, i, end)
}

// enter brings a message to the near end of its first link at a time to come.
func (n *Fabric) enter(l *link, li, mi uint32, at unit.Time) {
	m := &n.msgs[mi]
	m.arrived, m.tail, m.hop = at, at, 0
	n.q.Post(des.Event{Time: at, Key: n.key(l, li, des.Arrive), Target: Target(kindArrive, li), Arg: mi})
}

// standInLine puts a message behind a longer transfer of its source, if there is one. A
// transfer of several messages without one before it starts a line.
func (n *Fabric) standInLine(l *link, li, mi uint32) bool {
	m := &n.msgs[mi]
	key := line{li, m.source, m.class}
	behind, ok := n.lines[key]
	if ok {
		n.lines[key] = append(behind, mi)
		return true
	}
	if m.left > 0 {
		n.lines[key] = nil
		l.lines++
		m.inLine = true
	}
	return false
}

// nextInLine lets the next message of a line come when the last of the transfer before
// it has left.
func (n *Fabric) nextInLine(l *link, li uint32, m *message, end unit.Time) {
	key := line{li, m.source, m.class}
	behind := n.lines[key]
	if len(behind) == 0 {
		delete(n.lines, key)
		l.lines--
		return
	}
	next := behind[0]
	n.lines[key] = behind[1:]
	n.msgs[next].inLine = true
	n.enter(l, li, next, end)
}
