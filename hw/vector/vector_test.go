package vector

import (
	"testing"

	"kernbench/unit"
)

func TestTime(t *testing.T) {
	s := Spec{Lanes: 64, Clock: 1000, Setup: 4000}
	for n, want := range map[int]unit.Time{0: 4000, 1: 5000, 64: 5000, 65: 6000, 6400: 104000} {
		if got := s.Time(n); got != want {
			t.Errorf("%d elements: %d ps, want %d", n, got, want)
		}
	}
}
