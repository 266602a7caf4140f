package tl

import (
	"fmt"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
)

// Ref names values in memory; it moves nothing.
func (c *Context) Ref(a mem.Addr, s Shape, t dtype.Type) Ref {
	c.checkType("ref", t)
	return Ref{a, s, t}
}

// Load starts a copy of what r names into scratch and returns at once; the first
// operation that needs the tensor waits for it. A reference may span several shards.
func (c *Context) Load(r Ref) Tensor {
	t := c.result("load", r.DType, r.Shape)
	if t.Len() == 0 {
		return t
	}
	c.transfer("load", OpLoad, r, t, 0)
	return t
}

// Store starts a copy of t to the place that r names and returns at once. Shape may
// differ as long as type and number of elements agree.
func (c *Context) Store(r Ref, t Tensor) {
	c.use("store", t)
	if r.DType != t.dtype || r.Len() != t.Len() {
		c.misuse("store", fmt.Sprintf("the destination is %s, the tensor %s", describe(r.DType, r.Shape), describe(t.dtype, t.shape)))
	}
	if t.Len() == 0 {
		return
	}
	c.transfer("store", OpStore, r, t, t.off)
}

// transfer emits one instruction for each contiguous piece of r.
func (c *Context) transfer(op string, kind Op, r Ref, t Tensor, off int32) {
	size := int64(r.DType.Size())
	a, left := r.Addr, r.Bytes()
	pa, n, ok := c.resolve(a)
	pieces := 1
	if !ok || n < left || pa.Offset()%size != 0 { // not the plain case of one aligned piece
		pieces = c.pieces(op, r)
	}
	for k := range pieces {
		if k > 0 {
			pa, n, _ = c.resolve(a)
		}
		n = min(n, left)
		c.in = Instr{
			Op: kind, Type: r.DType, Dst: None, A: None, B: None, C: None,
			N: int(n / size), Shape: r.Shape, Addr: pa, Piece: k, Pieces: pieces,
		}
		if kind == OpLoad {
			c.in.Dst, c.in.DstOff = t.cell, off
		} else {
			c.in.A, c.in.AOff = t.cell, off
		}
		c.countAccess(kind, pa, n)
		c.do()
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
func (c *Context) pieces(op string, r Ref) int {
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

func (c *Context) badAddress(op string, r Ref, reason string) {
	c.Fail(&fault.BadAddress{Place: c.Place(op), Addr: r.Addr.String(), Bytes: r.Bytes(), Reason: reason})
}

// Copy moves memory to memory through the PE: a load and a store.
func (c *Context) Copy(dst, src Ref) {
	t := c.Load(src)
	c.Store(dst, t)
	c.Free(t)
}
