package algorithm_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"kernbench/algorithm"
	"kernbench/fault"
	"kernbench/kerneltest"
	"kernbench/tl"
)

// doubleTree runs the algorithm with a chunk size in elements and a number of slots. With chunk 0
// the algorithm chooses the chunk size.
func doubleTree(world, n, chunk, slots int) (*kerneltest.Outcome, error) {
	a := algorithm.DoubleTreeAllReduce
	return kerneltest.Observe(context.Background(), a.Kernel, kerneltest.Config{
		Topology: a.Topology, Inputs: filled(world, n, func(r, i int) float64 { return float64(r*r + i) }),
		ChunkBytes: int64(chunk * 4), Slots: slots,
	})
}

// For any number of chunks, two slots are enough, and each chunk crosses each edge of its tree once
// in either direction. Each rank ends with the sum over all ranks.
func TestDoubleTreeInChunks(t *testing.T) {
	for _, world := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32} {
		for _, chunk := range []int{100, 26, 17, 7, 1} {
			t.Run(fmt.Sprintf("%d/%d", world, chunk), func(t *testing.T) {
				const n = 101
				out, err := doubleTree(world, n, chunk, 2)
				if err != nil {
					t.Fatal(err)
				}
				edges := int64(world - 1)
				if want := 2 * edges * int64(tl.CDiv(51, chunk)+tl.CDiv(50, chunk)); out.Result.Messages != want {
					t.Errorf("%d messages, want %d", out.Result.Messages, want)
				}
				if want := 2 * edges * n * 4; out.Result.Bytes != want {
					t.Errorf("%d bytes, want %d", out.Result.Bytes, want)
				}
				for r, got := range out.Outputs {
					for i, v := range got {
						if want := float64((world-1)*world*(2*world-1)/6 + i*world); v != want {
							t.Fatalf("rank %d has %v for element %d, want %v", r, v, i, want)
						}
					}
				}
			})
		}
	}
}

// With one slot, a rank that sends up and its parent, which sends down, wait for each other.
func TestDoubleTreeInOneSlot(t *testing.T) {
	_, err := doubleTree(8, 100, 5, 1)
	var hang *fault.Deadlock
	if !errors.As(err, &hang) {
		t.Errorf("%v, want a deadlock", err)
	}
}

// If no chunk size is given, the algorithm cuts a short vector into few chunks and a long one into
// more. It never uses more chunks than elements; the last row requests chunks of one element.
func TestDoubleTreeChunks(t *testing.T) {
	for _, tt := range []struct{ world, n, requested, chunks int }{
		{8, 64, 0, 1},
		{8, 2 * 1024, 0, 3},        // 4 KiB per tree, 4 levels up and down: sqrt(7)
		{32, 2 * 64 * 1024, 0, 27}, // 256 KiB per tree, 6 levels: sqrt(11*64)
		{4, 6, 1, 3},
		{4, 0, 0, 1},
	} {
		out, err := doubleTree(tt.world, tt.n, tt.requested, 4)
		if err != nil {
			t.Fatal(err)
		}
		edges, perChunk := tt.world-1, max(1, (tt.n/2/tt.chunks*4+4095)/4096) // in slots of 4 KiB
		if got, want := int(out.Result.Messages), 2*2*edges*tt.chunks*perChunk; got != want {
			t.Errorf("%d ranks, %d elements: %d messages, want %d", tt.world, tt.n, got, want)
		}
	}
}
