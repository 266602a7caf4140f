package collective

import (
	"math"
	"slices"

	"kernbench/dtype"
	"kernbench/tl"
)

// Reference holds the values that a reduction should give for some elements of one part.
// Floats come as float64 with an error that is small compared with any rounding of the element
// type; integers come exactly, wrapped to the type. A Reference may be used again and
// then allocates nothing.
type Reference struct {
	Value []float64 // float types
	Int   []int64   // integer types

	// Mag is the magnitude that error bounds are relative to: the sum of |x_i| for sum, and that
	// divided by N for avg. For prod it is the product of max(1, |x_i|), by which a former
	// underflow may have been multiplied.
	Mag []float64

	// Beyond marks elements whose Value is infinite because the exact result, of finite
	// operands, is too large for a float64.
	Beyond []bool

	low     []float64 // what Value lacks of an f64 sum: the rounding errors of its additions
	suspect []bool    // elements whose float64 arithmetic left the safe range
	dec     Decoder

	ulps, magUlps float64 // Error as factors of Value and Mag
}

// NewReference returns an empty Reference of n elements with a number of contributions each. Put
// fills it.
func (e *Expectation) NewReference(n, contributions int) Reference {
	if e.Call.Type.IsInt() {
		return Reference{Int: make([]int64, n)}
	}
	ref := Reference{Value: make([]float64, n), Mag: make([]float64, n), Beyond: make([]bool, n)}
	ref.setError(e.Call, float64(contributions))
	return ref
}

// Put makes another reference, of the same call, that of the elements from lo on. It may be called
// by several for elements that do not overlap.
func (ref *Reference) Put(lo int, part *Reference) {
	if ref.Int != nil {
		copy(ref.Int[lo:], part.Int)
		return
	}
	copy(ref.Value[lo:], part.Value)
	copy(ref.Mag[lo:], part.Mag)
	copy(ref.Beyond[lo:], part.Beyond)
}

// Slice returns the part for elements lo to lo+n-1.
func (ref *Reference) Slice(lo, n int) Reference {
	s := Reference{ulps: ref.ulps, magUlps: ref.magUlps}
	if ref.Int != nil {
		s.Int = ref.Int[lo : lo+n]
		return s
	}
	s.Value, s.Mag, s.Beyond = ref.Value[lo:lo+n], ref.Mag[lo:lo+n], ref.Beyond[lo:lo+n]
	return s
}

// Error bounds how far Value of element i is from the exact result. It is small compared with
// the rounding of the element type.
func (ref *Reference) Error(i int) float64 {
	e := ref.ulps * math.Abs(ref.Value[i])
	if ref.magUlps > 0 { // Mag may be infinite, and zero times that is no number
		e += ref.magUlps * ref.Mag[i]
	}
	return e
}

// setError derives the factors of Error for n operands, with v a little above the unit roundoff of
// float64. A plain sum is within n v Mag, and a compensated one within 2v |Value| + (n v)^2 Mag
// (Higham, eq. 4.8). A product is within n v |Value|, and choosing is exact.
func (ref *Reference) setError(c Call, n float64) {
	const v = 0x1p-52
	switch {
	case c.Op == tl.Max || c.Op == tl.Min || n == 1:
		ref.ulps, ref.magUlps = 0, 0
	case c.Op == tl.Prod:
		ref.ulps, ref.magUlps = n*v, 0
	case c.Type == dtype.F64:
		ref.ulps, ref.magUlps = 4*v, n*v*n*v
	default:
		ref.ulps, ref.magUlps = 2*v, n*v
	}
}

// Reference computes elements lo ... lo+n-1 of part, which belongs to some rank's
// output. in gives a rank's input bytes; they need only hold until it is called again.
func (e *Expectation) Reference(ref *Reference, part Part, lo, n int, in func(rank int) []byte) {
	if e.Call.Type.IsInt() {
		e.integers(ref, part, lo, n, in)
		return
	}
	e.floats(ref, part, lo, n, in)
}

// operand returns where elements lo.. of part are in a rank's input.
func (e *Expectation) operand(part Part, lo, n int, in []byte) []byte {
	size := e.Call.Type.Size()
	at := (int(part.Base) + lo) * size
	return in[at : at+n*size]
}

func (e *Expectation) integers(ref *Reference, part Part, lo, n int, in func(int) []byte) {
	t := e.Call.Type
	ref.Int = slices.Grow(ref.Int[:0], n)[:n]
	for k := range part.From.N {
		x := e.operand(part, lo, n, in(part.From.At(k)))
		for i := range ref.Int {
			v := dtype.AtInt(t, x, i)
			if k > 0 {
				v = combineInt(e.Call.Op, ref.Int[i], v)
			}
			ref.Int[i] = v
		}
	}
	for i, v := range ref.Int {
		v = wrap(t, v)
		if averages(e.Call) {
			v /= int64(e.Call.World) // truncates, as division of the type does
		}
		ref.Int[i] = v
	}
}

func combineInt(op tl.ReduceOp, a, b int64) int64 {
	switch op {
	case tl.Prod:
		return a * b
	case tl.Max:
		return max(a, b)
	case tl.Min:
		return min(a, b)
	}
	return a + b
}

// wrap keeps the bits of v that t has. Sums and products modulo 2^64 wrap to the same.
func wrap(t dtype.Type, v int64) int64 {
	switch t {
	case dtype.U8:
		return int64(uint8(v))
	case dtype.I8:
		return int64(int8(v))
	case dtype.I16:
		return int64(int16(v))
	case dtype.I32:
		return int64(int32(v))
	}
	return v
}

func (e *Expectation) floats(ref *Reference, part Part, lo, n int, in func(int) []byte) {
	ref.Value = slices.Grow(ref.Value[:0], n)[:n]
	ref.Mag = slices.Grow(ref.Mag[:0], n)[:n]
	ref.low = slices.Grow(ref.low[:0], n)[:n]
	ref.Beyond = slices.Grow(ref.Beyond[:0], n)[:n]
	ref.suspect = slices.Grow(ref.suspect[:0], n)[:n]
	ref.setError(e.Call, float64(part.From.N))
	clear(ref.Beyond)
	clear(ref.suspect)
	sums := (e.Call.Op == tl.Sum || e.Call.Op == tl.Avg) && e.Call.Type != dtype.F64
	for k := range part.From.N {
		data := e.operand(part, lo, n, in(part.From.At(k)))
		if k > 0 && sums { // float64 has many more bits than these types
			dtype.Accumulate(e.Call.Type, ref.Value, ref.Mag, data)
			continue
		}
		x := ref.dec.Floats(e.Call.Type, data)
		switch {
		case k == 0:
			ref.begin(e.Call.Op, x)
		case e.Call.Op == tl.Prod:
			ref.multiply(x)
		case e.Call.Op == tl.Max, e.Call.Op == tl.Min:
			ref.choose(e.Call.Op, x)
		default:
			ref.accumulate(x)
		}
	}
	ref.finish(e.Call)
	for i, s := range ref.suspect {
		if s {
			ref.Value[i], ref.Beyond[i] = e.exact(part, lo+i, in)
		}
	}
}

func (ref *Reference) begin(op tl.ReduceOp, operands []float64) {
	for i, x := range operands {
		ref.Value[i], ref.low[i], ref.Mag[i] = x, 0, math.Abs(x)
		if op == tl.Prod {
			ref.Mag[i] = max(1, math.Abs(x))
			ref.suspect[i] = !safe(x)
		}
	}
}

// accumulate adds in twice the working precision: Knuth's TwoSum gives the rounding
// error of each addition exactly, and the errors are summed separately (compensated
// summation; Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., sec. 4.3).
func (ref *Reference) accumulate(operands []float64) {
	for i, x := range operands {
		a := ref.Value[i]
		s := a + x
		b := s - a
		ref.low[i] += (a - (s - b)) + (x - b)
		ref.Value[i] = s
		ref.Mag[i] += math.Abs(x)
	}
}

func (ref *Reference) multiply(operands []float64) {
	for i, x := range operands {
		ref.Value[i] *= x
		ref.Mag[i] *= max(1, math.Abs(x))
		if !safe(ref.Value[i]) {
			ref.suspect[i] = true
		}
	}
}

// choose takes the larger or smaller; a NaN wins, as in dtype.
func (ref *Reference) choose(op tl.ReduceOp, operands []float64) {
	for i, x := range operands {
		if op == tl.Max {
			ref.Value[i] = max(ref.Value[i], x)
		} else {
			ref.Value[i] = min(ref.Value[i], x)
		}
	}
}

// finish joins sum and rounding errors and does the division of avg.
func (ref *Reference) finish(c Call) {
	if c.Op != tl.Sum && c.Op != tl.Avg {
		return
	}
	n := float64(1)
	if averages(c) {
		n = float64(c.World)
	}
	for i := range ref.Value {
		v := ref.Value[i] + ref.low[i]
		ref.suspect[i] = math.IsInf(ref.Mag[i], 0) || v-v != 0
		ref.Value[i] = v / n
		ref.Mag[i] /= n
	}
}

// safe reports whether x is so far from the ends of the float64 range that it carries full
// precision.
func safe(x float64) bool {
	a := math.Abs(x)
	return a > 0x1p-960 && a < 0x1p960
}
