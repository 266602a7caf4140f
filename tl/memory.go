package tl

import (
	"fmt"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
)

// lookups holds what was found last: a kernel keeps to a few shards and teams.
type lookups struct {
	near     mem.Run
	slice    mem.Addr // first of this PE's HBM
	lastTeam *mem.Team
	lastRank int // in lastTeam
}

// Ref names values in memory; it moves nothing.
func (c *Context) Ref(a mem.Addr, s Shape, t dtype.Type) Ref {
	c.checkType("ref", t)
	return Ref{a, s, t}
}

// Load starts a copy of what r names into scratch and returns at once; the first
// operation that needs the tensor waits for it. A reference may span several shards.
func (c *Context) Load(r Ref) (t Tensor) {
	c.result("load", r.DType, r.Shape, &t)
	if t.n == 0 {
		return t
	}
	if pa, ok := c.whole(&r, int(t.n)); ok {
		in := c.prepare(OpLoad, r.DType, int(t.n), r.Shape)
		in.Dst, in.Addr, in.Pieces = t.cell, pa, 1
		if pa-c.slice > mem.MaxOffset {
			c.elsewhere()
		}
		c.issue()
		return t
	}
	c.transfer("load", OpLoad, &r, &t)
	return t
}

// Store starts a copy of t to the place that r names and returns at once. Shape may
// differ as long as type and number of elements agree.
func (c *Context) Store(r Ref, t Tensor) {
	if !c.live(&t) {
		c.unusable("store", &t)
	}
	if r.DType != t.dtype || r.Shape.Elems() != int(t.n) {
		c.misuse("store", fmt.Sprintf("the destination is %s, the tensor %s", describe(r.DType, r.Shape), describe(t.dtype, t.shape)))
	}
	if t.n == 0 {
		return
	}
	if pa, ok := c.whole(&r, int(t.n)); ok {
		in := c.prepare(OpStore, r.DType, int(t.n), r.Shape)
		in.A, in.AOff, in.Addr, in.Pieces = t.cell, t.off, pa, 1
		if pa-c.slice > mem.MaxOffset {
			c.elsewhere()
		}
		c.issue()
		return
	}
	c.transfer("store", OpStore, &r, &t)
}

// whole returns the address of n elements in the simple case: one aligned piece of the memory used
// last.
func (c *Context) whole(r *Ref, n int) (pa mem.Addr, ok bool) {
	off, size := r.Addr-c.near.From, r.DType.Size()
	pa = c.near.At + off
	end := off + mem.Addr(n*size)
	return pa, off < end && end <= c.near.To-c.near.From && int(pa)&(size-1) == 0 // sizes are powers of 2
}

// elsewhere counts a load or store of memory that is not this PE's.
func (c *Context) elsewhere() { c.countAccess(c.in.Op, c.in.Addr, c.in.Bytes()) }

// transfer emits one instruction for each contiguous piece of r.
func (c *Context) transfer(op string, kind Op, r *Ref, t *Tensor) {
	size, a, left, off := int64(r.DType.Size()), r.Addr, r.Bytes(), t.off
	pieces := c.pieces(op, r)
	for k := range pieces {
		pa, n, _ := c.resolve(a)
		n = min(n, left)
		in := c.prepare(kind, r.DType, int(n/size), r.Shape)
		in.Addr, in.Piece, in.Pieces = pa, k, pieces
		if kind == OpLoad {
			in.Dst, in.DstOff = t.cell, off
		} else {
			in.A, in.AOff = t.cell, off
		}
		c.countAccess(kind, pa, n)
		c.issue()
		a, left, off = a+mem.Addr(n), left-n, off+int32(n/size)
	}
}

// resolve finds the physical address that this PE means, and how many bytes from there
// on are contiguous.
func (c *Context) resolve(a mem.Addr) (pa mem.Addr, contiguous int64, ok bool) {
	if !c.near.Has(a) {
		r, ok := c.addrs.Find(c.pe, a)
		if !ok {
			return 0, 0, false
		}
		c.near = r
	}
	pa, contiguous = c.near.Resolve(a)
	return pa, contiguous, true
}

// pieces counts the shards that r spans and checks that all of it is mapped and aligned.
func (c *Context) pieces(op string, r *Ref) int {
	c.check(op, r.DType, r.Shape)
	size := int64(r.DType.Size())
	a, left, k := r.Addr, r.Bytes(), 0
	for left > 0 {
		pa, n, ok := c.resolve(a)
		if !ok {
			where := "there"
			if a != r.Addr {
				where = fmt.Sprintf("from %v on", a)
			}
			c.badAddress(op, r, fmt.Sprintf("nothing is mapped %s for this PE", where))
		}
		n = min(n, left)
		if pa.Offset()%size != 0 || n%size != 0 {
			c.badAddress(op, r, fmt.Sprintf("%v elements must lie at multiples of %d bytes and within one shard", r.DType, size))
		}
		if n < left && a.Space() != mem.Virtual {
			c.badAddress(op, r, "beyond the end of the memory")
		}
		a, left, k = a+mem.Addr(n), left-n, k+1
	}
	return k
}

func (c *Context) badAddress(op string, r *Ref, reason string) {
	c.fail(&fault.BadAddress{Place: c.place(op), Addr: r.Addr.String(), At: uint64(r.Addr), Bytes: r.Bytes(), Reason: reason})
}

// Copy moves memory to memory through the PE: a load and a store.
func (c *Context) Copy(dst, src Ref) {
	t := c.Load(src)
	c.Store(dst, t)
	c.Free(t)
}
