package tl

import (
	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/unit"
)

// scratch hands out the PE's scratch memory to results. A kernel need not free. When the cursor
// meets an old tensor, the tensor is skipped if it has been used since the cursor last passed.
// Otherwise it is reclaimed. This is the CLOCK approximation of least recently used. A reclaimed
// tensor that is used after all is a fault, never a wrong value. What a kernel frees in reverse
// order of making is reused at once.
//
// In-flight reads do not hold scratch: the DMA took its copy when the call returned.
type scratch struct {
	size, pos   int64
	first, hand int32 // blocks in address order; hand is the one at or after pos
	last        int32
	pinned      int64
	used        int64
}

// scratchCells are the tensors of a kernel, and the scratch memory that they lie in.
type scratchCells struct {
	scratch  scratch
	cells    []Cell
	freeCell int32
}

func (s *scratch) init(size int64) {
	*s = scratch{size: size, first: None, hand: None, last: None}
}

// newScratch makes a cell of n bytes. The operands of the instruction that is being made are not
// reclaimed for its result. An empty tensor takes a byte, so that blocks have an order.
func (c *Context) newScratch(op string, n int64) int32 {
	s := &c.scratch
	n = max(n, 1)
	end := s.size
	if s.hand != None {
		end = c.cells[s.hand].lo
	}
	if end-s.pos < n {
		c.makeSpace(op, n)
	}
	i := c.newCell(cellScratch)
	b := &c.cells[i]
	b.lo, b.n, b.used = s.pos, n, true
	s.used += n
	s.pos += n
	b.next = s.hand
	if s.hand == None {
		b.prev, s.last = s.last, i
	} else {
		h := &c.cells[s.hand]
		b.prev, h.prev = h.prev, i
	}
	if b.prev == None {
		s.first = i
	} else {
		c.cells[b.prev].next = i
	}
	return i
}

// makeSpace advances the hand until n bytes are free between the cursor and the next block.
func (c *Context) makeSpace(op string, n int64) {
	s := &c.scratch
	turns := 0
	for {
		end := s.size
		if s.hand != None {
			end = c.cells[s.hand].lo
		}
		if end-s.pos >= n {
			return
		}
		if s.hand == None {
			if turns++; turns > 2 {
				c.fail(&fault.ScratchFull{Place: c.place(op), Need: unit.Bytes(n), Have: unit.Bytes(s.size), Pinned: unit.Bytes(s.pinned)})
			}
			s.pos, s.hand = 0, s.first
			continue
		}
		b := &c.cells[s.hand]
		if b.used || b.pinned || b.call == c.seen.Calls {
			b.used = false
			s.pos, s.hand = b.lo+b.n, b.next
			continue
		}
		reclaimed := s.hand
		c.kill(reclaimed)
		c.cells[reclaimed].reclaimed = true
	}
}

// ScratchBytes returns the size of the PE's scratch memory, which all results of a kernel share.
func (c *Context) ScratchBytes() int64 { return c.scratch.size }

// ScratchUsed returns the bytes of tensors that have not been reclaimed or freed.
func (c *Context) ScratchUsed() int64 { return c.scratch.used }

// kill ends a scratch tensor and frees its memory.
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
	s.used -= b.n
	c.drop(i)
}

// drop releases a cell's value in the core and recycles the cell.
func (c *Context) drop(i int32) {
	if c.cells[i].Value != 0 {
		d := &c.dropped // all else in it stays zero
		d.Op, d.Dst, d.A, d.B, d.C = OpDrop, None, i, None, None
		c.core.Do(d)
	}
	b := &c.cells[i]
	b.Ready, b.Value, b.Off, b.Waiting, b.Slot, b.In, b.InSlot, b.Filled, b.state = 0, 0, 0, 0, 0, 0, false, false, cellFree
	b.used, b.pinned, b.reclaimed = false, false, false
	b.gen++
	b.next, c.freeCell = c.freeCell, i
}

func (c *Context) newCell(st cellState) int32 {
	i := c.freeCell
	if i == None {
		i = int32(len(c.cells))
		c.cells = append(c.cells, Cell{gen: 1, next: None})
	}
	b := &c.cells[i]
	b.state, b.call = st, 0
	c.freeCell = b.next
	return i
}

// Free gives the scratch of t back. It is never needed for correctness; loops over many
// steps keep a small footprint by freeing what they made, last made first. Freeing a
// received slot does nothing: the next receive ends it.
func (c *Context) Free(t Tensor) {
	if !c.live(&t) {
		c.unusable("free", &t)
	}
	if c.cells[t.cell].state == cellScratch {
		c.kill(t.cell)
	}
}

// Pin keeps t from being reclaimed however long it stays unused; Free ends it.
func (c *Context) Pin(t Tensor) {
	i := c.use("pin", &t)
	if b := &c.cells[i]; b.state == cellScratch && !b.pinned {
		b.pinned = true
		c.scratch.pinned += b.n
	}
}

// result makes the tensor that an instruction fills.
func (c *Context) result(op string, t dtype.Type, s Shape, r *Tensor) {
	n := s.Elems()
	if !t.Valid() || n > maxElems {
		c.check(op, t, s)
	}
	i := c.newScratch(op, int64(n)*int64(t.Size()))
	// By field: r is zero, and a literal would be made in addition to it and copied.
	r.cell, r.gen, r.pe, r.shape, r.n, r.dtype = i, c.cells[i].gen, int32(c.pe), s, int32(n), t
}

// maxElems is the most elements that a tensor can have.
const maxElems = 1<<31 - 1

// check rejects shapes and types that a tensor cannot have.
func (c *Context) check(op string, t dtype.Type, s Shape) {
	c.checkType(op, t)
	if s.Elems() > maxElems {
		c.misuse(op, "a tensor has at most 2147483647 elements")
	}
}

func (c *Context) checkType(op string, t dtype.Type) {
	if !t.Valid() {
		c.misuse(op, "no element type given")
	}
}

// use checks that t still exists and returns its cell.
func (c *Context) use(op string, t *Tensor) int32 {
	if !c.live(t) {
		c.unusable(op, t)
	}
	return t.cell
}

// live reports whether t still exists, and if so that it is used. The zero Tensor does not: cells
// have no generation 0.
func (c *Context) live(t *Tensor) bool {
	if int(t.pe) != c.pe || uint(t.cell) >= uint(len(c.cells)) {
		return false
	}
	b := &c.cells[t.cell]
	if b.gen != t.gen {
		return false
	}
	b.used, b.call = true, c.seen.Calls
	return true
}

func (c *Context) unusable(op string, t *Tensor) {
	if t.dtype == dtype.Invalid {
		c.misuse(op, "the operand is the zero Tensor: it was never loaded, received or computed")
	}
	if int(t.pe) != c.pe || int(t.cell) >= len(c.cells) {
		c.misuse(op, "the operand is a tensor of another rank or launch: what a rank needs of another must be sent")
	}
	if !t.slot {
		c.fail(&fault.UseAfterFree{
			Place: c.place(op), Tensor: describe(t.dtype, t.shape),
			Reclaimed: c.cells[t.cell].reclaimed, Scratch: unit.Bytes(c.scratch.size),
		})
	}
	c.fail(c.useAfterCredit(op, t))
}
