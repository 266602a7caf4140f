package oplog

import (
	"kernbench/dtype"
	"kernbench/tl"
)

// Composite records the reads and the computation of a composite, with the current memory, and
// returns the value to store at its output. A scale after every K tile scales the sum, so it runs
// once, on the whole product, before the steps per output tile.
func (l *Log) Composite(o Origin, in *tl.Instr, c *tl.Context) tl.Value {
	p := in.Pipe
	n := p.M * p.N
	v, aOff := l.operand(o, &p.A, in.A, in.AOff, c)
	if p.Gemm {
		a := v
		b, bOff := l.operand(o, &p.B, in.B, in.BOff, c)
		v = l.Gemm(o, a, b, p.M, p.K, p.N, p.Type, aOff, bOff)
		if in.A == tl.None {
			l.Release(a)
		}
		if in.B == tl.None {
			l.Release(b)
		}
	}
	for _, scope := range [...]tl.Scope{tl.PerKTile, tl.PerOutputTile} {
		for i := range p.Epilogue {
			e := &p.Epilogue[i]
			if e.Scope != scope {
				continue
			}
			before := v
			switch e.Op {
			case tl.EpilogueScale:
				v = l.Elementwise(o, tl.MathBinaryScalar, dtype.Mul, before, 0, 0, n, 0, e.Factor, 0, p.Type)
			case tl.EpilogueReLU:
				v = l.Elementwise(o, tl.MathBinaryScalar, dtype.Max, before, 0, 0, n, 0, 0, 0, p.Type)
			case tl.EpilogueBias:
				bias := tl.DriverOf(c).Cell(p.BiasCell[i])
				v = l.Elementwise(o, tl.MathRowAdd, dtype.Add, before, bias.Value, bias.Off+e.BiasOff(), n, p.N, 0, 0, p.Type)
			}
			l.Release(before)
		}
	}
	return v
}

// operand returns the value of a composite's operand, and its first element: a cell's, or the
// current contents of memory.
func (l *Log) operand(o Origin, r *tl.Ref, cell, off int32, c *tl.Context) (v tl.Value, first int32) {
	if cell != tl.None {
		x := tl.DriverOf(c).Cell(cell)
		return x.Value, x.Off + off
	}
	v = l.NewValue()
	l.Load(o, v, 0, r.Len(), r.Len(), r.DType, r.Addr)
	return v, 0
}

// Gemm records the product of two values outside the instruction stream of a kernel: a
// composite's. Sizes are m×k and k×n, from an element on.
func (l *Log) Gemm(o Origin, a, b tl.Value, m, k, n int, t dtype.Type, aOff, bOff int32) tl.Value {
	v := l.NewValue()
	x := l.next(l.by(o))
	x.kind, x.typ, x.n, x.dst, x.a, x.b, x.aOff, x.bOff = recGemm, t, int32(m*n), v, a, b, aOff, bOff
	l.with(x, rest{outer: int32(m), axis: int32(k), inner: int32(n)})
	return v
}

// Elementwise records arithmetic on one value, or on it and a row, outside the
// instruction stream of a kernel: a composite's epilogue.
func (l *Log) Elementwise(o Origin, m tl.MathOp, op dtype.BinaryOp, a, b tl.Value, bOff int32, n, row int, f,
	g float64, t dtype.Type) tl.Value {
	v := l.NewValue()
	x := l.next(l.by(o))
	x.kind, x.math, x.sub, x.typ, x.from = recMath, m, uint8(op), t, t
	x.n, x.dst, x.a, x.b, x.bOff = int32(n), v, a, b, bOff
	l.with(x, rest{inner: int32(row), f: f, g: g})
	return v
}
