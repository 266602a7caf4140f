package noc

import "kernbench/unit"

// This file is about the room in input buffers, which are known by number: see into.

// release is room that a buffer gets back. The earliest of a buffer is in the buffer itself, and the second too;
// where there are more, those from the second on are a list, whose first one the buffer names in its place.
type release struct {
	at    unit.Time
	bytes int32
	next  uint32 // of the list, or of those that nobody uses; 0: none
	last  uint32 // of the list, at its first one
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

// settle takes out what has been released by now.
func (n *Fabric) settle(i uint32, now unit.Time) {
	b := n.buffer(i)
	for b.first[0] <= now {
		b.held -= b.part[0]
		b.first[0], b.part[0] = b.first[1], b.part[1]
		b.first[1] = never
		if b.flags&spilled != 0 {
			b.part[0] = n.unspill(b)
		}
	}
}

// unspill takes the first of the releases in a list out, which is of so many bytes. When one is left,
// the buffer has it itself.
func (n *Fabric) unspill(b *buffer) (bytes int32) {
	i := uint32(b.part[1])
	r := n.spill[i]
	n.unused(i)
	next := &n.spill[r.next]
	b.first[1], b.part[1] = next.at, int32(r.next)
	if next.last = r.last; r.next == r.last {
		b.part[1] = next.bytes
		b.flags &^= spilled
		n.unused(r.next)
	}
	return r.bytes
}

func (n *Fabric) unused(i uint32) { n.spill[i].next, n.spillFree = n.spillFree, i }

// roomAt is when a message that does not fit will, as far as is known; never if unknown.
func (n *Fabric) roomAt(i uint32, bytes int32, now unit.Time) unit.Time {
	if n.fits(i, bytes, now) {
		return now
	}
	b := n.buffer(i)
	over := int64(b.held) + int64(bytes) - int64(n.kinds[b.kind].room)
	if over -= int64(b.part[0]); over <= 0 || b.first[0] == never {
		return b.first[0]
	}
	if b.flags&spilled == 0 {
		if over <= int64(b.part[1]) {
			return b.first[1]
		}
		return never
	}
	for k := uint32(b.part[1]); k != 0; k = n.spill[k].next {
		if over -= int64(n.spill[k].bytes); over <= 0 {
			return n.spill[k].at
		}
	}
	return never
}

// release gives back the buffer that m came from, at the time its tail leaves.
func (n *Fabric) release(m *message, at unit.Time) {
	foreign := m.foreign
	m.foreign = false
	switch {
	case m.in == nowhere:
	case foreign:
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
	if at < b.first[0] {
		at, b.first[0], bytes, b.part[0] = b.first[0], at, b.part[0], bytes
	}
	switch {
	case at == never:
	case b.first[1] == never:
		b.first[1], b.part[1] = at, bytes
	default:
		n.spillOver(b, at, bytes)
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

// spillOver keeps a release for which there is no place in the buffer itself.
func (n *Fabric) spillOver(b *buffer, at unit.Time, bytes int32) {
	if b.flags&spilled == 0 {
		b.flags |= spilled
		i := n.newRelease(b.first[1], b.part[1])
		n.spill[i].last = i
		b.part[1] = int32(i)
	}
	i, first := n.newRelease(at, bytes), uint32(b.part[1])
	switch last := n.spill[first].last; {
	case at >= n.spill[last].at:
		n.spill[last].next, n.spill[first].last = i, i
	case at < n.spill[first].at:
		n.spill[i].next, n.spill[i].last = first, last
		b.first[1], b.part[1] = at, int32(i)
	default:
		for n.spill[n.spill[first].next].at <= at {
			first = n.spill[first].next
		}
		n.spill[i].next, n.spill[first].next = n.spill[first].next, i
	}
}

func (n *Fabric) newRelease(at unit.Time, bytes int32) uint32 {
	i := n.spillFree
	if i == 0 {
		i = uint32(len(n.spill))
		n.spill = append(roomFor(n.spill), release{})
	}
	n.spillFree = n.spill[i].next
	n.spill[i] = release{at: at, bytes: bytes}
	return i
}

// takeSpill copies the list of a buffer from where another fabric keeps it.
func (n *Fabric) takeSpill(b *buffer, from []release) {
	if b.flags&spilled == 0 {
		return
	}
	k, first := uint32(b.part[1]), uint32(len(n.spill))
	for ; k != 0; k = from[k].next {
		r := from[k]
		if r.next != 0 {
			r.next = uint32(len(n.spill)) + 1
		}
		n.spill = append(n.spill, r)
	}
	n.spill[first].last = uint32(len(n.spill)) - 1
	b.part[1] = int32(first)
}
