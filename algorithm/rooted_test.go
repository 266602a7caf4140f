package algorithm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/tl"
)

// withRoot lists the algorithms of collectives that have a root.
func withRoot(t *testing.T) []*algorithm.Algorithm {
	return slices.DeleteFunc(algorithm.All(), func(a *algorithm.Algorithm) bool {
		co, err := collective.Lookup(a.Collective)
		if err != nil {
			t.Fatal(err)
		}
		return !co.Rooted
	})
}

// Any rank can be the root, in any world.
func TestRoots(t *testing.T) {
	for _, a := range withRoot(t) {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			for _, world := range []int{1, 2, 3, 4, 6, 7, 9, 16} {
				for root := range world {
					for _, n := range []int{1, 5} {
						t.Run(fmt.Sprintf("%d/%d/%d", world, root, n), func(t *testing.T) {
							check(t, a, run{size: size{world: world, n: n * world}, typ: dtype.F16, op: tl.Avg, args: []int{root}})
						})
					}
				}
			}
		})
	}
}

// Along a chain the vector may be cut in any number of pieces.
func TestPieces(t *testing.T) {
	for _, a := range []*algorithm.Algorithm{algorithm.ChainBroadcast, algorithm.ChainReduce} {
		for _, pieces := range []int{0, 1, 2, 3, 40, 1000} {
			for _, n := range []int{0, 1, 41, 2000} {
				for _, world := range []int{1, 2, 5} {
					t.Run(fmt.Sprintf("%s/%d/%d/%d", a.Name, pieces, n, world), func(t *testing.T) {
						check(t, a, run{size: size{world: world, n: n}, typ: dtype.I16, op: tl.Sum, args: []int{world / 2, pieces}})
					})
				}
			}
		}
	}
}

// The number of pieces is the one of the formula: a slot's worth of latency, by hand.
func TestBestPieces(t *testing.T) {
	for _, tt := range []struct{ world, n, pieces int }{
		{2, 1 << 14, 1},      // nobody hands on
		{2, 1 << 16, 4},      // and a piece is a tile at most
		{3, 1024, 1},         // 1 × 4 KiB / 4 KiB
		{6, 4096, 4},         // 4 × 16 KiB / 4 KiB
		{18, 1 << 14, 16},    // 16 × 64 KiB / 4 KiB
		{18, 3, 1},           // hardly anything
		{102, 25 * 1024, 50}, // 100 × 100 KiB / 4 KiB
	} {
		o, err := mock.Observe(t.Context(), algorithm.ChainBroadcast.Kernel, mock.Config{
			Inputs: numbered(tt.world, tt.n), Args: []int{0, 0}, SlotBytes: 1 << 20, // a piece is a message
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := int64((tt.world - 1) * tt.pieces); o.Result.Messages != want {
			t.Errorf("%d elements along %d ranks: %d messages, want %d", tt.n, tt.world, o.Result.Messages, want)
		}
	}
}

// What cannot be is said, before anybody waits for it.
func TestRootedRefusals(t *testing.T) {
	for _, a := range withRoot(t) {
		if a == algorithm.WindowBroadcast {
			continue // refuses a root by another rule
		}
		for _, root := range []int{-1, 3} {
			cfg := mock.Config{Topology: a.Topology, Inputs: numbered(3, 6), Args: []int{root}, OutElems: []int{18, 18, 18}}
			if a.Window != nil {
				var err error
				if cfg.Layout, err = a.Window(3, 6, dtype.F32); err != nil {
					t.Fatal(err)
				}
			}
			_, err := mock.Try(a.Kernel, cfg)
			if want := fmt.Sprintf("root %d of 3 ranks: the root is one of 0 to 2", root); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want it to contain %q", a.Name, err, want)
			}
		}
	}
	for _, a := range []*algorithm.Algorithm{algorithm.ChainBroadcast, algorithm.ChainReduce} {
		_, err := mock.Try(a.Kernel, mock.Config{Inputs: numbered(3, 6), Args: []int{0, -2}})
		if err == nil || !strings.Contains(err.Error(), "-2 pieces: one or more, or 0") {
			t.Errorf("%s: %v", a.Name, err)
		}
	}
	for _, a := range []*algorithm.Algorithm{algorithm.RecursiveDoublingAllGather, algorithm.RecursiveHalvingReduceScatter, algorithm.HypercubeExchange} {
		for world, ok := range map[int]bool{0: false, 1: true, 2: true, 3: false, 6: false, 64: true, -4: false} {
			if err := a.Check(world, 5); (err == nil) != ok || !ok && !strings.Contains(err.Error(), "must be a power of two") {
				t.Errorf("%s of %d ranks: %v", a.Name, world, err)
			}
		}
	}
}
