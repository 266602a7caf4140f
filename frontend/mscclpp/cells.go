package mscclpp

import (
	"fmt"
	"slices"
)

// cells cuts buffers into the pieces that operations treat as one. No operation begins or ends
// within a piece. Where bytes are copied, pieces at both ends match. Input and output of all ranks
// are cut alike, every period bytes, so that a piece of one names one of another.
type cells struct {
	period  int64         // of user buffers
	user    *cuts         // of [0, period)
	scratch map[int]*cuts // of each rank
}

// cuts are places in a buffer, ascending.
type cuts struct {
	at    []int64
	fresh []int64 // not yet in at
	has   map[int64]bool
}

func newCuts(places ...int64) *cuts {
	c := &cuts{has: map[int64]bool{}}
	for _, p := range places {
		c.add(p)
	}
	c.settle()
	return c
}

// add reports whether the place is new.
func (c *cuts) add(p int64) bool {
	if c.has[p] {
		return false
	}
	c.has[p] = true
	c.fresh = append(c.fresh, p)
	return true
}

// settle accepts the added places.
func (c *cuts) settle() {
	c.at, c.fresh = append(c.at, c.fresh...), nil
	slices.Sort(c.at)
}

// cell returns the number of the piece that begins at a place.
func (c *cuts) cell(p int64) int {
	i, _ := slices.BinarySearch(c.at, p)
	return i
}

// mostCuts bounds the pieces of a plan.
const mostCuts = 1 << 18

// userOffset returns where a rank's view of a buffer begins in the memory that all ranks cut in the
// same form.
type userOffset func(rank int, b Buffer) int64

// cut finds the pieces. It goes over the actions until no end of a piece is new.
func (c *cells) cut(actions [][]action, offset userOffset) error {
	for {
		fresh, total := false, len(c.user.at)
		for _, list := range actions {
			for i := range list {
				if c.spread(&list[i], offset) {
					fresh = true
				}
			}
		}
		c.user.settle()
		for _, s := range c.scratch {
			s.settle()
			total += len(s.at)
		}
		if total > mostCuts {
			return fmt.Errorf("operations cut the buffers into more than %d pieces", mostCuts)
		}
		if !fresh {
			return nil
		}
	}
}

// spread adds to every range of an action the cuts of its other ranges, and reports whether
// any is new.
func (c *cells) spread(a *action, offset userOffset) bool {
	places := map[int64]bool{0: true, a.size: true}
	all := slices.Concat(a.src, a.dst)
	for _, s := range all {
		c.inside(s, a.size, offset, func(p int64) { places[p] = true })
	}
	fresh := false
	for _, s := range all {
		for p := range places {
			if c.put(s, p, offset) {
				fresh = true
			}
		}
	}
	return fresh
}

// inside calls do for each cut within a range, by its place in the payload.
func (c *cells) inside(s byteRange, size int64, offset userOffset, do func(int64)) {
	scale := int64(1)
	if s.packet {
		scale = 2
	}
	from, to := s.first, s.first+size*scale
	if s.buffer == Scratch {
		at := c.scratch[s.rank].at
		for _, p := range at[c.scratch[s.rank].cell(from):] {
			if p > to {
				break
			}
			do((p - from) / scale)
		}
		return
	}
	base := offset(s.rank, s.buffer)
	from, to = from+base, to+base
	for start := from / c.period * c.period; start <= to; start += c.period {
		for _, p := range c.user.at {
			if p += start; p >= from && p <= to {
				do((p - from) / scale)
			}
		}
	}
}

// put cuts a range at a place in the payload. It reports whether it could.
func (c *cells) put(s byteRange, p int64, offset userOffset) bool {
	if s.packet {
		p *= 2
	}
	if s.buffer == Scratch {
		return c.scratch[s.rank].add(s.first + p)
	}
	return c.user.add((offset(s.rank, s.buffer) + s.first + p) % c.period)
}

// userCell returns the number of the piece of user memory that begins at a place.
func (c *cells) userCell(p int64) int {
	return int(p/c.period)*len(c.user.at) + c.user.cell(p%c.period)
}

// sizesOf lists the bytes of each piece up to the end of the buffer.
func (c *cuts) sizesOf(end int64) []int64 {
	var out []int64
	for i, p := range c.at {
		next := end
		if i+1 < len(c.at) {
			next = c.at[i+1]
		}
		if p < end {
			out = append(out, next-p)
		}
	}
	return out
}
