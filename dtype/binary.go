package dtype

import "fmt"

// BinaryOp is an operation on two elements.
type BinaryOp uint8

// The binary operations.
const (
	Add BinaryOp = iota
	Sub
	Mul
	Div
	Max
	Min
	numBinaryOps
)

var binaryNames = [numBinaryOps]string{"add", "sub", "mul", "div", "max", "min"}

func (op BinaryOp) String() string {
	if op < numBinaryOps {
		return binaryNames[op]
	}
	return fmt.Sprintf("BinaryOp(%d)", uint8(op))
}

// Binary writes a op b to dst, element by element. All three slices have the same length.
func Binary(op BinaryOp, t Type, dst, a, b []byte) {
	n := count("Binary", t, dst, a, b)
	if op >= numBinaryOps {
		panic("dtype: Binary of " + op.String())
	}
	done := binaryFast(op, t, dst, a, b, n) * t.Size()
	if done < len(dst) {
		binaryRef(op, t, dst[done:], a[done:], b[done:])
	}
}

// binaryRef is Binary in plain Go. It runs where there is no assembly, and tests compare the
// assembly with it.
func binaryRef(op BinaryOp, t Type, dst, a, b []byte) {
	size := t.Size()
	for len(dst) > 0 {
		n := min(len(dst)/size, blockLen)
		switch {
		case t == F64:
			var x, y [blockLen]float64
			load64(t, x[:n], a)
			load64(t, y[:n], b)
			applyFloat(op, x[:n], x[:n], y[:n])
			store64(t, dst, x[:n])
		case t.IsFloat():
			// Results computed in float32 and then rounded to f16 or bf16 equal results rounded
			// once. If the narrow type has p significand bits, float32 has at least 2p+2. So its
			// rounding never moves a result onto a tie of the narrow type. bf16 also has values
			// below the normal range of float32. There sums are exact. Products of at least half
			// the least bf16 (2^-134) are exact, because they have at most 16 bits. A quotient is a
			// tie of bf16 or at least 2^-142 away from every tie.
			var x, y [blockLen]float32
			load32(t, x[:n], a)
			load32(t, y[:n], b)
			applyFloat(op, x[:n], x[:n], y[:n])
			store32(t, dst, x[:n])
		default:
			var x, y [blockLen]int64
			loadInt(t, x[:n], a)
			loadInt(t, y[:n], b)
			applyInt(op, x[:n], y[:n])
			storeInt(t, dst, x[:n])
		}
		dst, a, b = dst[n*size:], a[n*size:], b[n*size:]
	}
}

// BinaryScalar writes a op s to dst, element by element. s may be outside the range of t. For F16,
// BF16 and F32 s is rounded to float32, the operation is done in float32, and the result is rounded
// to t. For an integer type s is truncated to an int64, and the result wraps. So an i8 can be
// divided by 1000 and an f16 by 100000.
func BinaryScalar(op BinaryOp, t Type, dst, a []byte, s float64) {
	count("BinaryScalar", t, dst, a)
	if op >= numBinaryOps {
		panic("dtype: BinaryScalar of " + op.String())
	}
	switch {
	case t == F64:
		var x, y [blockLen]float64
		fillSlice(y[:], s)
		for size := t.Size(); len(dst) > 0; {
			n := min(len(dst)/size, blockLen)
			load64(t, x[:n], a)
			applyFloat(op, x[:n], x[:n], y[:n])
			store64(t, dst, x[:n])
			dst, a = dst[n*size:], a[n*size:]
		}
	case t.IsFloat():
		var x, y [blockLen]float32
		fillSlice(y[:], float32(s))
		for size := t.Size(); len(dst) > 0; {
			n := min(len(dst)/size, blockLen)
			load32(t, x[:n], a)
			applyFloat(op, x[:n], x[:n], y[:n])
			store32(t, dst, x[:n])
			dst, a = dst[n*size:], a[n*size:]
		}
	default:
		var x, y [blockLen]int64
		fillSlice(y[:], truncate(I64, s))
		for size := t.Size(); len(dst) > 0; {
			n := min(len(dst)/size, blockLen)
			loadInt(t, x[:n], a)
			applyInt(op, x[:n], y[:n])
			storeInt(t, dst, x[:n])
			dst, a = dst[n*size:], a[n*size:]
		}
	}
}

func fillSlice[T any](s []T, v T) {
	for i := range s {
		s[i] = v
	}
}

// applyFloat computes dst = a op b; the three have the same length.
func applyFloat[T float32 | float64](op BinaryOp, dst, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	switch op {
	case Add:
		for i, x := range a {
			dst[i] = x + b[i]
		}
	case Sub:
		for i, x := range a {
			dst[i] = x - b[i]
		}
	case Mul:
		for i, x := range a {
			dst[i] = x * b[i]
		}
	case Div:
		for i, x := range a {
			dst[i] = x / b[i]
		}
	case Max:
		for i, x := range a {
			dst[i] = max(x, b[i])
		}
	case Min:
		for i, x := range a {
			dst[i] = min(x, b[i])
		}
	}
}

// applyInt computes a = a op b in 64 bits; the caller keeps the low bits. Operands are
// sign-extended, so Div, Max and Min of narrow types are right as well.
func applyInt(op BinaryOp, a, b []int64) {
	b = b[:len(a)]
	switch op {
	case Add:
		for i := range a {
			a[i] += b[i]
		}
	case Sub:
		for i := range a {
			a[i] -= b[i]
		}
	case Mul:
		for i := range a {
			a[i] *= b[i]
		}
	case Div:
		for i := range a {
			if b[i] == 0 {
				a[i] = 0
			} else {
				a[i] /= b[i]
			}
		}
	case Max:
		for i := range a {
			a[i] = max(a[i], b[i])
		}
	case Min:
		for i := range a {
			a[i] = min(a[i], b[i])
		}
	}
}
