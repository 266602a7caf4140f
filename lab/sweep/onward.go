package sweep

import (
	"math"
	"math/bits"

	"kernbench/unit"
)

// Point is the time of a call of one size.
type Point struct {
	Size unit.Bytes
	Time unit.Time
}

// Onward continues the line through two points to a size. Bytes beyond the second cost what the
// bytes between the two cost. If the time falls, the schedule has changed, and the difference is
// not the cost of bytes. Then every byte costs as much as the bytes of the second point on average.
func Onward(a, b Point, to unit.Bytes) unit.Time {
	switch {
	case b.Size <= a.Size || to <= b.Size:
		return b.Time
	case b.Time < a.Time:
		return unit.Time(MulDiv(int64(b.Time), int64(to), int64(b.Size)))
	}
	return b.Time + unit.Time(MulDiv(int64(b.Time-a.Time), int64(to-b.Size), int64(b.Size-a.Size)))
}

// Off returns the relative error of the line through two points at the third one. It is negative if
// the line is below the third point.
func Off(a, b, last Point) float64 {
	return float64(Onward(a, b, last.Size))/float64(last.Time) - 1
}

// MulDiv returns a·b/c of numbers that are not negative, without an intermediate overflow. If the
// result does not fit, it returns the largest number.
func MulDiv(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi >= uint64(c) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(min(q, math.MaxInt64))
}
