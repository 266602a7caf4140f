package collective

import (
	"math"

	"kernbench/dtype"
	"kernbench/tl"
)

// Combines reports whether op is the collective's own elementwise operation, the one whose result
// merges multisets. It is add for sum and avg, multiply for prod, max, and min.
func Combines(reduce tl.ReduceOp, op dtype.BinaryOp) bool { return op == reduce.Binary() }

// averages reports whether c divides by the world size.
func averages(c Call) bool { return c.Op == tl.Avg && c.World > 1 }

// Scales reports whether op with the scalar s is the division that avg permits. That is a division
// by the world size, or a multiplication by its reciprocal as a float64, a float32 or an element of
// c.Type.
func Scales(c Call, op dtype.BinaryOp, s float64) bool {
	if c.Op != tl.Avg {
		return false
	}
	n := float64(c.World)
	switch op {
	case dtype.Div:
		return s == n
	case dtype.Mul:
		if !c.Type.IsFloat() {
			return false // 1/n is no integer
		}
		if s == 1/n || s == float64(float32(1/n)) {
			return true
		}
		var one [8]byte
		dtype.Set(c.Type, one[:], 0, 1/n)
		return s == dtype.At(c.Type, one[:], 0)
	}
	return false
}

// Neutral reports whether v is the neutral element of the reduction. It is 0 for sum and avg, 1 for
// prod, the lowest value for max, and the highest for min.
func Neutral(reduce tl.ReduceOp, t dtype.Type, v float64) bool {
	switch reduce {
	case tl.Prod:
		return v == 1
	case tl.Max:
		return v == lowest(t)
	case tl.Min:
		return v == highest(t)
	}
	return v == 0
}

// lowest returns the value below all others, which max never chooses.
func lowest(t dtype.Type) float64 {
	switch {
	case t.IsFloat():
		return math.Inf(-1)
	case t == dtype.U8:
		return 0
	}
	return -math.Ldexp(1, 8*t.Size()-1)
}

// highest returns the value above all others, which min never chooses. The largest int64 is no
// float64: 2^63-1 is rounded to 2^63.
func highest(t dtype.Type) float64 {
	switch {
	case t.IsFloat():
		return math.Inf(1)
	case t == dtype.U8:
		return 255
	}
	return math.Ldexp(1, 8*t.Size()-1) - 1
}
