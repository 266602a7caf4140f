package hccl

import (
	"fmt"

	"kernbench/dtype"
	"kernbench/mem"
)

// region is memory of known extent: of a buffer, by its number, or of a part of a window.
type region struct {
	from   mem.Addr
	bytes  int64
	typ    dtype.Type // of the elements; of a window without a data part there: not valid
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

// regionOf returns the region of an address: a device's part of a buffer, or the window of a group.
// Other memory has no known region.
func (s *session) regionOf(a mem.Addr) (region, bool) {
	for i, refs := range s.buffers {
		for _, b := range refs {
			if r := (region{from: b.Addr, bytes: int64(b.Len()) * int64(b.DType.Size()), typ: b.DType, buffer: i}); r.has(a) {
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

// inPart returns the part of a window's copy that contains an address. Control words, and memory
// between parts, cannot hold data.
func (r region) inPart(a mem.Addr) region {
	off := int64(a - r.from)
	for i := range r.window.Layout.Parts {
		p := &r.window.Layout.Parts[i]
		if off < p.Off || off >= p.Off+p.Bytes() {
			continue
		}
		r.part = p
		if p.Word == mem.NoWord {
			r.from, r.bytes, r.typ = r.from+mem.Addr(p.Off), p.Bytes(), p.Type
			return r
		}
	}
	r.from, r.bytes = a, 0
	return r
}

// area is memory that a task uses: elements lo to hi-1 after an address.
type area struct {
	what   string // the address, as the call names it
	at     mem.Addr
	lo, hi int
}

// areas returns the memory that all turns of a task read and write.
func (t *task) areas() []area {
	last := t.repeat - 1
	send, recv := area{what: "sendBuf", at: t.send}, area{what: "recvBuf", at: t.recv}
	send.lo, send.hi = extent(t.inBlocks(0), t.inBlocks(last))
	recv.lo, recv.hi = extent(t.outBlocks(0), t.outBlocks(last))
	return []area{send, recv}
}

// unfit returns why elements of a type do not fit an area. Elements that are combined must have the
// type of the memory, elements that are copied its size.
func (s *session) unfit(a area, typ DataType, combines bool) (rule Rule, found, right string) {
	if a.lo >= a.hi {
		return "", "", ""
	}
	carrier, _ := typ.Carrier()
	r, known := s.regionOf(a.at)
	from, name := mem.Addr(0), fmt.Sprintf("the memory of %v", a.at)
	if known {
		from, name = r.from, r.String()
	}
	off := a.at - from
	if !known {
		off = mem.Addr(a.at.Offset())
	}
	switch size := typ.Size(); {
	case known && r.typ.Valid() && (r.typ.Size() != size || combines && r.typ != carrier):
		return TypesDiffer, fmt.Sprintf("%s is in %s, which holds %v, and the task has %v", a.what, name, r.typ, typ),
			"the data type of the buffer"
	case int64(off)%int64(size) != 0:
		return Misaligned, fmt.Sprintf("%s is at byte %d of %s, and elements of %v have %d", a.what, off, name, typ, size),
			fmt.Sprintf("a multiple of %d bytes", size)
	}
	return "", "", ""
}

// outside reports which elements of an area do not lie in the memory in which they begin.
func (s *session) outside(a area, size int) string {
	if a.lo >= a.hi {
		return ""
	}
	r, known := s.regionOf(a.at)
	have := (r.bytes - int64(a.at-r.from)) / int64(size)
	if !known { // no memory goes on beyond its last address
		have = (int64(mem.MaxOffset) + 1 - a.at.Offset()) / int64(size)
	}
	switch {
	case int64(a.hi) <= have:
		return ""
	case !known:
		return fmt.Sprintf("elements %d to %d from %s on are needed, and the memory of %v has %d from there on", a.lo,
			a.hi-1, a.what, a.at, have)
	}
	return fmt.Sprintf("elements %d to %d from %s on are needed, and %v has %d from there on", a.lo, a.hi-1, a.what, r, have)
}

// misplaced returns why elements of a type cannot be in an area: by their type, their alignment or
// their number.
func (s *session) misplaced(a area, typ DataType, combines bool) (rule Rule, found, right string) {
	if rule, found, right = s.unfit(a, typ, combines); rule != "" {
		return rule, found, right
	}
	if why := s.outside(a, typ.Size()); why != "" {
		return OutsideBuffer, why, "a larger buffer, or smaller counts, displacements, stride or repeat"
	}
	return "", "", ""
}

// extent returns the elements from those of the first turn to those of the last.
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
