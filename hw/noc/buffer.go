package noc

import "kernbench/unit"

// This file accounts for the space in input buffers. A buffer is known by a number: see into.

// release is space that a buffer gets back. The two earliest ones of a buffer are in the buffer. If
// there are more, those from the second on are a list, and the buffer names the first of it.
type release struct {
	at    unit.Time
	bytes int32
	next  uint32 // of the list, or of the unused ones; 0: none
	last  uint32 // of the list, at its first one
}

// fits reports whether a buffer has space for a message at a time.
func (n *Fabric) fits(i uint32, bytes int32, now unit.Time) bool {
	b := n.buffer(i)
	space := n.kinds[b.kind].space - bytes
	if b.held > space {
		n.settle(i, now)
	}
	return b.held <= space
}

// fill counts a message that starts into a buffer at a time. No later call is for an earlier time: messages
// start into a buffer one after the other, over one link.
func (n *Fabric) fill(i uint32, bytes int32, now unit.Time) {
	n.settle(i, now)
	n.buffer(i).held += bytes
}

// settle counts out what has been released by now.
func (n *Fabric) settle(i uint32, now unit.Time) {
	b := n.buffer(i)
	for b.first[0] <= now {
		b.held -= b.part[0]
		b.first[0], b.part[0] = b.first[1], b.part[1]
		b.first[1] = never
		if b.flags&overflowed != 0 {
			b.part[0] = n.popOverflow(b)
		}
	}
}

// popOverflow takes the first of the releases in a list out, which is of so many bytes. When one is left,
// the buffer has it itself.
func (n *Fabric) popOverflow(b *buffer) (bytes int32) {
	i := uint32(b.part[1])
	r := n.overflow[i]
	n.unused(i)
	next := &n.overflow[r.next]
	b.first[1], b.part[1] = next.at, int32(r.next)
	if next.last = r.last; r.next == r.last {
		b.part[1] = next.bytes
		b.flags &^= overflowed
		n.unused(r.next)
	}
	return r.bytes
}

func (n *Fabric) unused(i uint32) { n.overflow[i].next, n.overflowFree = n.overflowFree, i }

// spaceAt is when a message that does not fit will, as far as is known; never if unknown.
func (n *Fabric) spaceAt(i uint32, bytes int32, now unit.Time) unit.Time {
	if n.fits(i, bytes, now) {
		return now
	}
	b := n.buffer(i)
	over := int64(b.held) + int64(bytes) - int64(n.kinds[b.kind].space)
	if over -= int64(b.part[0]); over <= 0 || b.first[0] == never {
		return b.first[0]
	}
	if b.flags&overflowed == 0 {
		if over <= int64(b.part[1]) {
			return b.first[1]
		}
		return never
	}
	for k := uint32(b.part[1]); k != 0; k = n.overflow[k].next {
		if over -= int64(n.overflow[k].bytes); over <= 0 {
			return n.overflow[k].at
		}
	}
	return never
}

// release gives back the buffer that m came from, at the time its tail leaves.
func (n *Fabric) release(m *message, at unit.Time) {
	if m.in != nowhere {
		n.giveBack(m.in, m.bytes, at)
	}
}

// giveBack releases room in a buffer at a time.
func (n *Fabric) giveBack(in uint32, bytes int32, at unit.Time) {
	b := n.buffer(in)
	if at < b.first[0] {
		at, b.first[0], bytes, b.part[0] = b.first[0], at, b.part[0], bytes
	}
	switch {
	case at == never:
	case b.first[1] == never:
		b.first[1], b.part[1] = at, bytes
	default:
		n.pushOverflow(b, at, bytes)
	}
	if b.flags&blocked != 0 {
		li := in
		if li >= isVC {
			li = n.vcs[li-isVC].link
		}
		b.block(false)
		n.schedule(li)
	}
	n.checkBuffer(in)
}

// pushOverflow keeps a release for which there is no place in the buffer itself.
func (n *Fabric) pushOverflow(b *buffer, at unit.Time, bytes int32) {
	if b.flags&overflowed == 0 {
		b.flags |= overflowed
		i := n.newRelease(b.first[1], b.part[1])
		n.overflow[i].last = i
		b.part[1] = int32(i)
	}
	i, first := n.newRelease(at, bytes), uint32(b.part[1])
	switch last := n.overflow[first].last; {
	case at >= n.overflow[last].at:
		n.overflow[last].next, n.overflow[first].last = i, i
	case at < n.overflow[first].at:
		n.overflow[i].next, n.overflow[i].last = first, last
		b.first[1], b.part[1] = at, int32(i)
	default:
		for n.overflow[n.overflow[first].next].at <= at {
			first = n.overflow[first].next
		}
		n.overflow[i].next, n.overflow[first].next = n.overflow[first].next, i
	}
}

func (n *Fabric) newRelease(at unit.Time, bytes int32) uint32 {
	i := n.overflowFree
	if i == 0 {
		i = uint32(len(n.overflow))
		n.overflow = append(grown(n.overflow), release{})
	}
	n.overflowFree = n.overflow[i].next
	n.overflow[i] = release{at: at, bytes: bytes}
	return i
}
