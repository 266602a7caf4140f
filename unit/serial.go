package unit

import (
	"fmt"
	"math"
	"math/bits"
)

// Serial is the time that a link needs for a byte, kept as the reduced fraction 1e12 / rate in ps. The zero Serial
// takes no time at all.
//
// Time(n) = ⌊(n·num + den − 1) / den⌋, and the division is a multiplication by the reciprocal ⌈2^64 / den⌉. With
// e = reciprocal·den − 2^64 the product's high word is the exact quotient for every numerator x with x·e < 2^64, so
// wide is the least n whose numerator does not keep to that; it and larger ones take the 128-bit division.
type Serial struct {
	num, den   uint64
	round      uint64 // den − 1, which makes the quotient a ceiling
	reciprocal uint64
	wide       uint64
}

// Serial returns the time per byte of r. It panics unless r is positive: a link without a rate is a mistake of the
// caller, who has the name of the key that was wrong.
func (r Rate) Serial() Serial {
	if r <= 0 {
		panic(fmt.Sprintf("unit: Serial of the rate %d B/s: a rate must be positive", int64(r)))
	}
	num, den := uint64(Second), uint64(r)
	g := gcd(num, den)
	num, den = num/g, den/g
	if den == 1 { // 2^64 / 1 does not fit a word; the fraction may as well be written in halves
		num, den = 2*num, 2
	}
	quotient, rest := bits.Div64(1, 0, den)
	s := Serial{num: num, den: den, round: den - 1, reciprocal: quotient}
	largest := uint64(math.MaxUint64)
	if rest != 0 {
		s.reciprocal++
		largest /= den - rest // e = den − rest
	}
	if largest >= s.round { // else not even n = 0 is safe
		// n·num ≤ MaxInt64 keeps the quotient inside int64 as well.
		s.wide = min((largest-s.round)/num, math.MaxInt64/num) + 1
	}
	return s
}

// Time returns ⌈bytes × 1e12 / rate⌉ ps, exactly. Zero or fewer bytes take no time; a time that does not fit is MaxTime.
func (s Serial) Time(bytes int64) Time {
	if uint64(bytes) < s.wide {
		high, _ := bits.Mul64(uint64(bytes)*s.num+s.round, s.reciprocal)
		return Time(high)
	}
	return s.timeWide(bytes)
}

// timeWide is Time with a 128-bit numerator. It is kept out of line so that Time can be inlined.
//
//go:noinline
func (s Serial) timeWide(bytes int64) Time {
	if bytes <= 0 || s.num == 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(bytes), s.num)
	low, carry := bits.Add64(low, s.round, 0)
	high += carry
	if high >= s.den {
		return MaxTime
	}
	quotient, _ := bits.Div64(high, low, s.den)
	return Time(min(quotient, uint64(MaxTime)))
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
