package algorithm_test

import (
	"context"
	"fmt"
	"testing"

	"kernbench/algorithm"
	"kernbench/kerneltest"
	"kernbench/tl"
)

// TestTorusBroadcast: on a torus of one to four dimensions, from any root, each rank but the root
// receives each element once. Two slots are enough for pieces of any length.
func TestTorusBroadcast(t *testing.T) {
	a := algorithm.TorusBroadcast
	for _, levels := range [][]int{{1}, {2}, {5}, {2, 2}, {4, 3}, {3, 1, 2}, {3, 4, 5}, {2, 2, 2, 3}} {
		world := 1
		for _, n := range levels {
			world *= n
		}
		for _, root := range []int{0, world / 2, world - 1} {
			for _, x := range []struct {
				n, chunk, slots int
				latency         int64
			}{{1, 0, 2, 0}, {5, 4, 2, 0}, {1000, 40, 2, 4000}, {1000, 40, 8, 100}, {5000, 0, 4, 1 << 20}} {
				t.Run(fmt.Sprintf("%v/%d/%v", levels, root, x), func(t *testing.T) {
					cfg := kerneltest.Config{
						Topology: a.Topology, Levels: levels[:len(levels)-1], Args: []int{root}, Slots: x.slots,
						ChunkBytes: int64(x.chunk), LatencyBytes: x.latency,
						Inputs: filled(world, x.n, func(r, i int) float64 { return float64(1000*r + i) }),
					}
					out, err := kerneltest.Observe(context.Background(), a.Kernel, cfg)
					if err != nil {
						t.Fatal(err)
					}
					if want := int64(4 * x.n * (world - 1)); out.Result.Bytes != want {
						t.Errorf("%d bytes, want %d", out.Result.Bytes, want)
					}
					for r, got := range out.Outputs {
						for i, v := range got {
							if want := float64(1000*root + i); v != want {
								t.Fatalf("rank %d has %v for element %d, want %v", r, v, i, want)
							}
						}
					}
				})
			}
		}
	}
}

// TestTreesShareNoLink: each link into a rank but the root belongs to one tree. The depth of a rank
// is at most 1 more than the sum of all n_k - 1.
func TestTreesShareNoLink(t *testing.T) {
	for _, levels := range [][]int{{2}, {5}, {2, 2}, {4, 3}, {4, 4, 4}, {2, 5, 3}, {3, 2, 4, 2}} {
		world, deepest := 1, 1
		for _, n := range levels {
			world *= n
			deepest += n - 1
		}
		for _, root := range []int{0, world - 1} {
			for rank := range world {
				in, out := map[tl.Dir]bool{}, map[tl.Dir]bool{}
				trees := algorithm.LinkTrees(levels, rank, root)
				for _, tree := range trees {
					in[tree.From] = true
					for _, to := range tree.To {
						if out[to] {
							t.Errorf("%v from %d: rank %d sends two parts %v", levels, root, rank, to)
						}
						out[to] = true
					}
					if tree.Depth > deepest || (tree.Depth == 0) != (rank == root) {
						t.Errorf("%v from %d: rank %d is at depth %d of %d", levels, root, rank, tree.Depth, deepest)
					}
				}
				if rank != root && len(in) != 2*len(levels) {
					t.Errorf("%v from %d: rank %d receives over %d links, want %d", levels, root, rank, len(in), 2*len(levels))
				}
			}
		}
	}
}
