package dtype

import (
	"fmt"
	"math"
)

// UnaryOp is an operation on one element.
type UnaryOp uint8

// The unary operations.
const (
	Exp UnaryOp = iota
	Log
	Sqrt
	Abs
	Neg
	numUnaryOps
)

var unaryNames = [numUnaryOps]string{"exp", "log", "sqrt", "abs", "neg"}

func (op UnaryOp) String() string {
	if op < numUnaryOps {
		return unaryNames[op]
	}
	return fmt.Sprintf("UnaryOp(%d)", uint8(op))
}

// Unary applies op to each element of a and writes the results to dst. Package math computes Exp,
// Log and Sqrt in float64. The result is rounded to t, or truncated if t is an integer type. Abs
// and Neg of integers wrap, so Abs of the least integer is that integer.
func Unary(op UnaryOp, t Type, dst, a []byte) {
	count("Unary", t, dst, a)
	if op >= numUnaryOps {
		panic("dtype: Unary of " + op.String())
	}
	size := t.Size()
	for len(dst) > 0 {
		n := min(len(dst)/size, blockLen)
		if t.IsInt() && (op == Abs || op == Neg) {
			var x [blockLen]int64
			loadInt(t, x[:n], a)
			for i, v := range x[:n] {
				if op == Neg || v < 0 {
					x[i] = -v
				}
			}
			storeInt(t, dst, x[:n])
		} else {
			var x [blockLen]float64
			load64(t, x[:n], a)
			applyUnary(op, x[:n])
			store64(t, dst, x[:n])
		}
		dst, a = dst[n*size:], a[n*size:]
	}
}

func applyUnary(op UnaryOp, x []float64) {
	switch op {
	case Exp:
		for i, v := range x {
			x[i] = math.Exp(v)
		}
	case Log:
		for i, v := range x {
			x[i] = math.Log(v)
		}
	case Sqrt:
		for i, v := range x {
			x[i] = math.Sqrt(v)
		}
	case Abs:
		for i, v := range x {
			x[i] = math.Abs(v)
		}
	case Neg:
		for i, v := range x {
			x[i] = -v
		}
	}
}

// FMA writes a×b+c to dst, rounded once for floats; integers wrap.
func FMA(t Type, dst, a, b, c []byte) {
	n := count("FMA", t, dst, a, b, c)
	switch {
	case t == F64:
		for i := range n {
			Set(t, dst, i, math.FMA(At(t, a, i), At(t, b, i), At(t, c, i)))
		}
	case t.IsFloat():
		for i := range n {
			// The product of two narrow floats is exact in float64.
			Set(t, dst, i, addOdd(At(t, a, i)*At(t, b, i), At(t, c, i)))
		}
	default:
		for i := range n {
			SetInt(t, dst, i, AtInt(t, a, i)*AtInt(t, b, i)+AtInt(t, c, i))
		}
	}
}

// addOdd returns x + y rounded to odd (see f32Odd), so that rounding it again to a narrower type
// gives the same as one rounding. Finite arguments must be far from the limits of float64.
func addOdd(x, y float64) float64 {
	sum := x + y
	if math.IsInf(sum, 0) || math.IsNaN(sum) {
		return sum
	}
	// Knuth's two-sum: lost is exactly x + y − sum.
	yPart := sum - x
	lost := (x - (sum - yPart)) + (y - yPart)
	bits := math.Float64bits(sum)
	if lost == 0 || bits&1 != 0 {
		return sum
	}
	if (lost > 0) == (sum > 0) {
		return math.Float64frombits(bits + 1)
	}
	return math.Float64frombits(bits - 1)
}

// Clamp limits each element of a to [lo, hi] and writes it to dst; if lo > hi, the result is hi. A
// float x becomes min(max(x, lo), hi) in float64, rounded to t. So the result is NaN if x, lo or hi
// is NaN. For integers lo is rounded up and hi is rounded down to a whole number, and a NaN bound
// is ignored.
func Clamp(t Type, dst, a []byte, lo, hi float64) {
	n := count("Clamp", t, dst, a)
	if t.IsFloat() {
		for i := range n {
			Set(t, dst, i, min(max(At(t, a, i), lo), hi))
		}
		return
	}
	low, high := intRange(t)
	if lo == lo {
		low = truncate(t, math.Ceil(lo))
	}
	if hi == hi {
		high = truncate(t, math.Floor(hi))
	}
	for i := range n {
		SetInt(t, dst, i, min(max(AtInt(t, a, i), low), high))
	}
}

// Convert writes the elements of src, of type st, to dst as type dt. Floats are rounded once, and
// integers keep their low bits. A float that becomes an integer is truncated and clamped to the
// range. The same type is copied bit for bit.
func Convert(dt, st Type, dst, src []byte) {
	n := count("Convert to", dt, dst)
	if m := count("Convert from", st, src); m != n {
		panic(fmt.Sprintf("dtype: Convert from %v to %v: src has %d elements, dst has %d", st, dt, m, n))
	}
	switch {
	case dt == st:
		copy(dst, src)
	case st.IsInt():
		for i := range n {
			SetInt(dt, dst, i, AtInt(st, src, i))
		}
	case st != F64 && dt.IsFloat() && dt != F64:
		var x [blockLen]float32
		for len(dst) > 0 {
			n := min(len(dst)/dt.Size(), blockLen)
			load32(st, x[:n], src)
			store32(dt, dst, x[:n])
			dst, src = dst[n*dt.Size():], src[n*st.Size():]
		}
	default:
		for i := range n {
			Set(dt, dst, i, At(st, src, i))
		}
	}
}
