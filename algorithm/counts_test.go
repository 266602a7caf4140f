package algorithm_test

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/kerneltest"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/topology"
)

// countedWorlds are the world sizes for which counts are compared with closed forms.
var countedWorlds = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 31, 32}

// perRank is the number of elements for each rank in these tests: messages fit in a slot.
const perRank = 2

// counted runs an algorithm on vectors of perRank elements for each rank and returns its traffic. A
// pipeline cuts the vector in the given number of pieces.
func counted(t *testing.T, a *algorithm.Algorithm, world, root, pieces int) launch.Result {
	t.Helper()
	co, err := collective.Lookup(a.Collective)
	if err != nil {
		t.Fatal(err)
	}
	n := perRank * world
	grid := someGrid(t, a, world)
	cfg := kerneltest.Config{World: world, Topology: a.Topology, W: grid.W, H: grid.H, Inputs: numbered(world, n),
		ChunkBytes: int64(4 * n / pieces)}
	call := collective.Call{World: world, Elems: n, Type: dtype.F32}
	if co.Rooted {
		cfg.Args, call.Root = []int{root}, root
	}
	cfg.OutElems = outElems(co, call)
	if a.Window != nil {
		if cfg.Layout, err = a.Window(world, n, dtype.F32); err != nil {
			t.Fatal(err)
		}
	}
	o, err := kerneltest.Observe(t.Context(), a.Kernel, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return o.Result
}

// hops returns the hops of all blocks, if block i takes as many hops as i has set bits.
func hops(world int) int {
	n := 0
	for i := range world {
		n += bits.OnesCount(uint(i))
	}
	return n
}

// gathered returns the elements sent when rank 0 gathers n elements that recursive halving has
// spread. In dimension k the rank of the second half sends it, after it has gathered its parts in
// the higher dimensions.
func gathered(n, k, dims int) int {
	if k == dims {
		return 0
	}
	lower := tl.CDiv(n, 2)
	return n - lower + gathered(lower, k+1, dims) + gathered(n-lower, k+1, dims)
}

// Messages and bytes through rings, over all ranks, equal the published costs. p is the number of
// ranks; a vector has a block of b bytes for each rank.
func TestMessageCounts(t *testing.T) {
	const size = 4
	rounds := func(p int) int { return bits.Len(uint(p - 1)) } // log2, rounded up
	tests := []struct {
		a               *algorithm.Algorithm
		pieces          int
		messages, bytes func(p, b int) int
	}{
		{algorithm.RingAllGather, 1, func(p, _ int) int { return p * (p - 1) }, func(p, b int) int { return p * (p - 1) * p * b }},
		{algorithm.RecursiveDoublingAllGather, 1, func(p, _ int) int { return p * rounds(p) },
			func(p, b int) int { return p * (p - 1) * p * b }},
		{algorithm.HypercubeExchange, 1, func(p, _ int) int { return p * rounds(p) }, func(p, b int) int { return p * (p - 1) * p * b }},
		{algorithm.BruckAllGather, 1, func(p, _ int) int { return p * rounds(p) }, func(p, b int) int { return p * (p - 1) * p * b }},
		{algorithm.RingReduceScatter, 1, func(p, _ int) int { return p * (p - 1) }, func(p, b int) int { return p * (p - 1) * b }},
		{algorithm.RecursiveHalvingReduceScatter, 1, func(p, _ int) int { return p * rounds(p) },
			func(p, b int) int { return p * (p - 1) * b }},
		{algorithm.BruckAllToAll, 1, func(p, _ int) int { return p * rounds(p) }, func(p, b int) int { return p * hops(p) * b }},
		{algorithm.BinomialBroadcast, 1, func(p, _ int) int { return p - 1 }, func(p, b int) int { return (p - 1) * p * b }},
		{algorithm.ChainBroadcast, 2, func(p, _ int) int { return 2 * (p - 1) }, func(p, b int) int { return (p - 1) * p * b }},
		{algorithm.DoubleTreeBroadcast, 2, func(p, _ int) int { return 2 * (p - 1) }, func(p, b int) int { return (p - 1) * p * b }},
		{algorithm.DoubleTreeReduce, 2, func(p, _ int) int { return 2 * (p - 1) }, func(p, b int) int { return (p - 1) * p * b }},
		{algorithm.ScatterAllGatherBroadcast, 1, func(p, _ int) int { return p - 1 + p*(p-1) },
			func(p, b int) int { return (hops(p) + p*(p-1)) * b }},
		{algorithm.BinomialReduce, 1, func(p, _ int) int { return p - 1 }, func(p, b int) int { return (p - 1) * p * b }},
		{algorithm.ChainReduce, 2, func(p, _ int) int { return 2 * (p - 1) }, func(p, b int) int { return (p - 1) * p * b }},
		{algorithm.BinomialGather, 1, func(p, _ int) int { return p - 1 }, func(p, b int) int { return hops(p) * p * b }},
		{algorithm.BinomialScatter, 1, func(p, _ int) int { return p - 1 }, func(p, b int) int { return hops(p) * b }},
		// The ranks of the hypercube reduce by halving, and all but one then send their part. Each
		// rank outside the hypercube sends its vector to a partner inside.
		{algorithm.ReduceScatterGatherReduce, 1, func(p, _ int) int {
			core, dims := topology.Fold(p)
			return core*dims + core - 1 + p - core
		}, func(p, b int) int {
			core, dims := topology.Fold(p)
			return (core-1)*p*b + gathered(p*b/4, 0, dims)*4 + (p-core)*p*b
		}},
		{algorithm.TreeBarrier, 1, func(p, _ int) int { return 2 * (p - 1) }, func(_, _ int) int { return 0 }},
		{algorithm.RingSendRecv, 1, func(p, _ int) int { return p }, func(p, b int) int { return p * p * b }},
	}
	for _, tt := range tests {
		for _, world := range countedWorlds {
			if tt.a.Check != nil && tt.a.Check(world, perRank*world) != nil {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", tt.a.Name, world), func(t *testing.T) {
				got := counted(t, tt.a, world, 0, tt.pieces)
				messages, bytes := int64(tt.messages(world, perRank*size)), int64(tt.bytes(world, perRank*size))
				if got.Messages != messages || got.Bytes != bytes {
					t.Errorf("%d messages, %d bytes; want %d, %d", got.Messages, got.Bytes, messages, bytes)
				}
				if i := slices.IndexFunc(got.Traffic,
					func(r tl.Traffic) bool { return r != (tl.Traffic{Rank: r.Rank, Sent: r.Sent}) }); i >= 0 {
					t.Errorf("rank %d uses the memory of other ranks: %+v", i, got.Traffic[i])
				}
			})
		}
	}
}

// On a grid of w by h all rows work in parallel, and so do all columns.
func TestMessageCountsOnGrids(t *testing.T) {
	byDimension := func(w, h int) int { return w * h * (w + h - 2) }
	quarters := func(w, h int) int { return 4 * w * h * (w*h - 1) }
	for _, tt := range []struct {
		a        *algorithm.Algorithm
		messages func(w, h int) int
		vectors  int // all ranks together receive N-1 times this number of vectors
	}{
		{algorithm.TorusAllGather, byDimension, countAll},
		{algorithm.MeshAllGather, byDimension, countAll},
		{algorithm.MultiRingAllGather, quarters, countAll},
		{algorithm.TorusReduceScatter, byDimension, 1},
		{algorithm.MeshReduceScatter, byDimension, 1},
		{algorithm.MultiRingReduceScatter, quarters, 1},
	} {
		for _, world := range countedWorlds {
			t.Run(fmt.Sprintf("%s/%d", tt.a.Name, world), func(t *testing.T) {
				grid := someGrid(t, tt.a, world)
				got := counted(t, tt.a, world, 0, 1)
				vectors := tt.vectors
				if vectors == countAll {
					vectors = world
				}
				messages, bytes := int64(tt.messages(grid.W, grid.H)), int64(vectors*(world-1)*4*perRank*world)
				if got.Messages != messages || got.Bytes != bytes {
					t.Errorf("%d x %d: %d messages, %d bytes; want %d, %d", grid.W, grid.H, got.Messages, got.Bytes, messages, bytes)
				}
			})
		}
	}
}

// countAll means as many vectors as there are ranks.
const countAll = 0

// The bytes written, puts, notifications and waits of each rank equal the published figures.
func TestNotificationCounts(t *testing.T) {
	const block = 4 * perRank
	all := func(p, _ int) tl.Traffic {
		others := int64(p - 1)
		return tl.Traffic{Written: others * block, Puts: others, Notifies: others, Waits: others}
	}
	tests := []struct {
		a    *algorithm.Algorithm
		root int // of the call
		want func(p, rank int) tl.Traffic
	}{
		{algorithm.PairwiseReduceScatter, 0, all},
		{algorithm.PairwiseAllToAll, 0, all},
		{algorithm.LinearGather, 1, func(p, rank int) tl.Traffic {
			if others := int64(p - 1); rank == 1 {
				return tl.Traffic{Notifies: others, Waits: others}
			}
			return tl.Traffic{Written: int64(p) * block, Puts: 1, Notifies: 1, Waits: 1}
		}},
		{algorithm.LinearScatter, 1, func(p, rank int) tl.Traffic {
			if rank == 1 {
				return all(p, rank)
			}
			return tl.Traffic{Notifies: 1, Waits: 1}
		}},
		{algorithm.AllPairsBarrier, 0, func(p, _ int) tl.Traffic {
			return tl.Traffic{Notifies: int64(p - 1), Waits: int64(p - 1)}
		}},
	}
	for _, tt := range tests {
		for _, world := range countedWorlds {
			if world <= tt.root {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", tt.a.Name, world), func(t *testing.T) {
				got := counted(t, tt.a, world, tt.root, 1)
				if got.Messages != 0 {
					t.Errorf("%d messages through rings", got.Messages)
				}
				for r, have := range got.Traffic {
					want := tt.want(world, r)
					if want.Rank = r; have != want {
						t.Errorf("rank %d: traffic %+v, want %+v", r, have, want)
					}
				}
			})
		}
	}
}
