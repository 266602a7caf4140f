package algorithm_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/internal/exhaustive"
	"kernbench/kerneltest"
	"kernbench/tl"
)

// levels lists worlds: PEs per cube, the levels that a launch requests, and the widths of the
// levels that result.
var levels = []struct {
	world, perCube    int
	requested, widths []int
}{
	{1, 1, nil, nil},
	{6, 2, nil, []int{2, 3}},
	{8, 4, nil, []int{4, 2}},
	{12, 8, nil, []int{4, 3}}, // the second cube is half full
	{7, 4, nil, []int{7}},     // nothing divides 7
	{8, 8, []int{2, 2}, []int{2, 2, 2}},
	{30, 2, []int{2, 5}, []int{2, 5, 3}},
	{6, 1, []int{1, 3, 2}, []int{3, 2}},
	{32, 8, nil, []int{8, 4}},
}

// byLevels lists the all-reduces that follow the levels of a machine.
var byLevels = []*algorithm.Algorithm{algorithm.HierarchicalAllReduce, algorithm.HierarchicalDirectAllReduce,
	algorithm.CubeRootAllReduce, algorithm.RailAllReduce}

// onLevels returns the configuration of an algorithm in one of these worlds.
func onLevels(t *testing.T, a *algorithm.Algorithm, world, perCube, n int, requested []int) kerneltest.Config {
	layout, err := a.Window(world, n, dtype.F32)
	if err != nil {
		t.Fatal(err)
	}
	return kerneltest.Config{
		Topology: "none", PEsPerCube: perCube, Args: requested, Layout: layout,
		Inputs: filled(world, n, func(r, i int) float64 { return float64(r*r + i) }),
	}
}

// othersByLevels lists the other algorithms that follow the levels, with the traffic of each rank
// for blocks of b bytes. The last one distinguishes the ranks inside and outside the innermost
// level only.
var othersByLevels = []struct {
	a    *algorithm.Algorithm
	want func(world, b int, widths []int) tl.Traffic
}{
	{algorithm.HierarchicalAllGather, func(world, b int, widths []int) (t tl.Traffic) {
		t.Read = int64((world - 1) * world * b) // a rank's vector is a block of all ranks here
		return addBarriers(t, widths)
	}},
	{algorithm.HierarchicalReduceScatter, func(world, b int, widths []int) (t tl.Traffic) {
		t.Read = int64((world - 1) * b)
		return addBarriers(t, widths)
	}},
	{algorithm.HierarchicalAllToAll, func(world, b int, widths []int) (t tl.Traffic) {
		places := append(widths, 1)[0]
		cubes := world / places
		t.Puts = int64((places-1)*cubes + cubes - 1)
		t.Written = int64((places-1)*cubes*b + (cubes-1)*places*b)
		t.Notifies, t.Waits = t.Puts, t.Puts
		return t
	}},
}

// addBarriers adds one barrier of each level to t.
func addBarriers(t tl.Traffic, widths []int) tl.Traffic {
	for _, w := range widths {
		t.Notifies += int64(w - 1)
	}
	t.Waits = t.Notifies
	return t
}

// For all levels results are right, and the traffic of each rank equals the closed form.
func TestOthersByLevels(t *testing.T) {
	const perRank = 3
	for _, o := range othersByLevels {
		for _, l := range levels {
			t.Run(fmt.Sprintf("%s/%d/%d/%v", o.a.Name, l.world, l.perCube, l.requested), func(t *testing.T) {
				x := run{size: size{world: l.world}, typ: dtype.F32, op: tl.Sum, cube: l.perCube, args: l.requested}
				for _, x.n = range []int{0, perRank * l.world, 7 * l.world, 101} {
					for x.seed = range uint64(3) {
						if !exhaustive.On() && x.seed > 0 && x.n != 101 {
							continue
						}
						check(t, o.a, x)
					}
				}
				n := perRank * l.world
				cfg := onLevels(t, o.a, l.world, l.perCube, n, l.requested)
				cfg.OutElems = slices.Repeat([]int{n * l.world}, l.world)
				out, err := kerneltest.Observe(t.Context(), o.a.Kernel, cfg)
				if err != nil {
					t.Fatal(err)
				}
				for r, got := range out.Result.Traffic {
					want := o.want(l.world, 4*perRank, l.widths)
					if want.Rank = r; got != want {
						t.Fatalf("rank %d: traffic %+v, want %+v", r, got, want)
					}
				}
			})
		}
	}
}

// For all levels results are right, and no rank changes data that another rank still uses.
func TestLevels(t *testing.T) {
	for _, a := range byLevels {
		for _, l := range levels {
			for i, n := range []int{1, 7, 101} {
				t.Run(fmt.Sprintf("%s/%d/%d/%v/n=%d", a.Name, l.world, l.perCube, l.requested, n), func(t *testing.T) {
					for seed := range uint64(3) {
						if !exhaustive.On() && seed == uint64(i) {
							continue
						}
						cfg := onLevels(t, a, l.world, l.perCube, n, l.requested)
						cfg.Seed = seed
						got, rep, err := kerneltest.Races(a.Kernel, cfg)
						if err != nil {
							t.Fatal(err)
						}
						if rep.Total > 0 || rep.Unsettled {
							t.Fatalf("%d hazards, unsettled %v: %v", rep.Total, rep.Unsettled, rep)
						}
						for r := range got {
							for i, v := range got[r] {
								if want := float64((l.world-1)*l.world*(2*l.world-1)/6 + i*l.world); v != want {
									t.Fatalf("rank %d has %v for element %d, want %v", r, v, i, want)
								}
							}
						}
					}
				})
			}
		}
	}
}

// A level of w ranks moves 2(w-1)/w of the part that the level below leaves. So all levels together
// move as many bytes as one ring, in far fewer puts.
func TestHierarchicalTraffic(t *testing.T) {
	const perRank = 16
	for _, l := range levels {
		n := perRank * l.world
		out, err := kerneltest.Observe(context.Background(), algorithm.HierarchicalAllReduce.Kernel,
			onLevels(t, algorithm.HierarchicalAllReduce, l.world, l.perCube, n, l.requested))
		if err != nil {
			t.Fatal(err)
		}
		want := tl.Traffic{Written: int64(2 * (l.world - 1) * perRank * 4)}
		for _, w := range l.widths {
			want.Puts += int64(4 * (w - 1))
			want.Notifies += int64(min(2, w-1) * (2*w - 1)) // with two ranks both neighbours are the same rank
		}
		want.Waits = want.Notifies
		for r, got := range out.Result.Traffic {
			want.Rank = r
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("%d ranks, %d in a cube, %v: traffic (-want +got):\n%s", l.world, l.perCube, l.requested, d)
			}
		}
	}
}

// With reads the bytes are the same, and each level has two barriers.
func TestHierarchicalDirectTraffic(t *testing.T) {
	const perRank = 16
	for _, l := range levels {
		a := algorithm.HierarchicalDirectAllReduce
		out, err := kerneltest.Observe(context.Background(), a.Kernel, onLevels(t, a, l.world, l.perCube, perRank*l.world, l.requested))
		if err != nil {
			t.Fatal(err)
		}
		want := tl.Traffic{Read: int64(2 * (l.world - 1) * perRank * 4)}
		for _, w := range l.widths {
			want.Notifies += int64(2 * (w - 1))
		}
		want.Waits = want.Notifies
		for r, got := range out.Result.Traffic {
			want.Rank = r
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("%d ranks, %d in a cube, %v: traffic (-want +got):\n%s", l.world, l.perCube, l.requested, d)
			}
		}
	}
}

// A root reads the vectors of its members, once for each level; all but the first rank read
// the result, once.
func TestCubeRootTraffic(t *testing.T) {
	const n = 48
	for _, l := range levels {
		out, err := kerneltest.Observe(context.Background(), algorithm.CubeRootAllReduce.Kernel,
			onLevels(t, algorithm.CubeRootAllReduce, l.world, l.perCube, n, l.requested))
		if err != nil {
			t.Fatal(err)
		}
		for r, got := range out.Result.Traffic {
			members, stride := 0, 1
			for _, w := range l.widths {
				if r%(stride*w) != 0 {
					break
				}
				members, stride = members+w-1, stride*w
			}
			own := min(r, 1) // each rank but the first is a member once
			want := tl.Traffic{Rank: r, Read: int64((members + own) * n * 4), Notifies: int64(members + own), Waits: int64(members + own)}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("%d ranks, %d in a cube, %v: traffic (-want +got):\n%s", l.world, l.perCube, l.requested, d)
			}
		}
	}
}

// On levels, too, consecutive calls on two windows do not affect each other.
func TestLevelsOnAlternatingWindows(t *testing.T) {
	all := slices.Clone(byLevels)
	for _, o := range othersByLevels {
		all = append(all, o.a)
	}
	for _, a := range all {
		co, err := collective.Lookup(a.Collective)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range levels {
			sizes := []int{5, 12, 1, 0, 9, 40}
			if co.Blocks {
				for i := range sizes {
					sizes[i] *= l.world
				}
			}
			row := *a
			row.Kernel = func(c *tl.Context, args tl.Args) {
				args.Ints = l.widths
				a.Kernel(c, args)
			}
			for seed := range uint64(2) {
				if !exhaustive.On() && seed != uint64(i%2) {
					continue
				}
				x := &series{a: &row, co: co, world: l.world, sizes: sizes, windows: 2}
				if err := x.run(t, seed); err != nil {
					t.Fatalf("%s, %d ranks, %v, schedule %d: %v", a.Name, l.world, l.widths, seed, err)
				}
			}
		}
	}
}

func TestLevelsThatDoNotDivide(t *testing.T) {
	for _, a := range byLevels {
		for _, requested := range [][]int{{3}, {2, 3}, {0}, {-2}} {
			_, err := kerneltest.Try(a.Kernel, onLevels(t, a, 8, 8, 4, requested))
			if want := fmt.Sprintf("levels %v: each must be at least 1, and their product must divide 8 ranks", requested); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %v: %v, want %q", a.Name, requested, err, want)
			}
		}
	}
}
