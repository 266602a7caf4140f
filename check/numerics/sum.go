package numerics

import (
	"math"
	"math/bits"

	"kernbench/dtype"
)

// format holds what rounding to a float type depends on.
type format struct {
	digits int // of the significand, with the leading one
	least  int // exponent of the smallest subnormal
	most   int // exponent of the largest finite value
}

var formats = [...]format{
	dtype.F16:  {11, -24, 15},
	dtype.BF16: {8, -133, 127},
	dtype.F32:  {24, -149, 127},
	dtype.F64:  {53, -1074, 1023},
}

// limbs is enough for 2^64 times the largest float64.
const limbs = 34

// Sum adds values of one float type without any rounding. It is a fixed-point number that is wide
// enough for all of them (Kulisch, Computer Arithmetic and Validity, 2nd ed., 2013, ch. 8). Its
// unit is the smallest value of the type.
type Sum struct {
	unit int // exponent
	n    int // limbs in use
	limb [limbs]uint64
}

// NewSum returns a sum of nothing, for values of a float type.
func NewSum(t dtype.Type) *Sum {
	if t == dtype.F64 {
		return &Sum{unit: formats[dtype.F64].least, n: limbs}
	}
	return &Sum{unit: formats[dtype.F32].least, n: 6} // of f32, which has the values of the narrow ones too
}

// Reset makes it a sum of nothing again.
func (s *Sum) Reset() { clear(s.limb[:s.n]) }

// Add adds a finite value of the type.
func (s *Sum) Add(x float64) {
	b := math.Float64bits(x)
	m, e := b&(1<<52-1), int(b>>52&0x7ff)
	if e == 0 {
		e++
	} else {
		m |= 1 << 52
	}
	at := e - 1075 - s.unit // of the last bit of m
	if at < 0 {
		m, at = m>>-at, 0 // these are zeros
	}
	i, shift := at/64, uint(at%64)
	s.put(i, m<<shift, m>>1>>(63-shift), b>>63 != 0)
}

// put adds or subtracts two limbs, i the lower one.
func (s *Sum) put(i int, lo, hi uint64, minus bool) {
	var carry uint64
	if minus {
		s.limb[i], carry = bits.Sub64(s.limb[i], lo, 0)
		for i++; i < s.n && hi|carry != 0; i++ {
			s.limb[i], carry = bits.Sub64(s.limb[i], hi, carry)
			hi = 0
		}
		return
	}
	s.limb[i], carry = bits.Add64(s.limb[i], lo, 0)
	for i++; i < s.n && hi|carry != 0; i++ {
		s.limb[i], carry = bits.Add64(s.limb[i], hi, carry)
		hi = 0
	}
}

// negative reports whether the sum is below zero.
func (s *Sum) negative() bool { return s.limb[s.n-1]>>63 != 0 }

// Abs returns the magnitude.
func (s *Sum) Abs() Sum {
	a := *s
	if !a.negative() {
		return a
	}
	carry := uint64(1)
	for i := range a.limb[:a.n] {
		a.limb[i], carry = bits.Add64(^a.limb[i], 0, carry)
	}
	return a
}

// top returns the place of the highest bit of a magnitude, -1 of zero.
func (s *Sum) top() int {
	for i := s.n - 1; i >= 0; i-- {
		if s.limb[i] != 0 {
			return 64*i + bits.Len64(s.limb[i]) - 1
		}
	}
	return -1
}

// from returns the magnitude in units of 2^at, of at most 64 bits. It also returns whether the
// remainder is below (-1), at (0) or above (1) half a unit.
func (s *Sum) from(at int) (m uint64, half int, exact bool) {
	i, shift := at/64, uint(at%64)
	m = s.limb[i] >> shift
	if i+1 < s.n {
		m |= s.limb[i+1] << 1 << (63 - shift)
	}
	if at == 0 {
		return m, -1, true
	}
	first := s.bit(at - 1)
	rest := s.limb[(at-1)/64]&(1<<uint((at-1)%64)-1) != 0
	for k := 0; k < (at-1)/64 && !rest; k++ {
		rest = s.limb[k] != 0
	}
	switch {
	case !first:
		return m, -1, !rest
	case rest:
		return m, 1, false
	}
	return m, 0, false
}

func (s *Sum) bit(at int) bool { return s.limb[at/64]>>uint(at%64)&1 != 0 }

// Round returns the sum rounded once to the nearest value of a float type, ties to even. It is
// infinite if the sum is too large for the type.
func (s *Sum) Round(t dtype.Type) float64 {
	f, a := &formats[t], s.Abs()
	top := a.top()
	if top < 0 {
		return 0
	}
	unit := max(top+s.unit-f.digits+1, f.least)
	m, half, _ := a.from(max(0, unit-s.unit))
	if half > 0 || half == 0 && m&1 != 0 {
		m++
	}
	v := math.Ldexp(float64(m), max(unit, s.unit))
	if v > dtype.MaxFinite(t) {
		v = math.Inf(1)
	}
	if s.negative() {
		v = -v
	}
	return v
}

// Magnitude returns the absolute value as a float64 that is not below it.
func (s *Sum) Magnitude() float64 {
	a := s.Abs()
	top := a.top()
	if top < 0 {
		return 0
	}
	at := max(0, top-52)
	m, _, exact := a.from(at)
	if !exact {
		m++
	}
	return math.Ldexp(float64(m), at+s.unit)
}

// ULP returns the unit in the last place of a type at |x|: the distance of the values of the type
// there. Beyond the range of the type it is that of the largest ones.
func ULP(t dtype.Type, x float64) float64 {
	f := &formats[t]
	e := f.least + f.digits - 1 // of the smallest normal value
	if x != 0 {
		_, exp := math.Frexp(x)
		e = min(max(e, exp-1), f.most)
	}
	return math.Ldexp(1, e-f.digits+1)
}
