package collective

import (
	"math"
	"math/big"

	"kernbench/dtype"
	"kernbench/tl"
)

// exact computes element i of part with 2200 bits. It is used for the few elements for which
// float64 overflows, underflows, or has an infinity or a NaN. Sums of float64 values are exact in
// 2200 bits; products are rounded to 2200 bits. overflow is true if all operands are finite and the
// result is too large for a float64.
func (e *Expectation) exact(part Part, i int, in func(int) []byte) (v float64, overflow bool) {
	const precision = 2200
	prod := e.Call.Op == tl.Prod
	acc := new(big.Float).SetPrec(precision)
	if prod {
		acc.SetInt64(1)
	}
	// special is the IEEE result if any operand is infinite or NaN. It does not depend on the
	// order.
	special := identity(prod)
	finite := true
	for k := range part.From.N {
		x := dtype.At(e.Call.Type, e.operand(part, i, 1, in(part.From.At(k))), 0)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			finite = false
		}
		if prod {
			special *= signOrSpecial(x)
		} else {
			special += onlySpecial(x)
		}
		if !finite {
			continue
		}
		y := new(big.Float).SetPrec(precision).SetFloat64(x)
		if prod {
			acc.Mul(acc, y)
		} else {
			acc.Add(acc, y)
		}
	}
	if !finite {
		return special, false
	}
	if averages(e.Call) {
		acc.Quo(acc, new(big.Float).SetInt64(int64(e.Call.World)))
	}
	v, _ = acc.Float64()
	return v, math.IsInf(v, 0)
}

// identity returns the neutral element of a product or a sum.
func identity(prod bool) float64 {
	if prod {
		return 1
	}
	return 0
}

// signOrSpecial replaces finite nonzero factors by ±1. The IEEE product of infinities, zeros and
// NaNs stays the same, and finite factors cannot overflow.
func signOrSpecial(x float64) float64 {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return x
	}
	return math.Copysign(1, x)
}

// onlySpecial replaces finite terms by 0. The IEEE sum of infinities and NaNs stays the same, and
// finite terms cannot overflow.
func onlySpecial(x float64) float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return x
	}
	return 0
}
