package dtype

import (
	"fmt"
	"math"
)

// ReduceAxis reduces the middle axis of src, shaped [outer, n, inner], to dst, shaped [outer,
// inner]. It takes the elements in ascending order. op is Add, Mul, Max or Min. F16 and BF16
// accumulate in float32, F32 and F64 in float64, and the result is rounded once; integers wrap. An
// axis of length 0 gives the identity of op (for Max the least value, −Inf for floats).
func ReduceAxis(op BinaryOp, t Type, dst, src []byte, outer, n, inner int) {
	checkShape("ReduceAxis", t, dst, outer, inner)
	checkShape("ReduceAxis", t, src, outer, n, inner)
	switch op {
	case Add, Mul, Max, Min:
	default:
		panic("dtype: ReduceAxis by " + op.String() + ": use add, mul, max or min")
	}
	switch {
	case t == F16 || t == BF16:
		reduceAxis(applyFloat[float32], load32, store32, floatIdentity[float32](op), op, t, dst, src, outer, n, inner)
	case t.IsFloat():
		reduceAxis(applyFloat[float64], load64, store64, floatIdentity[float64](op), op, t, dst, src, outer, n, inner)
	default:
		apply := func(op BinaryOp, dst, a, b []int64) { applyInt(op, a, b) } // dst is a here
		reduceAxis(apply, loadInt, storeInt, intIdentity(op, t), op, t, dst, src, outer, n, inner)
	}
}

func reduceAxis[T float32 | float64 | int64](
	apply func(op BinaryOp, dst, a, b []T), load func(Type, []T, []byte), store func(Type, []byte, []T),
	identity T, op BinaryOp, t Type, dst, src []byte, outer, n, inner int,
) {
	size := t.Size()
	acc, x := make([]T, blockLen), make([]T, blockLen)
	for o := range outer {
		plane := src[o*n*inner*size : (o+1)*n*inner*size]
		out := dst[o*inner*size : (o+1)*inner*size]
		if inner == 1 { // one long row: reduce each block to one element
			acc := acc[:1]
			acc[0] = identity
			for done := 0; done < n; done += blockLen {
				part := x[:min(n-done, blockLen)]
				load(t, part, plane[done*size:])
				for i := range part {
					apply(op, acc, acc, part[i:i+1])
				}
			}
			store(t, out, acc)
			continue
		}
		for column := 0; column < inner; column += blockLen {
			width := min(inner-column, blockLen)
			acc, part := acc[:width], x[:width]
			fillSlice(acc, identity)
			for k := range n {
				load(t, part, plane[(k*inner+column)*size:])
				apply(op, acc, acc, part)
			}
			store(t, out[column*size:], acc)
		}
	}
}

func floatIdentity[T float32 | float64](op BinaryOp) T {
	switch op {
	case Mul:
		return 1
	case Max:
		return T(math.Inf(-1))
	case Min:
		return T(math.Inf(1))
	}
	return 0
}

func intIdentity(op BinaryOp, t Type) int64 {
	low, high := intRange(t)
	switch op {
	case Mul:
		return 1
	case Max:
		return low
	case Min:
		return high
	}
	return 0
}

// Softmax writes exp(x−m) / Σ exp(x−m) along the middle axis of src, where m is the largest x. src
// and dst have the shape [outer, n, inner]. It is computed in float64 and rounded once. Subtracting
// m keeps every exponential within [0, 1]. If the elements along the axis contain NaN or +Inf, or
// are all −Inf, their results are all NaN. Integer results are truncated.
func Softmax(t Type, dst, src []byte, outer, n, inner int) {
	checkShape("Softmax", t, dst, outer, n, inner)
	checkShape("Softmax", t, src, outer, n, inner)
	for o := range outer {
		for in := range inner {
			first := o*n*inner + in
			last := first + n*inner
			top := math.Inf(-1)
			for i := first; i < last; i += inner {
				top = max(top, At(t, src, i))
			}
			sum := 0.0
			for i := first; i < last; i += inner {
				sum += math.Exp(At(t, src, i) - top)
			}
			for i := first; i < last; i += inner { // exponentials are computed again, so that dst may be src
				Set(t, dst, i, math.Exp(At(t, src, i)-top)/sum)
			}
		}
	}
}

// checkShape panics unless b holds a tensor of the given shape.
func checkShape(what string, t Type, b []byte, shape ...int) {
	have, want := count(what, t, b), 1
	for _, n := range shape {
		if n < 0 {
			panic(fmt.Sprintf("dtype: %s of %v: negative length in the shape %v", what, t, shape))
		}
		want *= n
	}
	if have != want {
		panic(fmt.Sprintf("dtype: %s of %v: the shape %v needs %d elements, the slice has %d", what, t, shape, want, have))
	}
}
