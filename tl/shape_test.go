package tl_test

import (
	"math"
	"testing"

	"kernbench/tl"
)

// TestElems: the number of elements is kept with the shape, and is "too many" rather than
// a product that has overflowed.
func TestElems(t *testing.T) {
	const huge = math.MaxInt32
	for name, c := range map[string]struct {
		shape tl.Shape
		want  int
	}{
		"zero shape":     {tl.Shape{}, 1},
		"vector":         {tl.Dims(7), 7},
		"empty":          {tl.Dims(7, 0, 3), 0},
		"beyond a long":  {tl.Dims(huge, huge, huge, huge), 1 << 31},
		"empty and huge": {tl.Dims(huge, huge, huge, 0), 0},
		"largest":        {tl.Dims(huge), huge},
	} {
		if got := c.shape.Elems(); got != c.want {
			t.Errorf("%s: %d elements, want %d", name, got, c.want)
		}
	}
}
