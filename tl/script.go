package tl

import (
	"kernbench/dtype"
	"kernbench/mem"
)

// Script is what a kernel has issued, on a rank that does the same as others (Launch.Alike).
type Script struct{ lines []scripted }

// scripted is an instruction of it.
type scripted struct {
	op         Op
	math       MathOp
	by         dtype.BinaryOp
	port       int32
	aGen, bGen uint32
	a, b       int32 // cells
	aOff, bOff int32
	out        Tensor // that it makes; of others their length, type and shape
	scalar     float64
}

// Lines is how many instructions there are.
func (s *Script) Lines() int { return len(s.lines) }

// Write adds an instruction that a core is given by the rank's context.
func (s *Script) Write(c *Context, in *Instr) {
	k := scripted{
		op: in.Op, math: in.Math, by: in.Binary, port: int32(in.Port), a: in.A, b: in.B, aOff: in.AOff, bOff: in.BOff, scalar: in.Scalar,
		out: Tensor{cell: in.Dst, shape: in.Shape, n: int32(in.N), dtype: in.Type, slot: in.Op == OpRecv && !in.Copy, port: uint8(in.Port)},
	}
	if in.Dst != None {
		k.out.gen = c.cells[in.Dst].gen
	}
	if in.A != None {
		k.aGen = c.cells[in.A].gen
	}
	if in.B != None {
		k.bGen = c.cells[in.B].gen
	}
	s.lines = append(s.lines, k)
}

// Reading is how another rank runs the kernel with a script at hand, to find where it loads and stores
// and nothing else: it issues no instructions, but has each call agree with its line. A call that does not,
// or is none of the usual ones, ends the kernel (Strayed); what it does then shows when it is run without.
type Reading struct {
	Script *Script
	Next   int    // line
	Until  int    // line before which the kernel waits
	Wait   func() // until more is asked for, which moves Until

	At           []mem.Addr // takes the addresses,
	Place, Apart int        // the next one here, and so far from one to the next

	Cut     func(line int, second bool, off int32) // hears of operands that begin elsewhere in their tensors
	Strayed bool
}

// line is the next one.
func (c *Context) line(op Op) *scripted {
	r := c.reading
	for r.Next == r.Until {
		r.Wait()
	}
	k := &r.Script.lines[r.Next]
	if k.op != op {
		c.stray()
	}
	return k
}

// stray ends a kernel that does not keep to its script. It does not return.
func (c *Context) stray() { c.reading.Stray(c) }

// Stray is for a core that is given an instruction which is none of those that are read.
func (r *Reading) Stray(c *Context) {
	r.Strayed = true
	c.Abandon()
}

// operand has an operand agree with the line.
func (c *Context) operand(t *Tensor, cell int32, gen uint32, off int32, second bool) {
	if t.cell != cell || t.gen != gen {
		c.stray()
	}
	if t.off != off {
		c.reading.Cut(c.reading.Next, second, t.off)
	}
}

// place notes where the line at hand loads or stores.
func (c *Context) place(op string, r *Ref, k *scripted) {
	if r.DType != k.out.dtype || int32(r.Shape.Elems()) != k.out.n {
		c.stray()
	}
	pa, ok := c.whole(r, int(k.out.n))
	if !ok {
		if c.pieces(op, r) > 1 {
			c.stray()
		}
		pa, _, _ = c.resolve(r.Addr)
	}
	if pa-c.slice > mem.MaxOffset {
		c.stray()
	}
	d := c.reading
	d.At[d.Place] = pa
	d.Place += d.Apart
	d.Next++
}

func (c *Context) readLoad(r *Ref, t *Tensor) {
	k := c.line(OpLoad)
	if r.Shape != k.out.shape {
		c.stray()
	}
	c.place("load", r, k)
	*t = k.out
}

func (c *Context) readStore(r *Ref, t *Tensor) {
	k := c.line(OpStore)
	if t.n != k.out.n || t.dtype != k.out.dtype {
		c.stray()
	}
	c.operand(t, k.a, k.aGen, k.aOff, false)
	c.place("store", r, k)
}

func (c *Context) readSend(d Dir, t *Tensor) {
	k := c.line(OpSend)
	if c.wiring.OutIndex(d) != int(k.port) || t.shape != k.out.shape || t.dtype != k.out.dtype {
		c.stray()
	}
	c.operand(t, k.a, k.aGen, k.aOff, false)
	c.reading.Next++
}

func (c *Context) readRecv(d Dir, s Shape, t dtype.Type, r *Tensor) {
	k := c.line(OpRecv)
	if c.wiring.InIndex(d) != int(k.port) || s != k.out.shape || t != k.out.dtype {
		c.stray()
	}
	c.reading.Next++
	*r = k.out
}

func (c *Context) readBinary(op dtype.BinaryOp, a, b, r *Tensor) {
	k := c.line(OpMath)
	if k.math != MathBinary || k.by != op || a.n != b.n || a.n != k.out.n || a.dtype != k.out.dtype || b.dtype != a.dtype {
		c.stray()
	}
	c.operand(a, k.a, k.aGen, k.aOff, false)
	c.operand(b, k.b, k.bGen, k.bOff, true)
	c.reading.Next++
	*r = k.out
}

func (c *Context) readScale(op dtype.BinaryOp, t *Tensor, f float64, r *Tensor) {
	k := c.line(OpMath)
	if k.math != MathBinaryScalar || k.by != op || k.scalar != f || t.n != k.out.n || t.dtype != k.out.dtype {
		c.stray()
	}
	c.operand(t, k.a, k.aGen, k.aOff, false)
	c.reading.Next++
	*r = k.out
}
