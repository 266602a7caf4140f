package noc

import "kernbench/unit"

// This file is about the room in input buffers, which are known by number: see into.

type release struct {
	at    unit.Time
	bytes int64
}

// fits tells whether a message has room in a buffer at a time.
func (n *Fabric) fits(i uint32, bytes int32, now unit.Time) bool {
	b := n.buffer(i)
	room := n.kinds[b.kind].room - bytes
	if b.held > room {
		n.settle(i, now)
	}
	return b.held <= room
}

// settle takes out what has been released by now. The earliest releases stay in the
// buffer itself.
func (n *Fabric) settle(i uint32, now unit.Time) {
	b := n.buffer(i)
	for b.first[0] <= now {
		b.held -= b.part[0]
		b.first[0], b.part[0] = b.first[1], b.part[1]
		b.first[1] = never
		if b.flags&spilled != 0 {
			s := &n.spill[n.lanes[n.laneOf(i)].spill]
			b.first[1], b.part[1] = (*s)[0].at, int32((*s)[0].bytes)
			if *s = (*s)[:copy(*s, (*s)[1:])]; len(*s) == 0 {
				b.flags &^= spilled
			}
		}
	}
}

// roomAt is when a message that does not fit will, as far as is known; never if unknown.
func (n *Fabric) roomAt(i uint32, bytes int32, now unit.Time) unit.Time {
	if n.fits(i, bytes, now) {
		return now
	}
	b := n.buffer(i)
	over := int64(b.held) + int64(bytes) - int64(n.kinds[b.kind].room)
	for k, at := range b.first {
		if at == never {
			return never
		}
		if over -= int64(b.part[k]); over <= 0 {
			return at
		}
	}
	if b.flags&spilled != 0 {
		for _, r := range n.spill[n.lanes[n.laneOf(i)].spill] {
			if over -= r.bytes; over <= 0 {
				return r.at
			}
		}
	}
	return never
}

// release gives back the buffer that m came from, at the time its tail leaves.
func (n *Fabric) release(m *message, at unit.Time) {
	switch {
	case m.in == nowhere:
	case n.split && n.sideOf(m.via-1) != n.side:
		n.told = append(n.told, Crossing{message: message{in: m.in, bytes: m.bytes, arrived: at}, room: true})
	default:
		n.giveBack(m.in, m.bytes, at)
	}
}

// giveBack releases room in a buffer at a time.
func (n *Fabric) giveBack(in uint32, bytes int32, at unit.Time) {
	b := n.buffer(in)
	if b.first[1] != never {
		n.settle(in, n.q.Now())
	}
	if at < b.first[1] {
		at, b.first[1], bytes, b.part[1] = b.first[1], at, b.part[1], bytes
		if b.first[1] < b.first[0] {
			b.first[0], b.first[1], b.part[0], b.part[1] = b.first[1], b.first[0], b.part[1], b.part[0]
		}
	}
	if at != never {
		b = n.spillOver(in, release{at, int64(bytes)})
	}
	if b.flags&blocked != 0 {
		li := in
		if li >= aLane {
			li = n.lanes[li-aLane].link
		}
		n.block(&n.links[li], b, false)
		n.schedule(li)
	}
}

// spillOver keeps a release that comes after those in the buffer itself.
func (n *Fabric) spillOver(i uint32, r release) *buffer {
	l := &n.lanes[n.laneOf(i)]
	if l.spill == 0 {
		n.spill = append(n.spill, nil)
		l.spill = uint32(len(n.spill) - 1)
	}
	rest := append(n.spill[l.spill], r)
	for i := len(rest) - 1; i > 0 && rest[i-1].at > r.at; i-- {
		rest[i], rest[i-1] = rest[i-1], rest[i]
	}
	n.spill[l.spill] = rest
	b := n.buffer(i)
	b.flags |= spilled
	return b
}
