package algorithm_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/internal/exhaustive"
	"kernbench/kerneltest"
	"kernbench/mem"
	"kernbench/tl"
)

// overWindows lists the algorithms of the library that need a window.
func overWindows() []*algorithm.Algorithm {
	return slices.DeleteFunc(algorithm.All(), func(a *algorithm.Algorithm) bool { return a.Window == nil })
}

// onScratch lists the algorithms whose window holds data, not only signals.
func onScratch() []*algorithm.Algorithm {
	return slices.DeleteFunc(overWindows(), func(a *algorithm.Algorithm) bool {
		small, err := a.Window(4, 64, dtype.F32)
		if err != nil {
			return false
		}
		large, err := a.Window(4, 4096, dtype.F32)
		return err == nil && small.Bytes == large.Bytes
	})
}

// observe runs an algorithm over a window on given inputs, with its results apart from them.
func observe(t *testing.T, a *algorithm.Algorithm, typ dtype.Type, in [][]float64, args ...int) *kerneltest.Outcome {
	t.Helper()
	co, err := collective.Lookup(a.Collective)
	if err != nil {
		t.Fatal(err)
	}
	world, n := len(in), len(in[0])
	if len(args) == 0 && a.KernelArgs != nil {
		args = a.KernelArgs(world, n)
	}
	layout, err := a.Window(world, n, typ)
	if err != nil {
		t.Fatal(err)
	}
	out, err := kerneltest.Observe(context.Background(), a.Kernel, kerneltest.Config{
		Topology: a.Topology, Inputs: in, DType: typ, Args: args, Layout: layout,
		OutElems: outElems(co, collective.Call{World: world, Elems: n, Type: typ}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// filled returns n elements for each of world ranks.
func filled(world, n int, f func(rank, i int) float64) [][]float64 {
	in := make([][]float64, world)
	for r := range in {
		in[r] = make([]float64, n)
		for i := range in[r] {
			in[r][i] = f(r, i)
		}
	}
	return in
}

// Each input value identifies its rank and position, and is small enough to be exact. Results equal
// those computed by hand and the collective's own reference.
func TestWindowValues(t *testing.T) {
	place := func(r, i int) float64 { return float64(i + 100*r) }
	one := func(int) int { return 64 }
	each := func(world int) int { return 64 * world }
	vector := func(int) int { return 256 }
	all := func(p, _, i int) float64 { return float64(p*i + 100*p*(p-1)/2) }
	type table struct {
		a    *algorithm.Algorithm
		n    func(world int) int
		in   func(r, i int) float64
		want func(world, rank, i int) float64
		sums map[[2]int]float64 // by world and rank: the sum of the result
	}
	reduced := map[[2]int]float64{{2, 0}: 90880, {2, 1}: 90880, {4, 3}: 284160, {8, 0}: 977920, {8, 7}: 977920, {16, 9}: 3594240}
	gathered := func(_, _, i int) float64 { return float64(100*(i/64) + i%64) }
	gatheredSums := map[[2]int]float64{{2, 0}: 10432, {4, 2}: 46464}
	scattered := func(p, d, j int) float64 { return float64(p*(64*d+j) + 100*p*(p-1)/2) }
	scatteredSums := map[[2]int]float64{{2, 0}: 64 * (100 + 226) / 2, {2, 1}: 64 * (228 + 354) / 2, {4, 2}: 64 * (1112 + 1364) / 2}
	forEach := func(r, i int) float64 { return float64(1000*r + 100*(i/64) + i%64) }
	fromEach := func(_, r, i int) float64 { return float64(1000*(i/64) + 100*r + i%64) }
	exchanged := map[[2]int]float64{{4, 2}: 443264}
	tests := []table{
		{algorithm.WindowAllReduceOnePhase, vector, place, all, reduced},
		{algorithm.WindowAllReduceTwoPhase, vector, place, all, reduced},
		{algorithm.WindowAllReduceRing, vector, place, all, reduced},
		{algorithm.WindowAllReduceBidirectionalRing, vector, place, all, reduced},
		{algorithm.WindowAllGather, one, place, gathered, gatheredSums},
		{algorithm.WindowAllGatherRing, one, place, gathered, gatheredSums},
		{algorithm.WindowAllGatherBidirectionalRing, one, place, gathered, gatheredSums},
		{algorithm.WindowReduceScatter, each, place, scattered, scatteredSums},
		{algorithm.WindowReduceScatterRing, each, place, scattered, scatteredSums},
		{algorithm.WindowReduceScatterBidirectionalRing, each, place, scattered, scatteredSums},
		{algorithm.WindowAllToAll, each, forEach, fromEach, exchanged},
		{algorithm.WindowAllToAllV, each, forEach, fromEach, exchanged},
		{algorithm.WindowAllToAllVPairwise, each, forEach, fromEach, exchanged},
		{algorithm.WindowBroadcast, one, place, func(_, _, i int) float64 { return float64(i) },
			map[[2]int]float64{{2, 1}: 2016, {16, 15}: 2016}},
	}
	for _, tt := range tests {
		for _, world := range []int{2, 4, 8, 16} {
			t.Run(fmt.Sprintf("%s/%d", tt.a.Name, world), func(t *testing.T) {
				out := observe(t, tt.a, dtype.F32, filled(world, tt.n(world), tt.in))
				for r, got := range out.Outputs {
					want := make([]float64, len(got))
					sum := 0.0
					for i := range want {
						want[i] = tt.want(world, r, i)
						sum += got[i]
					}
					if !slices.Equal(got, want) {
						t.Fatalf("rank %d has %v, want %v", r, got, want)
					}
					if known, ok := tt.sums[[2]int{world, r}]; ok && sum != known {
						t.Errorf("rank %d: the sum is %v, want %v", r, sum, known)
					}
					sameAsReference(t, tt.a, out, r, collective.Call{World: world, Elems: tt.n(world), Type: dtype.F32})
				}
			})
		}
	}
}

// sameAsReference compares a rank's result with the reference of its collective, bit by bit.
func sameAsReference(t *testing.T, a *algorithm.Algorithm, out *kerneltest.Outcome, rank int, c collective.Call) {
	t.Helper()
	co, err := collective.Lookup(a.Collective)
	if err != nil {
		t.Fatal(err)
	}
	e, err := co.Expect(out.Hasher, c)
	if err != nil {
		t.Fatal(err)
	}
	var ref collective.Reference
	at := 0
	for _, part := range slices.Clone(e.Parts(rank)) {
		e.Reference(&ref, part, 0, part.N, func(r int) []byte { return out.In[r] })
		if got := out.Outputs[rank][at : at+part.N]; !slices.Equal(got, ref.Value) {
			t.Fatalf("rank %d has %v from element %d on, want %v, the reference", rank, got, at, ref.Value)
		}
		at += part.N
	}
}

// The root is an argument of the kernel and may be any rank.
func TestWindowBroadcastRoots(t *testing.T) {
	for _, world := range []int{1, 2, 5, 16} {
		for root := range world {
			out := observe(t, algorithm.WindowBroadcast, dtype.F32,
				filled(world, 7, func(r, i int) float64 { return float64(i + 100*r) }), root)
			for r, got := range out.Outputs {
				if want := filled(1, 7, func(_, i int) float64 { return float64(i + 100*root) })[0]; !slices.Equal(got, want) {
					t.Errorf("%d ranks, root %d: rank %d has %v", world, root, r, got)
				}
			}
		}
	}
}

// walk returns all ranks of a world, from first on in steps of step.
func walk(world, first, step int) []int {
	ranks := make([]int, world)
	for i := range ranks {
		ranks[i] = ((first+i*step)%world + world) % world
	}
	return ranks
}

// ownFirst returns all ranks of a world in ascending order, with own moved to the front.
func ownFirst(world, own int) []int {
	ranks := walk(world, 0, 1)
	return slices.Insert(slices.Delete(ranks, own, own+1), 0, own)
}

// chunkAt returns the chunk in which element i of n lies, and i within it.
func chunkAt(n, world, i int) (k int, chunk mem.Chunk, within int) {
	for ; ; k++ {
		if c := mem.ChunkOf(n, world, k); i < c.Lo+c.N {
			return k, c, i - c.Lo
		}
	}
}

// In floating point the order of the additions is part of the result. If each element is reduced by
// one rank, all ranks get the same bits. With onephase every rank adds in an order of its own.
func TestWindowReductionOrder(t *testing.T) {
	const n = 61 // uneven chunks and halves
	tests := []struct {
		a     *algorithm.Algorithm
		order func(world, rank, i int) []int // of the additions of element i of rank's result
		agree bool
	}{
		{algorithm.WindowReduceScatter, func(world, rank, _ int) []int { return ownFirst(world, rank) }, false},
		{algorithm.WindowReduceScatterRing, func(world, rank, _ int) []int { return walk(world, rank+1, 1) }, false},
		{algorithm.WindowReduceScatterBidirectionalRing, func(world, rank, i int) []int {
			_, chunk, within := chunkAt(n, world, i)
			if within < mem.ChunkOf(chunk.N, 2, 0).N {
				return walk(world, rank+1, 1)
			}
			return walk(world, rank-1, -1)
		}, false},
		{algorithm.WindowAllReduceOnePhase, func(world, rank, _ int) []int { return ownFirst(world, rank) }, false},
		{algorithm.WindowAllReduceTwoPhase, func(world, _, i int) []int {
			owner, _, _ := chunkAt(n, world, i)
			return ownFirst(world, owner)
		}, true},
		{algorithm.WindowAllReduceRing, func(world, _, i int) []int {
			k, _, _ := chunkAt(n, world, i)
			return walk(world, k+1, 1)
		}, true},
		{algorithm.WindowAllReduceBidirectionalRing, func(world, _, i int) []int {
			k, chunk, within := chunkAt(n, world, i)
			if within < mem.ChunkOf(chunk.N, 2, 0).N {
				return walk(world, k+1, 1)
			}
			return walk(world, k-1, -1)
		}, true},
	}
	for _, tt := range tests {
		for _, typ := range []dtype.Type{dtype.F32, dtype.BF16, dtype.F16} {
			for _, world := range []int{3, 4, 7} {
				t.Run(fmt.Sprintf("%s/%v/%d", tt.a.Name, typ, world), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(uint64(world), 1))
					in := filled(world, n, func(int, int) float64 { return math.Ldexp(rng.Float64()-0.5, rng.IntN(12)) })
					if i := slices.IndexFunc(walk(n, 0, 1), func(i int) bool {
						return sumInOrder(typ, in, i, walk(world, 0, 1)) != sumInOrder(typ, in, i, walk(world, world-1, -1))
					}); i < 0 {
						t.Fatal("the inputs give the same sum in both orders, so they test nothing")
					}
					out := observe(t, tt.a, typ, in)
					same := true
					for r, got := range out.Outputs {
						lo := 0
						if tt.a.Collective == "reduce_scatter" {
							lo = mem.ChunkOf(n, world, r).Lo
						}
						for i, v := range got {
							if want := sumInOrder(typ, in, lo+i, tt.order(world, r, lo+i)); v != want {
								t.Fatalf("rank %d, element %d: %v, want %v, the sum in the order %v", r, i, v, want,
									tt.order(world, r, lo+i))
							}
						}
						same = same && slices.Equal(got, out.Outputs[0])
					}
					if same != tt.agree {
						t.Errorf("all ranks have the same result: %v, want %v", same, tt.agree)
					}
				})
			}
		}
	}
}

// sumInOrder adds element i of the ranks in an order, rounding after each addition.
func sumInOrder(typ dtype.Type, in [][]float64, i int, order []int) float64 {
	acc, next := make([]byte, typ.Size()), make([]byte, typ.Size())
	dtype.Set(typ, acc, 0, in[order[0]][i])
	for _, r := range order[1:] {
		dtype.Set(typ, next, 0, in[r][i])
		dtype.Binary(dtype.Add, typ, acc, acc, next)
	}
	return dtype.At(typ, acc, 0)
}

// The bytes and notifications of each rank equal the published closed forms, for counts divisible
// by the ranks.
func TestWindowTraffic(t *testing.T) {
	one := func(int) int { return 64 }
	each := func(p int) int { return 64 * p }
	vector := func(p int) int {
		if p > 16 {
			return 8 * p
		}
		return 256
	}
	type form func(p, n, rank int) int64
	const size = 4
	whole := func(p, n, _ int) int64 { return int64(size * n * (p - 1)) }
	least := func(p, n, _ int) int64 { return int64(2 * (p - 1) * size * n / p) }
	block := func(p, n, _ int) int64 { return int64((p - 1) * size * n / p) }
	none := func(_, _, _ int) int64 { return 0 }
	others := func(p, _, _ int) int64 { return int64(p - 1) }
	twice := func(p, _, _ int) int64 { return int64(2 * (p - 1)) }
	bothWays := func(p, _, _ int) int64 { return int64(min(2, p-1) * (p - 1)) }
	tests := []struct {
		a                       *algorithm.Algorithm
		n                       func(p int) int
		read, written, notifies form
		puts                    form
		known                   [3][2]int64 // bytes per rank and notifications in all, for 2, 4, 8 ranks
	}{
		{algorithm.WindowAllReduceOnePhase, vector, whole, none, others, none, [3][2]int64{{1024, 2}, {3072, 12}, {7168, 56}}},
		{algorithm.WindowAllReduceTwoPhase, vector, least, none, twice, none, [3][2]int64{{1024, 4}, {1536, 24}, {1792, 112}}},
		{algorithm.WindowAllReduceRing, vector, least, none, twice, none, [3][2]int64{{1024, 4}, {1536, 24}, {1792, 112}}},
		{algorithm.WindowAllReduceBidirectionalRing, vector, none, least, func(p, _, _ int) int64 {
			return int64(min(2, p-1) * (2*p - 1)) // with two ranks both neighbours are the same rank
		}, func(p, _, _ int) int64 { return int64(4 * (p - 1)) }, [3][2]int64{{1024, 6}, {1536, 56}, {1792, 240}}},
		{algorithm.WindowAllGather, one, whole, none, others, none, [3][2]int64{{256, 2}, {768, 12}, {1792, 56}}},
		{algorithm.WindowAllGatherRing, one, whole, none, others, none, [3][2]int64{{256, 2}, {768, 12}, {1792, 56}}},
		{algorithm.WindowAllGatherBidirectionalRing, one, none, whole, bothWays, twice, [3][2]int64{{256, 2}, {768, 24}, {1792, 112}}},
		{algorithm.WindowReduceScatter, each, block, none, others, none, [3][2]int64{{256, 2}, {768, 12}, {1792, 56}}},
		{algorithm.WindowReduceScatterRing, each, block, none, others, none, [3][2]int64{{256, 2}, {768, 12}, {1792, 56}}},
		{algorithm.WindowReduceScatterBidirectionalRing, each, none, block, func(p, _, _ int) int64 {
			return int64(min(2, p-1) * p)
		}, twice, [3][2]int64{{256, 4}, {768, 32}, {1792, 128}}},
		{algorithm.WindowAllToAll, each, none, block, others, others, [3][2]int64{{256, 2}, {768, 12}, {1792, 56}}},
		{algorithm.WindowAllGatherPush, one, none, whole, others, others, [3][2]int64{{256, 2}, {768, 12}, {1792, 56}}},
		{algorithm.WindowReduceScatterPush, each, none, block, others, others, [3][2]int64{{256, 2}, {768, 12}, {1792, 56}}},
		{algorithm.WindowAllReduceOnePhasePush, vector, none, whole, others, others, [3][2]int64{{1024, 2}, {3072, 12}, {7168, 56}}},
		{algorithm.WindowAllReduceTwoPhasePush, vector, none, least, twice, twice, [3][2]int64{{1024, 4}, {1536, 24}, {1792, 112}}},
		{algorithm.WindowBroadcast, one, func(_, n, rank int) int64 { return int64(size * n * min(1, rank)) }, none, others, none,
			[3][2]int64{{256, 2}, {256, 12}, {256, 56}}},
	}
	for _, tt := range tests {
		for k, world := range []int{2, 4, 8, 16, 31} {
			t.Run(fmt.Sprintf("%s/%d", tt.a.Name, world), func(t *testing.T) {
				n := tt.n(world)
				out := observe(t, tt.a, dtype.F32, filled(world, n, func(int, int) float64 { return 1 }))
				want := make([]tl.Traffic, world)
				total := int64(0)
				for r := range want {
					notifies := tt.notifies(world, n, r)
					want[r] = tl.Traffic{
						Rank: r, Read: tt.read(world, n, r), Written: tt.written(world, n, r),
						Notifies: notifies, Waits: notifies, Puts: tt.puts(world, n, r),
					}
					total += notifies
				}
				if d := cmp.Diff(want, out.Result.Traffic); d != "" {
					t.Errorf("traffic (-want +got):\n%s", d)
				}
				if last := want[world-1]; k < len(tt.known) && (last.Remote() != tt.known[k][0] || total != tt.known[k][1]) {
					t.Errorf("%d bytes per rank, %d notifications, want %v", last.Remote(), total, tt.known[k])
				}
			})
		}
	}
}

// The size of a window is that of its data plus 64 bytes per row of signals. A row has 16 words, if
// these are enough for all ranks.
func TestWindowBytes(t *testing.T) {
	one := func(int) int { return 64 }
	each := func(world int) int { return 64 * world }
	vector := func(int) int { return 256 }
	tests := []struct {
		a     *algorithm.Algorithm
		n     func(world int) int
		bytes [4]int64 // for 2, 4, 8, 16 ranks, f32
		data  int      // elements for 2 ranks
		words int      // signals for 2 ranks
	}{
		{algorithm.WindowAllGather, one, [4]int64{320, 320, 320, 320}, 64, 16},
		{algorithm.WindowBroadcast, one, [4]int64{320, 320, 320, 320}, 64, 16},
		{algorithm.WindowAllGatherRing, one, [4]int64{576, 1216, 2496, 5056}, 128, 16},
		{algorithm.WindowAllGatherBidirectionalRing, one, [4]int64{576, 1216, 2496, 5056}, 128, 16},
		{algorithm.WindowReduceScatterRing, each, [4]int64{576, 1216, 2496, 5056}, 128, 16},
		{algorithm.WindowReduceScatterBidirectionalRing, each, [4]int64{640, 1280, 2560, 5120}, 128, 32},
		{algorithm.WindowReduceScatter, each, [4]int64{576, 1088, 2112, 4160}, 128, 16},
		{algorithm.WindowAllToAll, each, [4]int64{576, 1088, 2112, 4160}, 128, 16},
		{algorithm.WindowAllToAllV, each, [4]int64{640, 1152, 2176, 4224}, 128, 32},
		{algorithm.WindowAllToAllVPairwise, each, [4]int64{640, 1152, 2176, 4224}, 128, 32},
		{algorithm.WindowAllReduceOnePhase, vector, [4]int64{1088, 1088, 1088, 1088}, 256, 16},
		{algorithm.WindowAllReduceTwoPhase, vector, [4]int64{1152, 1152, 1152, 1152}, 256, 32},
		{algorithm.WindowAllReduceRing, vector, [4]int64{1664, 1664, 2048, 3008}, 384, 32},
		{algorithm.WindowAllReduceBidirectionalRing, vector, [4]int64{1216, 1472, 1984, 3008}, 256, 48},
		{algorithm.CubeRootAllReduce, vector, [4]int64{1088, 1088, 1088, 1088}, 256, 16},
		{algorithm.HierarchicalDirectAllReduce, vector, [4]int64{1152, 1152, 1152, 1152}, 256, 32},
		{algorithm.HierarchicalAllReduce, vector, [4]int64{1152, 1216, 1280, 1344}, 256, 32},
		{algorithm.PairwiseReduceScatter, each, [4]int64{576, 1088, 2112, 4160}, 128, 16},
		{algorithm.PairwiseAllToAll, each, [4]int64{576, 1088, 2112, 4160}, 128, 16},
		{algorithm.LinearGather, one, [4]int64{640, 1152, 2176, 4224}, 128, 32},
		{algorithm.LinearScatter, each, [4]int64{384, 384, 384, 384}, 64, 32},
		{algorithm.BruckAllGather, one, [4]int64{512, 1024, 2048, 4096}, 128, 0},
		{algorithm.BruckAllToAll, each, [4]int64{512, 1536, 4096, 10240}, 128, 0},
		{algorithm.BinomialGather, one, [4]int64{512, 1024, 2048, 4096}, 128, 0},
		{algorithm.BinomialScatter, each, [4]int64{512, 1024, 2048, 4096}, 128, 0},
		{algorithm.WindowAllGatherPush, one, [4]int64{576, 1088, 2112, 4160}, 128, 16},
		{algorithm.WindowReduceScatterPush, each, [4]int64{576, 1088, 2112, 4160}, 128, 16},
		{algorithm.WindowAllReduceOnePhasePush, vector, [4]int64{2112, 4160, 8256, 16448}, 512, 16},
		{algorithm.WindowAllReduceTwoPhasePush, vector, [4]int64{2176, 2176, 2176, 2176}, 512, 32},
		{algorithm.HierarchicalAllGather, one, [4]int64{576, 1088, 2112, 4160}, 128, 16},
		{algorithm.HierarchicalReduceScatter, each, [4]int64{576, 1088, 2112, 4160}, 128, 16},
		{algorithm.HierarchicalAllToAll, each, [4]int64{1152, 2176, 4224, 8320}, 256, 32},
		{algorithm.TorusReduceScatter, each, [4]int64{512, 1024, 2048, 4096}, 128, 0},
		{algorithm.BucketReduceScatter, each, [4]int64{512, 1024, 2048, 4096}, 128, 0},
		{algorithm.MeshReduceScatter, each, [4]int64{512, 1024, 2048, 4096}, 128, 0},
		{algorithm.MultiRingReduceScatter, each, [4]int64{384, 640, 1152, 2176}, 96, 0},
		{algorithm.RecursiveHalvingReduceScatter, each, [4]int64{512, 1024, 2048, 4096}, 128, 0},
		{algorithm.DirectReduceScatter, each, [4]int64{384, 384, 384, 384}, 64, 32},
		{algorithm.NVLSAllReduce, vector, [4]int64{1088, 1088, 1088, 1088}, 256, 16},
		{algorithm.WindowAllReduceOnePhaseLL, vector, [4]int64{2112, 4160, 8256, 16448}, 512, 16},
		{algorithm.WindowAllReduceTwoPhaseLL, vector, [4]int64{2176, 2176, 2176, 2176}, 512, 32},
		{algorithm.NVLSTreeAllReduce, vector, [4]int64{3200, 3456, 3712, 3968}, 640, 160},
		{algorithm.SHARPAllReduce, vector, [4]int64{2176, 2176, 2176, 2176}, 512, 32},
		{algorithm.NVLSReduceScatter, each, [4]int64{576, 1088, 2112, 4160}, 128, 16},
		{algorithm.NVLSAllGather, one, [4]int64{576, 1088, 2112, 4160}, 128, 16},
		{algorithm.ReduceScatterGatherReduce, vector, [4]int64{1024, 1024, 1024, 1024}, 256, 0},
		{algorithm.RailAllGather, one, [4]int64{2944, 3712, 5248, 8320}, 192, 34 * 16},
		{algorithm.RailReduceScatter, each, [4]int64{3328, 4096, 5632, 8704}, 288, 34 * 16},
		{algorithm.RailBroadcast, vector, [4]int64{3392, 3392, 3392, 3392}, 288, 35 * 16},
		{algorithm.RailAllReduce, vector, [4]int64{7296, 8320, 10368, 14464}, 768, 66 * 16},
	}
	for _, tt := range tests {
		for k, world := range []int{2, 4, 8, 16} {
			l, err := tt.a.Window(world, tt.n(world), dtype.F32)
			if err != nil {
				t.Fatal(err)
			}
			if l.Bytes != tt.bytes[k] {
				t.Errorf("%s of %d ranks: %d bytes, want %d", tt.a.Name, world, l.Bytes, tt.bytes[k])
			}
			words := 0
			if signals := l.Find("scratch.signals"); signals != nil {
				words = signals.Count
			}
			if data := l.Find("scratch.data"); k == 0 && (data.Count != tt.data || words != tt.words) {
				t.Errorf("%s: %v and %d signals", tt.a.Name, data, words)
			}
		}
	}
	if len(tests) != len(onScratch()) {
		t.Errorf("%d of %d algorithms over windows are in the table", len(tests), len(onScratch()))
	}
}

// A window has a layout for vectors of any length and type. A mesh's row of signals has a word for
// every rank, a ring's row always 16.
func TestWindowOfAnySize(t *testing.T) {
	for _, a := range onScratch() {
		for _, typ := range dtype.Types() {
			for _, n := range []int{0, 1, 3, 5, 1 << 20} {
				l, err := a.Window(40, n*40, typ)
				if err != nil {
					t.Errorf("%s, %d × %v: %v", a.Name, n, typ, err)
				} else if w := l.Find("scratch.signals"); w == nil {
					continue // messages between neighbours need no signals
				} else if !strings.HasSuffix(a.Name, "_ring") && a != algorithm.HierarchicalAllReduce &&
					w.Count%40 != 0 || w.Count%16 != 0 && w.Count%40 != 0 {
					t.Errorf("%s of 40 ranks: %v is not a whole number of rows", a.Name, w)
				}
			}
		}
	}
}

func TestWindowRefusals(t *testing.T) {
	for _, a := range onScratch() {
		for name, bad := range map[string]func() (*mem.Layout, error){
			"no ranks":         func() (*mem.Layout, error) { return a.Window(0, 64, dtype.F32) },
			"negative ranks":   func() (*mem.Layout, error) { return a.Window(-1, 64, dtype.F32) },
			"negative number":  func() (*mem.Layout, error) { return a.Window(4, -64, dtype.F32) },
			"no type":          func() (*mem.Layout, error) { return a.Window(4, 64, dtype.Invalid) },
			"beyond all bytes": func() (*mem.Layout, error) { return a.Window(4, math.MaxInt/2, dtype.F64) },
			"beyond all ints":  func() (*mem.Layout, error) { return a.Window(4, math.MaxInt/2+1, dtype.F64) },
		} {
			if _, err := bad(); err == nil {
				t.Errorf("%s: %s: no error", a.Name, name)
			}
		}
	}

	check := algorithm.WindowAllToAll.Check
	if err := check(4, 64); err != nil {
		t.Error(err)
	}
	if err := check(4, 66); err == nil || !strings.Contains(err.Error(), "66 elements among 4 ranks") {
		t.Errorf("66 elements among 4 ranks: %v", err)
	}

	for _, root := range []int{-1, 3} {
		layout, err := algorithm.WindowBroadcast.Window(3, 4, dtype.F32)
		if err != nil {
			t.Fatal(err)
		}
		_, err = kerneltest.Try(algorithm.WindowBroadcast.Kernel, kerneltest.Config{
			Topology: "none", Inputs: numbered(3, 4), Args: []int{root}, Layout: layout,
		})
		var f *fault.NotMember
		if !errors.As(err, &f) || f.Peer != root || !f.ByRank {
			t.Errorf("root %d of 3 ranks: %v", root, err)
		}
	}
}

// Results are right in every order of effects that the weakest memory model allows.
func TestWindowSchedules(t *testing.T) {
	for _, a := range overWindows() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(12) {
				for i, world := range []int{2, 3, 4, 6} {
					if !exhaustive.On() && (int(seed)+i)%2 > 0 {
						continue
					}
					check(t, a, run{size: size{world: world, n: 2 * world, grid: someGrid(t, a, world)},
						typ: dtype.I32, op: tl.Sum, seed: seed + 1})
				}
			}
		})
	}
}
