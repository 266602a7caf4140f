package collective

import (
	"testing"

	"kernbench/dtype"
)

// In place, contributions and results lie as NCCL has it: send = recv + rank * count, and the
// reverse.
func TestInPlace(t *testing.T) {
	for _, tt := range []struct {
		co            *Collective
		elems, root   int
		rank          int
		in, out, size int
	}{
		{AllGather, 5, 0, 2, 10, 0, 15},
		{HyperCube, 5, 0, 1, 5, 0, 15},
		{Gather, 5, 1, 1, 5, 0, 15},
		{Gather, 5, 1, 2, 0, 0, 15},
		{ReduceScatter, 12, 0, 2, 0, 8, 12},
		{ReduceScatter, 11, 0, 2, 0, 8, 11}, // chunks of 4, 4 and 3
		{Scatter, 12, 2, 2, 0, 8, 12},
		{Scatter, 12, 2, 1, 0, 0, 12},
		{AllReduce, 7, 0, 2, 0, 0, 7},
		{Barrier, 0, 0, 1, 0, 0, 0},
	} {
		c := Call{World: 3, Elems: tt.elems, Type: dtype.F32, Root: tt.root}
		if in, out, size := tt.co.Shared(c, tt.rank); in != tt.in || out != tt.out || size != tt.size {
			t.Errorf("%s of %d elements, rank %d: %d, %d in %d; want %d, %d in %d", tt.co.Name, tt.elems, tt.rank, in,
				out, size, tt.in, tt.out, tt.size)
		}
	}
}
