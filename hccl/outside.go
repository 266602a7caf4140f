package hccl

import (
	"fmt"

	"kernbench/mem"
)

// region is memory whose extent the launch knows.
type region struct {
	from  mem.Addr
	bytes int64
	name  string
}

// regionOf is where an address lies: in what a device has of a buffer, or in the window of a
// group. Of other memory nothing is known.
func (s *session) regionOf(a mem.Addr) (region, bool) {
	in := func(r region) bool { return a >= r.from && int64(a-r.from) < r.bytes }
	for i, refs := range s.buffers {
		for _, b := range refs {
			if r := (region{b.Addr, int64(b.Len()) * int64(b.DType.Size()), fmt.Sprintf("buffer %d", i)}); in(r) {
				return r, true
			}
		}
	}
	for _, g := range s.runs {
		w := g.comm.opts.Window
		for rank := 0; w != nil && rank < w.Team.Size(); rank++ {
			if r := (region{w.Addr(rank, 0), w.Layout.Bytes, "window " + w.Name}); in(r) {
				return r, true
			}
		}
	}
	return region{}, false
}

// outside tells what of elements [lo, hi) behind an address does not lie in the memory in
// which they begin, or "". what names the address.
func (s *session) outside(what string, at mem.Addr, lo, hi, size int) string {
	if lo >= hi {
		return ""
	}
	r, known := s.regionOf(at)
	if !known {
		// No memory goes on beyond its last address.
		r = region{at, int64(mem.MaxOffset) + 1 - at.Offset(), fmt.Sprintf("the memory of %v", at)}
	}
	have := (r.bytes - int64(at-r.from)) / int64(size)
	if int64(hi) <= have {
		return ""
	}
	return fmt.Sprintf("elements %d to %d from %s on are needed, and %s has %d from there on", lo, hi-1, what, r.name, have)
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
