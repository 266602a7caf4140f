package hccl

import (
	"fmt"

	"kernbench/mem"
)

// region is memory whose extent the launch knows: a buffer's, by its number, or a window's part.
type region struct {
	from   mem.Addr
	bytes  int64
	buffer int
	window *mem.Window
	part   *mem.Part
}

func (r region) has(a mem.Addr) bool { return a >= r.from && int64(a-r.from) < r.bytes }

func (r region) String() string {
	switch {
	case r.window == nil:
	case r.part == nil:
		return "window " + r.window.Name
	case r.part.Word != mem.NoWord:
		return fmt.Sprintf("window %s, which has words at %s,", r.window.Name, r.part.FullName())
	default:
		return r.part.FullName() + " of window " + r.window.Name
	}
	return fmt.Sprintf("buffer %d", r.buffer)
}

// regionOf is where an address lies: in what a device has of a buffer, or in the window of a
// group. Of other memory nothing is known.
func (s *session) regionOf(a mem.Addr) (region, bool) {
	for i, refs := range s.buffers {
		for _, b := range refs {
			if r := (region{from: b.Addr, bytes: int64(b.Len()) * int64(b.DType.Size()), buffer: i}); r.has(a) {
				return r, true
			}
		}
	}
	for _, g := range s.runs {
		w := g.comm.opts.Window
		for rank := 0; w != nil && rank < w.Team.Size(); rank++ {
			if r := (region{from: w.Addr(rank, 0), bytes: w.Layout.Bytes, window: w}); r.has(a) {
				return r.inPart(a), true
			}
		}
	}
	return region{}, false
}

// inPart is the part of a window's copy that an address lies in. Of control words and of what is
// between parts it has nothing for data.
func (r region) inPart(a mem.Addr) region {
	off := int64(a - r.from)
	for i := range r.window.Layout.Parts {
		p := &r.window.Layout.Parts[i]
		if off < p.Off || off >= p.Off+p.Bytes() {
			continue
		}
		r.part = p
		if p.Word == mem.NoWord {
			r.from, r.bytes = r.from+mem.Addr(p.Off), p.Bytes()
			return r
		}
	}
	r.from, r.bytes = a, 0
	return r
}

// outside tells what of elements [lo, hi) behind an address does not lie in the memory in
// which they begin, or "". what names the address.
func (s *session) outside(what string, at mem.Addr, lo, hi, size int) string {
	if lo >= hi {
		return ""
	}
	r, known := s.regionOf(at)
	have := (r.bytes - int64(at-r.from)) / int64(size)
	if !known { // no memory goes on beyond its last address
		have = (int64(mem.MaxOffset) + 1 - at.Offset()) / int64(size)
	}
	switch {
	case int64(hi) <= have:
		return ""
	case !known:
		return fmt.Sprintf("elements %d to %d from %s on are needed, and the memory of %v has %d from there on", lo, hi-1, what, at, have)
	}
	return fmt.Sprintf("elements %d to %d from %s on are needed, and %v has %d from there on", lo, hi-1, what, r, have)
}

// beyond is outside for all turns of a task.
func (t *task) beyond(s *session) string {
	last := t.repeat - 1
	size := t.carrier.Size()
	lo, hi := extent(t.inBlocks(0), t.inBlocks(last))
	if why := s.outside("sendBuf", t.send, lo, hi, size); why != "" {
		return why
	}
	lo, hi = extent(t.outBlocks(0), t.outBlocks(last))
	return s.outside("recvBuf", t.recv, lo, hi, size)
}

// extent is the elements from those of the first turn to those of the last.
func extent(first, last []mem.Chunk) (lo, hi int) {
	empty := true
	for j, b := range first {
		if b.N == 0 {
			continue
		}
		if empty || b.Lo < lo {
			lo = b.Lo
		}
		empty = false
		hi = max(hi, last[j].Lo+last[j].N)
	}
	return lo, hi
}
