package gemm

import (
	"testing"

	"kernbench/unit"
)

func TestTime(t *testing.T) {
	s := Spec{M: 16, K: 8, N: 4, Clock: 500, Setup: 4000}
	tests := []struct {
		m, k, n int
		blocks  unit.Time
	}{{16, 8, 4, 1}, {1, 1, 1, 1}, {17, 8, 4, 2}, {16, 9, 4, 2}, {16, 8, 5, 2}, {32, 64, 32, 2 * 8 * 8}, {0, 8, 4, 0}}
	for _, tt := range tests {
		if got, want := s.Blocks(tt.m, tt.k, tt.n), tt.blocks*500; got != want {
			t.Errorf("%d×%d×%d: %d ps, want %d", tt.m, tt.k, tt.n, got, want)
		}
		if got, want := s.Time(tt.m, tt.k, tt.n), 4000+tt.blocks*500; got != want {
			t.Errorf("%d×%d×%d with setup: %d ps, want %d", tt.m, tt.k, tt.n, got, want)
		}
	}
}
