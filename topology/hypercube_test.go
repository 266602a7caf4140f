package topology

import (
	"testing"

	"kernbench/tl"
)

// Who is left over by the cube is a neighbour of its host in the dimension after the last.
func TestFold(t *testing.T) {
	tests := []struct{ world, core, dims int }{
		{1, 1, 0}, {2, 2, 1}, {3, 2, 1}, {4, 4, 2}, {5, 4, 2}, {7, 4, 2}, {8, 8, 3}, {31, 16, 4}, {32, 32, 5},
	}
	for _, tt := range tests {
		core, dims := Fold(tt.world)
		if core != tt.core || dims != tt.dims {
			t.Errorf("Fold(%d) = %d, %d; want %d, %d", tt.world, core, dims, tt.core, tt.dims)
		}
		ms, err := Hypercube.Maps(tt.world, Grid{})
		if err != nil {
			t.Fatal(err)
		}
		for guest := core; guest < tt.world; guest++ {
			if host, ok := ms[guest][tl.Dim(dims)]; !ok || host != guest-core {
				t.Errorf("%d ranks: the host of rank %d is %d (%v)", tt.world, guest, host, ok)
			}
		}
		for r := range core {
			for k := range dims {
				if peer := ms[r][tl.Dim(k)]; peer >= core || peer^r != 1<<k {
					t.Errorf("%d ranks: rank %d, dim%d leads to %d", tt.world, r, k, peer)
				}
			}
		}
	}
}
