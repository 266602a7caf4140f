package tl

import (
	"fmt"

	"kernbench/dtype"
)

// Add returns a + b, element by element. One operand may have a single element.
func (c *Context) Add(a, b Tensor) (r Tensor) {
	c.binary("add", dtype.Add, &a, &b, &r)
	return r
}

// Sub returns a - b.
func (c *Context) Sub(a, b Tensor) (r Tensor) {
	c.binary("sub", dtype.Sub, &a, &b, &r)
	return r
}

// Mul returns a × b.
func (c *Context) Mul(a, b Tensor) (r Tensor) {
	c.binary("mul", dtype.Mul, &a, &b, &r)
	return r
}

// Div returns a ÷ b.
func (c *Context) Div(a, b Tensor) (r Tensor) {
	c.binary("div", dtype.Div, &a, &b, &r)
	return r
}

// Maximum returns the larger of a and b.
func (c *Context) Maximum(a, b Tensor) (r Tensor) {
	c.binary("maximum", dtype.Max, &a, &b, &r)
	return r
}

// Minimum returns the smaller of a and b.
func (c *Context) Minimum(a, b Tensor) (r Tensor) {
	c.binary("minimum", dtype.Min, &a, &b, &r)
	return r
}

// Combine returns the operation by which a collective reduces: Add for sum and avg, Mul for
// prod, Maximum, Minimum. An average still needs Scale by 1/N at its end: see Finish.
func (c *Context) Combine(op ReduceOp, a, b Tensor) (r Tensor) {
	c.combinesBy("combine", op)
	c.binary(reduceOpNames[op], op.Binary(), &a, &b, &r)
	return r
}

func (c *Context) combinesBy(op string, by ReduceOp) {
	if by > Avg {
		c.misuse(op, fmt.Sprintf("%v: one of sum, prod, max, min, avg", by))
	}
}

// Binary returns the elementwise operation that combines two contributions.
func (o ReduceOp) Binary() dtype.BinaryOp {
	if int(o) < len(reduceBinaries) {
		return reduceBinaries[o]
	}
	return dtype.Add
}

var reduceBinaries = [...]dtype.BinaryOp{Sum: dtype.Add, Prod: dtype.Mul, Max: dtype.Max, Min: dtype.Min, Avg: dtype.Add}

// Finish turns the combination of n contributions into the result of a collective. For avg it
// divides by n, and for the other operations it is t itself.
func (c *Context) Finish(op ReduceOp, t Tensor, n int) Tensor {
	if op != Avg || n == 1 {
		return t
	}
	return c.Scale(dtype.Div, t, float64(n))
}

// Scale combines every element with a number: Scale(dtype.Mul, t, 0.5) halves them.
func (c *Context) Scale(op dtype.BinaryOp, t Tensor, f float64) (r Tensor) {
	i := c.use("scale", &t)
	c.result("scale", t.dtype, t.shape, &r)
	c.math(&Instr{Math: MathBinaryScalar, Binary: op, A: i, AOff: t.off, B: None, C: None, Scalar: f}, &r)
	return r
}

func (c *Context) binary(name string, op dtype.BinaryOp, a, b, r *Tensor) {
	if !c.live(a) {
		c.unusable(name, a)
	}
	if !c.live(b) {
		c.unusable(name, b)
	}
	if a.dtype != b.dtype {
		c.misuse(name, fmt.Sprintf("operands are %v and %v: Convert one of them", a.dtype, b.dtype))
	}
	s, strideA, strideB := a.shape, 1, 1
	if a.n != b.n {
		switch {
		case b.n == 1:
			strideB = 0
		case a.n == 1:
			strideA, s = 0, b.shape
		default:
			c.misuse(name, fmt.Sprintf("operands have shapes %v and %v: want equal shapes, or one operand of a single element", a.shape, b.shape))
		}
	}
	c.result(name, a.dtype, s, r)
	in := c.prepare(OpMath, a.dtype, int(r.n), s)
	in.Binary, in.Dst, in.A, in.AOff, in.B, in.BOff, in.Axis, in.Inner = op, r.cell, a.cell, a.off, b.cell, b.off, strideA, strideB
	c.issue()
}

// math completes an arithmetic instruction and hands it over.
func (c *Context) math(in *Instr, r *Tensor) {
	in.Op, in.Type, in.Dst, in.N, in.Shape = OpMath, r.dtype, r.cell, int(r.n), r.shape
	c.emit(in)
}

// Abs is |a|.
func (c *Context) Abs(a Tensor) Tensor { return c.unary("abs", dtype.Abs, a) }

// Neg is -a.
func (c *Context) Neg(a Tensor) Tensor { return c.unary("neg", dtype.Neg, a) }

// Exp is e to the power a.
func (c *Context) Exp(a Tensor) Tensor { return c.unary("exp", dtype.Exp, a) }

// Log returns the natural logarithm.
func (c *Context) Log(a Tensor) Tensor { return c.unary("log", dtype.Log, a) }

// Sqrt returns the square root.
func (c *Context) Sqrt(a Tensor) Tensor { return c.unary("sqrt", dtype.Sqrt, a) }

func (c *Context) unary(name string, op dtype.UnaryOp, a Tensor) (r Tensor) {
	i := c.use(name, &a)
	c.result(name, a.dtype, a.shape, &r)
	c.math(&Instr{Math: MathUnary, Unary: op, A: i, AOff: a.off, B: None, C: None}, &r)
	return r
}

// FMA is a×b + d with one rounding.
func (c *Context) FMA(a, b, d Tensor) (r Tensor) {
	ia, ib, id := c.use("fma", &a), c.use("fma", &b), c.use("fma", &d)
	if a.dtype != b.dtype || a.dtype != d.dtype || a.n != b.n || a.n != d.n {
		c.misuse("fma", fmt.Sprintf("operands are %s, %s and %s: types and sizes must agree",
			describe(a.dtype, a.shape), describe(b.dtype, b.shape), describe(d.dtype, d.shape)))
	}
	c.result("fma", a.dtype, a.shape, &r)
	c.math(&Instr{Math: MathFMA, A: ia, AOff: a.off, B: ib, BOff: b.off, C: id, COff: d.off}, &r)
	return r
}

// Clamp limits every element to [lo, hi].
func (c *Context) Clamp(a Tensor, lo, hi float64) (r Tensor) {
	i := c.use("clamp", &a)
	if !(lo <= hi) {
		c.misuse("clamp", fmt.Sprintf("limits %g and %g: the first must not exceed the second", lo, hi))
	}
	c.result("clamp", a.dtype, a.shape, &r)
	c.math(&Instr{Math: MathClamp, A: i, AOff: a.off, B: None, C: None, Scalar: lo, Scalar2: hi}, &r)
	return r
}

// Convert returns a with element type t.
func (c *Context) Convert(a Tensor, t dtype.Type) (r Tensor) {
	i := c.use("convert", &a)
	c.result("convert", t, a.shape, &r)
	c.math(&Instr{Math: MathConvert, A: i, AOff: a.off, B: None, C: None, Outer: int(a.dtype)}, &r)
	return r
}

// Full returns a tensor with the same number everywhere.
func (c *Context) Full(s Shape, t dtype.Type, f float64) (r Tensor) {
	c.result("full", t, s, &r)
	c.math(&Instr{Math: MathFill, A: None, B: None, C: None, Scalar: f}, &r)
	return r
}

// Sum adds along an axis, which disappears from the shape.
func (c *Context) Sum(a Tensor, axis int) Tensor { return c.reduce("sum", dtype.Add, a, axis) }

// Max returns the largest along an axis, which disappears from the shape.
func (c *Context) Max(a Tensor, axis int) Tensor { return c.reduce("max", dtype.Max, a, axis) }

// Min returns the smallest along an axis, which disappears from the shape.
func (c *Context) Min(a Tensor, axis int) Tensor { return c.reduce("min", dtype.Min, a, axis) }

// Prod multiplies along an axis, which disappears from the shape.
func (c *Context) Prod(a Tensor, axis int) Tensor { return c.reduce("prod", dtype.Mul, a, axis) }

func (c *Context) reduce(name string, op dtype.BinaryOp, a Tensor, axis int) (r Tensor) {
	i := c.use(name, &a)
	axis = c.axis(name, a, axis)
	in := Instr{Math: MathReduce, Binary: op, A: i, AOff: a.off, B: None, C: None}
	in.Outer, in.Axis, in.Inner = a.shape.split(axis)
	if in.Axis == 0 {
		c.misuse(name, fmt.Sprintf("axis %d of %v is empty", axis, a.shape))
	}
	shape := a.shape.without(axis)
	c.result(name, a.dtype, shape, &r)
	c.math(&in, &r)
	return r
}

// Softmax is exp(a - max) / sum(exp(a - max)) along an axis.
func (c *Context) Softmax(a Tensor, axis int) (r Tensor) {
	i := c.use("softmax", &a)
	axis = c.axis("softmax", a, axis)
	if !a.dtype.IsFloat() {
		c.misuse("softmax", fmt.Sprintf("needs a floating type, not %v", a.dtype))
	}
	in := Instr{Math: MathSoftmax, A: i, AOff: a.off, B: None, C: None}
	in.Outer, in.Axis, in.Inner = a.shape.split(axis)
	c.result("softmax", a.dtype, a.shape, &r)
	c.math(&in, &r)
	return r
}

func (c *Context) axis(name string, a Tensor, axis int) int {
	if axis < 0 {
		axis += a.shape.Len()
	}
	if axis < 0 || axis >= a.shape.Len() {
		c.misuse(name, fmt.Sprintf("axis %d of a tensor of shape %v", axis, a.shape))
	}
	return axis
}

// Transpose turns a matrix.
func (c *Context) Transpose(a Tensor) (r Tensor) {
	i := c.use("transpose", &a)
	if a.shape.Len() != 2 {
		c.misuse("transpose", fmt.Sprintf("needs a matrix, not shape %v", a.shape))
	}
	shape := Dims(a.shape.Dim(1), a.shape.Dim(0))
	c.result("transpose", a.dtype, shape, &r)
	c.math(&Instr{Math: MathTranspose, A: i, AOff: a.off, B: None, C: None, Outer: a.shape.Dim(0), Axis: a.shape.Dim(1)}, &r)
	return r
}
