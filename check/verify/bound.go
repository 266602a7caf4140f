package verify

import (
	"fmt"
	"math"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/tl"
)

// bound is the greatest distance of a correct reduction from the exact result, in any order of
// operations. The reduction has n contributions in type t. u is the unit roundoff, k the most
// roundings on the path of any contribution (n-1 if it is not known), eta the smallest subnormal:
//
//	sum   ((1+u)^k - 1) sum|x_i|                          and at most (n-1) u sum|x_i| while k < n
//	avg   ((1+u)^(k+1) - 1) sum|x_i|/n  +  n eta          the reciprocal of n is rounded, too
//	prod  ((1+u)^max(k,n-1) - 1) |prod x_i|  +  n eta prod max(1, |x_i|)
//	max, min, integers, and n = 1: nothing
//
// Each rounding multiplies by 1+d with |d| <= u, so a contribution has at most k such factors.
// Hence |prod(1+d_i) - 1| <= (1+u)^k - 1 <= gamma_k = ku/(1-ku): Higham, Accuracy and Stability of
// Numerical Algorithms, 2nd ed., lemma 3.1 and sec. 4.2. The form (1+u)^k - 1 also holds where ku
// >= 1 and gamma does not exist. In a product the roundings of both operands multiply, so all n-1
// multiplications count in any order. That (n-1) u is enough for sums in any order: Jeannerod and
// Rump, Improved error bounds for inner products in floating-point arithmetic, SIAM J. Matrix Anal.
// Appl. 34 (2013). Additions do not underflow (their subnormal results are exact); products and
// quotients do, by at most eta/2 each, which later factors may multiply.
type bound struct {
	op       tl.ReduceOp
	relative float64 // the factor of Mag (sum, avg) or |Value| (prod)
	absolute float64 // the term in eta, without its factor
	formula  string
}

// newBound makes the bound for n contributions and depth roundings, -1 if unknown.
func newBound(c collective.Call, n, depth int) bound {
	b := bound{op: c.Op}
	u, eta := dtype.Epsilon(c.Type), smallest(c.Type)
	known := depth >= 0
	k := depth
	if !known {
		k = n - 1
	}
	switch {
	case c.Type.IsInt() || c.Op == tl.Max || c.Op == tl.Min || n == 1 && k <= 0:
		b.formula = "exact"
		return b
	case c.Op == tl.Avg:
		if !known {
			k++ // the division
		}
		k++ // its reciprocal
		b.relative = growth(k, u)
		b.absolute = float64(n) * eta * (1 + b.relative)
		b.formula = fmt.Sprintf("%.3g sum|x|/n (%s)", b.relative, roundings(k))
	case c.Op == tl.Prod:
		k = max(k, n-1)
		b.relative = growth(k, u)
		b.absolute = float64(n) * eta * (1 + b.relative)
		b.formula = fmt.Sprintf("%.3g |prod| (%s)", b.relative, roundings(k))
	default:
		b.relative = growth(k, u)
		b.formula = fmt.Sprintf("%.3g sum|x| (%s)", b.relative, roundings(k))
		if r := float64(n-1) * u; k < n && r <= b.relative {
			b.relative = r
			b.formula = fmt.Sprintf("%.3g sum|x| (%s)", r, roundings(n-1))
		}
	}
	return b
}

// at returns the bound for element i of ref. It includes the error of the reference itself.
func (b *bound) at(ref *collective.Reference, i int) float64 {
	if b.relative == 0 {
		return 0
	}
	if b.op == tl.Prod {
		return b.relative*math.Abs(ref.Value[i]) + b.absolute*ref.Mag[i] + ref.Error(i)
	}
	return b.relative*ref.Mag[i] + b.absolute + ref.Error(i)
}

// all extends dst by the bounds of all elements of ref, for float types.
func (b *bound) all(dst []float64, ref *collective.Reference) []float64 {
	for i := range ref.Value {
		dst = append(dst, b.at(ref, i))
	}
	return dst
}

func roundings(k int) string {
	if k == 1 {
		return "1 rounding"
	}
	return fmt.Sprintf("%d roundings", k)
}

// growth is (1+u)^k - 1.
func growth(k int, u float64) float64 {
	return math.Expm1(float64(k) * math.Log1p(u))
}

// smallest returns the smallest subnormal of t.
func smallest(t dtype.Type) float64 {
	switch t {
	case dtype.F16:
		return 0x1p-24
	case dtype.BF16:
		return 0x1p-133
	case dtype.F32:
		return math.SmallestNonzeroFloat32
	}
	return math.SmallestNonzeroFloat64
}

// overflows returns the magnitude from which on a result is rounded to infinity. It is half a unit
// beyond the largest finite value, a relative u/2. No float64 is beyond f64.
func overflows(t dtype.Type) float64 {
	if t == dtype.F64 {
		return math.Inf(1)
	}
	return dtype.MaxFinite(t) * (1 + dtype.Epsilon(t)/2)
}
