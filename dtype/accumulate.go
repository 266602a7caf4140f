package dtype

import (
	"fmt"
	"math"
)

// Accumulate adds the elements of src, of a float type, to sums in float64, and their absolute
// values to sizes.
func Accumulate(t Type, sum, size []float64, src []byte) {
	n := count("Accumulate", t, src)
	if !t.IsFloat() || len(sum) != n || len(size) != n {
		panic(fmt.Sprintf("dtype: Accumulate of %d %v on %d sums and %d sizes", n, t, len(sum), len(size)))
	}
	done := accumulateFast(t, sum, size, src, n)
	for i := done; i < n; i++ {
		x := At(t, src, i)
		sum[i] += x
		size[i] += math.Abs(x)
	}
}
