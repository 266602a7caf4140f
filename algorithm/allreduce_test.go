package algorithm_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"kernbench/algorithm"
	"kernbench/fault"
	"kernbench/kerneltest"
	"kernbench/topology"
)

// allReduces lists all-reduces on rings with their traffic: the messages and elements that all
// ranks together send, for world ranks of n elements each. TestTraffic and TestSingleSlot cover the
// others.
var allReduces = []struct {
	a        *algorithm.Algorithm
	messages func(world int, g topology.Grid) int
	elements func(world, n int, g topology.Grid) int
	slots    int // needed for any number of ranks
}{
	{algorithm.RecursiveDoublingAllReduce, inDimensions, wholeInDimensions, 1},
	{algorithm.BineAllReduce, inDimensions, wholeInDimensions, 1},
	{algorithm.HalvingDoublingAllReduce, halvings(1), least, 2},
	{algorithm.SwingAllReduce, halvings(2), least, 2},
	{algorithm.BinomialAllReduce, func(world int, _ topology.Grid) int { return 2 * (world - 1) }, least, 1},
	{algorithm.BidirectionalRingAllReduce, func(world int, _ topology.Grid) int { return world * 2 * 2 * (world - 1) }, least, 2},
	{algorithm.TorusAllReduce, func(world int, g topology.Grid) int { return world * 2 * (g.W + g.H - 2) }, least, 2},
	{algorithm.MeshAllReduceChunked, func(world int, g topology.Grid) int {
		return g.H*2*g.W*(g.W-1) + g.W*2*g.H*(g.H-1)
	}, least, 2},
	{algorithm.MeshCenterAllReduce, func(world int, _ topology.Grid) int { return 2 * (world - 1) }, least, 1},
	{algorithm.MultiRingAllReduce, func(world int, g topology.Grid) int { return world * 4 * 2 * (g.W + g.H - 2) }, least, 2},
}

// inDimensions returns the messages of one exchange in each dimension of a hypercube. Each rank
// outside the hypercube sends its vector to a partner inside and receives the result.
func inDimensions(world int, _ topology.Grid) int {
	core, dims := topology.Fold(world)
	return core*dims + 2*(world-core)
}

func wholeInDimensions(world, n int, g topology.Grid) int { return inDimensions(world, g) * n }

// halvings returns the messages of two exchanges in each dimension, for several vectors in
// parallel.
func halvings(vectors int) func(world int, _ topology.Grid) int {
	return func(world int, _ topology.Grid) int {
		core, dims := topology.Fold(world)
		return vectors*2*core*dims + 2*(world-core)
	}
}

// least returns the fewest elements that an all-reduce can move.
func least(world, n int, _ topology.Grid) int { return 2 * (world - 1) * n }

// onRings returns a run of an algorithm without a window.
func onRings(a *algorithm.Algorithm, g topology.Grid, in [][]float64, slots int) kerneltest.Config {
	cfg := kerneltest.Config{Topology: a.Topology, W: g.W, H: g.H, Neighbors: a.Neighbors, Inputs: in, Slots: slots}
	if a.KernelArgs != nil {
		cfg.Args = a.KernelArgs(len(in), len(in[0]))
	}
	return cfg
}

func observeOnRings(a *algorithm.Algorithm, g topology.Grid, in [][]float64, slots int) (*kerneltest.Outcome, error) {
	return kerneltest.Observe(context.Background(), a.Kernel, onRings(a, g, in, slots))
}

// eachAllReduce calls f for each algorithm, number of ranks and grid.
func eachAllReduce(t *testing.T, f func(t *testing.T, i, world int, g topology.Grid)) {
	for i, tt := range allReduces {
		t.Run(tt.a.Name, func(t *testing.T) {
			t.Parallel()
			for _, world := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 31, 32} {
				for _, g := range grids(t, tt.a.Topology, world) {
					t.Run(size{world: world, grid: g}.String(), func(t *testing.T) { f(t, i, world, g) })
				}
			}
		})
	}
}

// Messages and bytes equal the published costs, also if the ranks do not divide the elements.
func TestAllReduceTraffic(t *testing.T) {
	eachAllReduce(t, func(t *testing.T, i, world int, g topology.Grid) {
		tt := allReduces[i]
		for _, n := range []int{320, 449} { // no chunk is empty
			out, err := observeOnRings(tt.a, g, numbered(world, n), 2)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := out.Result.Messages, int64(tt.messages(world, g)); got != want {
				t.Errorf("%d elements: %d messages, want %d", n, got, want)
			}
			if got, want := out.Result.Bytes, int64(tt.elements(world, n, g)*4); got != want {
				t.Errorf("%d elements: %d bytes, want %d", n, got, want)
			}
		}
	})
}

// An algorithm ends with the slots that it needs. With one slot less 16 ranks deadlock.
func TestAllReduceSlots(t *testing.T) {
	eachAllReduce(t, func(t *testing.T, i, world int, g topology.Grid) {
		if _, err := observeOnRings(allReduces[i].a, g, numbered(world, 320), allReduces[i].slots); err != nil {
			t.Fatal(err)
		}
	})
	for _, tt := range allReduces {
		if tt.slots == 1 {
			continue
		}
		_, err := observeOnRings(tt.a, topology.Grid{}, numbered(16, 320), tt.slots-1)
		var hang *fault.Deadlock
		if !errors.As(err, &hang) {
			t.Errorf("%s with %d slots: %v, want a deadlock", tt.a.Name, tt.slots-1, err)
		}
	}
}

// All ranks end with the same bits. Each sum is computed by one rank, or in the same way by both
// ranks of an exchange.
func TestAllReduceSameBits(t *testing.T) {
	eachAllReduce(t, func(t *testing.T, i, world int, g topology.Grid) {
		rng := rand.New(rand.NewPCG(1, 2))
		in := filled(world, 100, func(int, int) float64 { return rng.NormFloat64() })
		out, err := observeOnRings(allReduces[i].a, g, in, 2)
		if err != nil {
			t.Fatal(err)
		}
		for r := range world {
			if !slices.Equal(out.Out[r], out.Out[0]) {
				t.Fatalf("ranks 0 and %d differ", r)
			}
		}
	})
}

// A vector that does not fit in scratch memory is reduced in segments.
func TestAllReduceBeyondScratch(t *testing.T) {
	for _, a := range []*algorithm.Algorithm{
		algorithm.RecursiveDoublingAllReduce, algorithm.HalvingDoublingAllReduce, algorithm.BinomialAllReduce, algorithm.SwingAllReduce,
		algorithm.BidirectionalRingAllReduce, algorithm.TorusAllReduce, algorithm.MultiRingAllReduce, algorithm.DoubleTreeAllReduce,
		algorithm.MeshAllReduceChunked, algorithm.MeshCenterAllReduce,
	} {
		for _, world := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s/%d", a.Name, world), func(t *testing.T) {
				t.Parallel()
				const n = 150_001 // 600 kB
				cfg := onRings(a, topology.Grid{}, filled(world, n, func(r, i int) float64 { return float64(r + i%1000) }), 2)
				cfg.Scratch = 512 << 10
				out, err := kerneltest.Observe(context.Background(), a.Kernel, cfg)
				if err != nil {
					t.Fatal(err)
				}
				for r, got := range out.Outputs {
					for i, v := range got {
						if want := float64(world*(world-1)/2 + world*(i%1000)); v != want {
							t.Fatalf("rank %d has %v for element %d, want %v", r, v, i, want)
						}
					}
				}
			})
		}
	}
}
