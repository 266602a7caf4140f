package dtype

import (
	"fmt"
	"math"
)

// Accumulate adds each element of src to sum, and its absolute value to size, in float64. It panics
// unless t is a float type.
func Accumulate(t Type, sum, size []float64, src []byte) {
	n := count("Accumulate", t, src)
	if !t.IsFloat() || len(sum) != n || len(size) != n {
		panic(fmt.Sprintf("dtype: Accumulate of %d elements of %v: sum has %d elements and size has %d", n, t, len(sum), len(size)))
	}
	done := accumulateFast(t, sum, size, src, n)
	for i := done; i < n; i++ {
		x := At(t, src, i)
		sum[i] += x
		size[i] += math.Abs(x)
	}
}
