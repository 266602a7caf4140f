package unit

import (
	"fmt"
	"math"
	"math/bits"
)

// Serial is the time that a link needs for a byte, kept as the reduced fraction num / den = 1e12 /
// rate in ps. The zero Serial takes no time at all.
//
// The fast form of ⌈n·num / den⌉ is ⌈n·mul / 2^shift⌉ with mul = ⌊num·2^shift / den⌋. The error is
// n·rest / (den·2^shift), where rest is the remainder of that division. A quotient that is not
// whole lies at least 1/den above the whole number below it. So the two forms agree for every n
// with n·rest < 2^shift.
type Serial struct {
	mul      uint64
	round    uint64 // 2^shift − 1, which makes the shift a ceiling
	shift    uint64
	wide     uint64 // the least n that the fast form does not serve
	num, den uint64
}

// Serial returns the time per byte of r. It panics unless r is positive. The caller must report a
// link without a rate, because it knows the name of the wrong key.
func (r Rate) Serial() Serial {
	r.check("Serial")
	g := gcd(uint64(Second), uint64(r))
	s := Serial{num: uint64(Second) / g, den: uint64(r) / g}
	for shift := range uint64(63) { // the shift that serves the most bytes
		high, low := bits.Mul64(s.num, 1<<shift)
		if high >= s.den {
			break
		}
		mul, rest := bits.Div64(high, low, s.den)
		round := uint64(1)<<shift - 1
		largest := uint64(math.MaxInt64) // of n, by exactness
		if rest != 0 {
			largest = round / rest
		}
		if mul != 0 { // and by what fits
			largest = min(largest, (math.MaxInt64-round)/mul)
		}
		if largest+1 > s.wide {
			s.mul, s.round, s.shift, s.wide = mul, round, shift, largest+1
		}
	}
	return s
}

func (r Rate) check(what string) {
	if r <= 0 {
		panic(fmt.Sprintf("unit: %s of the rate %d B/s: a rate must be positive", what, int64(r)))
	}
}

// Time is r.Serial().Time(bytes), for a single use. Making a Serial takes a hundred times as long.
// It panics as that does.
func (r Rate) Time(bytes int64) Time {
	r.check("Time")
	return Serial{num: uint64(Second), den: uint64(r)}.timeWide(bytes)
}

// Time returns ⌈bytes × 1e12 / rate⌉ ps, exactly. Zero or fewer bytes take no time; a time that
// does not fit is MaxTime.
func (s Serial) Time(bytes int64) Time {
	if uint64(bytes) < s.wide {
		return Time((uint64(bytes)*s.mul + s.round) >> s.shift)
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
	low, carry := bits.Add64(low, s.den-1, 0)
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
