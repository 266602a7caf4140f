// Package buffer accounts for the space in the input buffers of links: their contents, and the
// times of coming releases. A Buffer fills half a cache line and holds no pointer. Releases beyond
// the second are in a Pool, which the buffers of a fabric share.
//
// It may import unit. Start at Buffer.
package buffer

import "kernbench/unit"

// Never is later than all other times.
const Never = unit.MaxTime

// Buffer is the input buffer at the far end of a link.
type Buffer struct {
	first [2]unit.Time // when the earliest releases are; Never where there are none
	part  [2]int32     // bytes of them; of the second, if there are further ones, minus its number in the Pool
	held  int32        // bytes, including those whose release lies ahead

	// These are the owner's.
	Kind  uint16
	VC    uint8
	Flags uint8
}

// Pool holds the releases that do not fit into the buffers themselves: for each buffer a list, from
// its second release on. The zero Pool is empty.
type Pool struct {
	list []release // number 0 is none
	free uint32    // list of unused ones, by next
}

// release is space that a buffer gets back.
type release struct {
	at    unit.Time
	bytes int32
	next  uint32 // of the list, or of the unused ones; 0: none
	last  uint32 // of the list, at its first one
}

// Empty returns a buffer that holds nothing.
func Empty(kind uint16, vc uint8) Buffer {
	return Buffer{first: [2]unit.Time{Never, Never}, Kind: kind, VC: vc}
}

// Held returns the bytes in a buffer, including those whose release lies ahead.
func (b *Buffer) Held() int32 { return b.held }

// overflows reports whether there are releases in the pool.
func (b *Buffer) overflows() bool { return b.part[1] < 0 }

// Fits reports whether a buffer with so much space can take a message at a time.
func (b *Buffer) Fits(p *Pool, space, bytes int32, now unit.Time) bool {
	if b.held > space-bytes {
		b.settle(p, now)
	}
	return b.held <= space-bytes
}

// Enter is Fill of a message for which there is space then. It reports whether there is.
func (b *Buffer) Enter(p *Pool, space, bytes int32, at unit.Time) bool {
	if b.first[0] <= at {
		b.settle(p, at)
	}
	if b.held > space-bytes {
		return false
	}
	b.held += bytes
	return true
}

// Fill counts a message that starts into a buffer at a time. No later call is for an earlier time:
// messages start into a buffer one after the other, over one link.
func (b *Buffer) Fill(p *Pool, bytes int32, now unit.Time) {
	b.settle(p, now)
	b.held += bytes
}

// settle subtracts the releases up to now.
func (b *Buffer) settle(p *Pool, now unit.Time) {
	for b.first[0] <= now {
		b.held -= b.part[0]
		b.first[0], b.part[0] = b.first[1], b.part[1]
		b.first[1] = Never
		if b.part[0] < 0 {
			b.part[0] = p.pop(b)
		}
	}
}

// pop takes the first release of a buffer out of the pool, and returns its bytes. If one release is
// left, pop moves it into the buffer.
func (p *Pool) pop(b *Buffer) (bytes int32) {
	i := uint32(-b.part[1])
	r := p.list[i]
	p.unused(i)
	next := &p.list[r.next]
	b.first[1], b.part[1] = next.at, -int32(r.next)
	if next.last = r.last; r.next == r.last {
		b.part[1] = next.bytes
		p.unused(r.next)
	}
	return r.bytes
}

func (p *Pool) unused(i uint32) { p.list[i].next, p.free = p.free, i }

// SpaceAt returns the time at which a buffer can take a message, or Never if it is unknown.
func (b *Buffer) SpaceAt(p *Pool, space, bytes int32, now unit.Time) unit.Time {
	if b.Fits(p, space, bytes, now) {
		return now
	}
	over := int64(b.held) + int64(bytes) - int64(space)
	if over -= int64(b.part[0]); over <= 0 || b.first[0] == Never {
		return b.first[0]
	}
	if !b.overflows() {
		if over <= int64(b.part[1]) {
			return b.first[1]
		}
		return Never
	}
	for k := uint32(-b.part[1]); k != 0; k = p.list[k].next {
		if over -= int64(p.list[k].bytes); over <= 0 {
			return p.list[k].at
		}
	}
	return Never
}

// Release gives space in a buffer back at a time.
func (b *Buffer) Release(p *Pool, bytes int32, at unit.Time) {
	if at < b.first[0] {
		at, b.first[0], bytes, b.part[0] = b.first[0], at, b.part[0], bytes
	}
	switch {
	case at == Never:
	case b.first[1] == Never:
		b.first[1], b.part[1] = at, bytes
	default:
		p.push(b, at, bytes)
	}
}

// push keeps a release for which there is no place in the buffer itself.
func (p *Pool) push(b *Buffer, at unit.Time, bytes int32) {
	if !b.overflows() {
		i := p.add(b.first[1], b.part[1])
		p.list[i].last = i
		b.part[1] = -int32(i)
	}
	i, first := p.add(at, bytes), uint32(-b.part[1])
	switch last := p.list[first].last; {
	case at >= p.list[last].at:
		p.list[last].next, p.list[first].last = i, i
	case at < p.list[first].at:
		p.list[i].next, p.list[i].last = first, last
		b.first[1], b.part[1] = at, -int32(i)
	default:
		for p.list[p.list[first].next].at <= at {
			first = p.list[first].next
		}
		p.list[i].next, p.list[first].next = p.list[first].next, i
	}
}

func (p *Pool) add(at unit.Time, bytes int32) uint32 {
	i := p.free
	if i == 0 {
		i = max(1, uint32(len(p.list)))
		p.list = append(p.list, make([]release, i+1-uint32(len(p.list)))...)
	}
	p.free = p.list[i].next
	p.list[i] = release{at: at, bytes: bytes}
	return i
}
