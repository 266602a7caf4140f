package sim

import "math/bits"

// divisor divides by a number that is the same for long: the slots of a ring, of which each message asks several times which
// one it is. Processors multiply in a fraction of the time that they divide in.
type divisor struct {
	by      uint32
	inverse uint64 // of it, times 2^64, rounded up: near enough for numbers of 32 bits
}

func newDivisor(by uint32) divisor { return divisor{by, ^uint64(0)/uint64(by) + 1} }

// rest is n modulo the divisor: of the quotient, what is behind the point, times the divisor.
func (d *divisor) rest(n uint32) uint32 {
	rest, _ := bits.Mul64(d.inverse*uint64(n), uint64(d.by))
	return uint32(rest)
}

// into is n divided by it, rounded down.
func (d *divisor) into(n uint32) uint32 {
	if d.by == 1 {
		return n // its inverse has one bit too many
	}
	q, _ := bits.Mul64(d.inverse, uint64(n))
	return uint32(q)
}
