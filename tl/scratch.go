package tl

import (
	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/unit"
)

// scratch hands out the PE's scratch memory to results. A kernel need not free: when the
// cursor meets an old tensor, one that has been used since the cursor last passed is
// skipped and one that has not is reclaimed (the CLOCK approximation of least recently
// used). A reclaimed tensor that is used after all is a fault, never a wrong value.
// What a kernel frees in reverse order of making is reused at once.
//
// In-flight reads do not hold scratch: the DMA took its copy when the call returned.
type scratch struct {
	size, pos   int64
	first, hand int32 // blocks in address order; hand is the one at or after pos
	last        int32
	pinned      int64
}

func (s *scratch) init(size int64) {
	*s = scratch{size: size, first: None, hand: None, last: None}
}

// newScratch makes a cell with room for n bytes. The operands of the instruction that
// is being made are not reclaimed for its result. An empty tensor takes a byte, so that
// blocks have an order.
func (c *Context) newScratch(op string, n int64) int32 {
	s := &c.scratch
	n = max(n, 1)
	turns := 0
	for {
		end := s.size
		if s.hand != None {
			end = c.cells[s.hand].lo
		}
		if end-s.pos >= n {
			break
		}
		if s.hand == None {
			if turns++; turns > 2 {
				c.Fail(&fault.ScratchFull{Place: c.Place(op), Need: unit.Bytes(n), Have: unit.Bytes(s.size), Pinned: unit.Bytes(s.pinned)})
			}
			s.pos, s.hand = 0, s.first
			continue
		}
		b := &c.cells[s.hand]
		if b.used || b.pinned || b.call == c.calls {
			b.used = false
			s.pos, s.hand = b.lo+b.n, b.next
			continue
		}
		reclaimed := s.hand
		c.kill(reclaimed)
		c.cells[reclaimed].reclaimed = true
	}
	i := c.newCell(cellScratch)
	b := &c.cells[i]
	b.lo, b.n, b.used = s.pos, n, true
	s.pos += n
	b.next = s.hand
	if s.hand == None {
		b.prev, s.last = s.last, i
	} else {
		b.prev = c.cells[s.hand].prev
		c.cells[s.hand].prev = i
	}
	if b.prev == None {
		s.first = i
	} else {
		c.cells[b.prev].next = i
	}
	return i
}

// ScratchBytes is the size of the PE's scratch memory, which all results of a kernel share.
func (c *Context) ScratchBytes() int64 { return c.scratch.size }

// kill ends a scratch tensor and gives its room back.
func (c *Context) kill(i int32) {
	s, b := &c.scratch, &c.cells[i]
	if b.prev == None {
		s.first = b.next
	} else {
		c.cells[b.prev].next = b.next
	}
	if b.next == None {
		s.last = b.prev
	} else {
		c.cells[b.next].prev = b.prev
	}
	if s.hand == i {
		s.hand = b.next
	} else if b.lo+b.n == s.pos {
		s.pos = b.lo // freed in reverse order: the cursor steps back
	}
	if b.pinned {
		s.pinned -= b.n
	}
	c.drop(i)
}

// drop tells the core that a cell's value is done with and recycles the cell.
func (c *Context) drop(i int32) {
	if c.cells[i].Value != 0 {
		c.dropped = Instr{Op: OpDrop, Dst: None, A: i, B: None, C: None}
		c.core.Do(&c.dropped)
	}
	b := &c.cells[i]
	*b = Cell{gen: b.gen + 1, next: c.freeCell, prev: None}
	c.freeCell = i
}

func (c *Context) newCell(st cellState) int32 {
	if i := c.freeCell; i != None {
		b := &c.cells[i]
		c.freeCell = b.next
		*b = Cell{gen: b.gen, state: st, next: None, prev: None, reclaimed: b.reclaimed}
		return i
	}
	c.cells = append(c.cells, Cell{gen: 1, state: st, next: None, prev: None})
	return int32(len(c.cells) - 1)
}

// Free gives the scratch of t back. It is never needed for correctness; loops over many
// steps keep a small footprint by freeing what they made, last made first. Freeing a
// received slot does nothing: the next receive ends it.
func (c *Context) Free(t Tensor) {
	i := c.use("free", t)
	if c.cells[i].state == cellScratch {
		c.kill(i)
	}
}

// Pin keeps t from being reclaimed however long it stays unused; Free ends it.
func (c *Context) Pin(t Tensor) {
	i := c.use("pin", t)
	if b := &c.cells[i]; b.state == cellScratch && !b.pinned {
		b.pinned = true
		c.scratch.pinned += b.n
	}
}

// result makes the tensor that an instruction fills.
func (c *Context) result(op string, t dtype.Type, s Shape) Tensor {
	c.check(op, t, s)
	i := c.newScratch(op, int64(s.Elems())*int64(t.Size()))
	return Tensor{cell: i, gen: c.cells[i].gen, pe: int32(c.pe), shape: s, dtype: t}
}

// check refuses what no tensor can be, and no instruction can count.
func (c *Context) check(op string, t dtype.Type, s Shape) {
	c.checkType(op, t)
	if s.Elems() > 1<<31-1 {
		c.misuse(op, "a tensor has at most 2147483647 elements")
	}
}

func (c *Context) checkType(op string, t dtype.Type) {
	if !t.Valid() {
		c.misuse(op, "no element type given")
	}
}

// use checks that t still exists and returns its cell.
func (c *Context) use(op string, t Tensor) int32 {
	if t.dtype == dtype.Invalid {
		c.misuse(op, "the operand is the zero Tensor: it was never loaded, received or computed")
	}
	if int(t.pe) != c.pe || int(t.cell) >= len(c.cells) {
		c.misuse(op, "the operand is a tensor of another rank or launch: what a rank needs of another must be sent")
	}
	b := &c.cells[t.cell]
	if b.gen != t.gen {
		c.stale(op, t)
	}
	b.used, b.call = true, c.calls
	return t.cell
}

func (c *Context) stale(op string, t Tensor) {
	if !t.slot {
		c.Fail(&fault.UseAfterFree{
			Place: c.Place(op), Tensor: describe(t.dtype, t.shape),
			Reclaimed: c.cells[t.cell].reclaimed, Scratch: unit.Bytes(c.scratch.size),
		})
	}
	c.Fail(c.useAfterCredit(op, t))
}
