package tl

import (
	"fmt"

	"kernbench/dtype"
)

// Dot returns the matrix product of a (m×k) and b (k×n).
func (c *Context) Dot(a, b Tensor) (r Tensor) {
	ia, ib := c.use("dot", &a), c.use("dot", &b)
	m, k, n := c.matrices("dot", a.dtype, b.dtype, a.shape, b.shape)
	shape := Dims(m, n)
	c.result("dot", a.dtype, shape, &r)
	c.emit(&Instr{
		Op: OpGemm, Type: a.dtype, Dst: r.cell, A: ia, AOff: a.off, B: ib, BOff: b.off, C: None,
		N: m * n, Shape: shape, Outer: m, Axis: k, Inner: n,
	})
	return r
}

func (c *Context) matrices(op string, ta, tb dtype.Type, a, b Shape) (m, k, n int) {
	if ta != tb {
		c.misuse(op, fmt.Sprintf("operands are %v and %v: Convert one of them", ta, tb))
	}
	if a.Len() != 2 || b.Len() != 2 || a.Dim(1) != b.Dim(0) {
		c.misuse(op, fmt.Sprintf("cannot multiply shapes %v and %v: need m×k and k×n", a, b))
	}
	return a.Dim(0), a.Dim(1), b.Dim(1)
}

// EpilogueOp is a step that a composite applies to its output before it is stored.
type EpilogueOp uint8

// Epilogue steps.
const (
	EpilogueScale EpilogueOp = iota // times Factor
	EpilogueBias                    // plus the vector Bias, along each row
	EpilogueReLU                    // negative elements become 0
)

// Scope is the frequency at which an epilogue step runs.
type Scope uint8

// Scopes of epilogue steps.
const (
	PerOutputTile Scope = iota // once per tile of the output, before it is stored
	PerKTile                   // after every K tile's product (dequantisation)
)

// Epilogue is one step of a composite's epilogue.
type Epilogue struct {
	Op     EpilogueOp
	Scope  Scope
	Factor float64
	Bias   Tensor
}

// Composite describes a tiled pipeline from memory to memory that runs in parallel to the kernel.
// Tiles of the operands are loaded by DMA, are multiplied (or, without B, only pass the epilogue),
// and are stored by DMA. An operand of a product may be a tensor instead, LoadedA or LoadedB: its
// tiles are in the PE already. The product takes what it holds at the call.
type Composite struct {
	A, B             Ref // without B (the zero Ref) there is no product: Out = epilogue(A)
	LoadedA, LoadedB Tensor
	Out              Ref
	Epilogue         []Epilogue
}

// Handle is a pipeline, or a task of the communication engine, that has been started.
type Handle struct {
	cell int32
	gen  uint32
	ok   bool
}

// Pipe holds what a Core needs to run a composite: physical addresses and sizes. Operands that are
// tensors are A and B of the instruction, and no Ref.
type Pipe struct {
	Gemm     bool
	M, K, N  int // without Gemm: one row of N elements, M and K being 1
	Type     dtype.Type
	A, B     Ref // physical addresses
	Out      Ref
	Epilogue []Epilogue
	BiasCell []int32 // cell of each step's Bias, or None
}

// Composite starts a pipeline and returns at once; Await waits for its last tile.
// Operands must each lie in one shard.
func (c *Context) Composite(p Composite) Handle {
	in := Instr{Op: OpComposite, A: None, B: None, C: None}
	a := c.pipeOperand("A", p.A, &p.LoadedA, &in.A, &in.AOff)
	b := c.pipeOperand("B", p.B, &p.LoadedB, &in.B, &in.BOff)
	pipe := &Pipe{M: 1, K: 1, N: a.Len(), Type: a.DType, A: a, B: b, Epilogue: p.Epilogue}
	switch {
	case b.DType != dtype.Invalid:
		pipe.Gemm = true
		pipe.M, pipe.K, pipe.N = c.matrices("composite", a.DType, b.DType, a.Shape, b.Shape)
	case in.A != None:
		c.misuse("composite", "without B its operand lies in memory: use arithmetic and Store for a tensor")
	}
	if p.Out.DType != pipe.Type || p.Out.Len() != pipe.M*pipe.N {
		c.misuse("composite", fmt.Sprintf("the output is %s, the result %s", describe(p.Out.DType, p.Out.Shape),
			describe(pipe.Type, Dims(pipe.M, pipe.N))))
	}
	if in.A == None {
		pipe.A = c.physical("composite", a)
	}
	if pipe.Gemm && in.B == None {
		pipe.B = c.physical("composite", b)
	}
	pipe.Out = c.physical("composite", p.Out)
	for _, e := range p.Epilogue {
		cell := None
		if e.Scope == PerKTile && e.Op != EpilogueScale {
			c.misuse("composite", "only a scale can run after every K tile: a bias or relu there would act once per tile")
		}
		if e.Op == EpilogueBias {
			cell = c.use("composite", &e.Bias)
			if e.Bias.dtype != pipe.Type || e.Bias.Len() != pipe.N {
				c.misuse("composite", fmt.Sprintf("the bias is %s, a row has %s",
					describe(e.Bias.dtype, e.Bias.shape), describe(pipe.Type, Dims(pipe.N))))
			}
		}
		pipe.BiasCell = append(pipe.BiasCell, cell)
	}
	i := c.newCell(cellHandle)
	h := Handle{i, c.cells[i].gen, true}
	in.Type, in.Dst, in.N, in.Pipe = pipe.Type, i, pipe.M*pipe.N, pipe
	c.emit(&in)
	return h
}

// pipeOperand returns an operand of a composite. It is the place in memory, or the type and shape
// of a tensor, whose cell and first element are put into the instruction.
func (c *Context) pipeOperand(name string, r Ref, t *Tensor, cell, off *int32) Ref {
	if t.dtype == dtype.Invalid {
		return r
	}
	if r.DType != dtype.Invalid {
		c.misuse("composite", "both "+name+" and Loaded"+name+" are given: leave out one of them")
	}
	*cell, *off = c.use("composite", t), t.off
	return Ref{Shape: t.shape, DType: t.dtype}
}

// physical is r at the address where it lies, which must be one shard.
func (c *Context) physical(op string, r Ref) Ref {
	if n := c.pieces(op, &r); n != 1 {
		c.badAddress(op, &r, "an operand must lie in one shard and not be empty")
	}
	r.Addr, _, _ = c.resolve(r.Addr)
	return r
}

// BiasOff returns the first element of a step's bias within its cell.
func (e *Epilogue) BiasOff() int32 { return e.Bias.off }

// Await waits until the pipeline has stored its last tile, or until the task has ended. A
// handle is awaited once.
func (c *Context) Await(h Handle) {
	if !h.ok {
		c.misuse("wait", "the zero Handle: use what Composite or Post returned")
	}
	if c.cells[h.cell].gen != h.gen {
		c.misuse("wait", "it was waited for before")
	}
	c.emit(&Instr{Op: OpAwait, Dst: h.cell, A: None, B: None, C: None})
	c.drop(h.cell)
}
