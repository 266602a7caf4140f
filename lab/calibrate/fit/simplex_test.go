package fit

import (
	"math"
	"testing"
)

func TestMinimize(t *testing.T) {
	square := func(v float64) float64 { return v * v }
	for _, c := range []struct {
		name      string
		f         func(x []float64) float64
		from      []float64
		want      []float64
		tolerance float64
	}{
		{"one dimension", func(x []float64) float64 { return square(x[0] - 3) }, []float64{0}, []float64{3}, 1e-3},
		{"a kink", func(x []float64) float64 { return math.Abs(x[0]-1) + 2*math.Abs(x[1]+2) }, []float64{0, 0}, []float64{1, -2}, 1e-3},
		{"Rosenbrock's valley", func(x []float64) float64 { return square(1-x[0]) + 100*square(x[1]-x[0]*x[0]) },
			[]float64{-1.2, 1}, []float64{1, 1}, 1e-3},
		{"six dimensions", func(x []float64) float64 {
			sum := 0.0
			for i, v := range x {
				sum += float64(i+1) * square(v-float64(i))
			}
			return sum
		}, make([]float64, 6), []float64{0, 1, 2, 3, 4, 5}, 1e-2},
		{"beside points that are none", func(x []float64) float64 { return square(math.Log(x[0])) }, []float64{0.05}, []float64{1}, 1e-3},
	} {
		calls := 0
		x, least := minimize(func(x []float64) float64 { calls++; return c.f(x) }, c.from, 0.3)
		if least != c.f(x) {
			t.Errorf("%s: the least is %v, and %v at that point", c.name, least, c.f(x))
		}
		for i, want := range c.want {
			if !(math.Abs(x[i]-want) <= c.tolerance) {
				t.Errorf("%s: found %v, want %v", c.name, x, c.want)
				break
			}
		}
		if calls > 4000+len(c.from) {
			t.Errorf("%s: %d calls", c.name, calls)
		}
	}
}

// The start is not changed, and a function without a slope ends the search soon.
func TestMinimizeEnds(t *testing.T) {
	from, calls := []float64{1, 2}, 0
	x, _ := minimize(func([]float64) float64 { calls++; return 7 }, from, 0.3)
	if from[0] != 1 || from[1] != 2 || x[0] != 1 || x[1] != 2 {
		t.Errorf("from %v to %v", from, x)
	}
	if calls > 500 {
		t.Errorf("%d calls", calls)
	}
	if _, least := minimize(func([]float64) float64 { return math.NaN() }, from, 0.3); !math.IsInf(least, 1) {
		t.Errorf("the least of no numbers is %v", least)
	}
}
