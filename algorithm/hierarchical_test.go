package algorithm_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/race"
	"kernbench/tl"
)

// levels are shapes of a world: PEs per cube, what a launch says of its levels, and what comes
// of it.
var levels = []struct {
	world, perCube int
	asked, widths  []int
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

// hierarchical is a run of it on one of these shapes.
func hierarchical(t *testing.T, world, perCube, n int, asked []int) mock.Config {
	layout, err := algorithm.HierarchicalAllReduce.Window(world, n, dtype.F32)
	if err != nil {
		t.Fatal(err)
	}
	return mock.Config{
		Topology: "none", PEsPerCube: perCube, Args: asked, Layout: layout,
		Inputs: filled(world, n, func(r, i int) float64 { return float64(r*r + i) }),
	}
}

// At every level all is reduced and gathered, and no rank's put meets what another still uses.
func TestHierarchicalLevels(t *testing.T) {
	for _, l := range levels {
		for _, n := range []int{1, 7, 96, 101} {
			t.Run(fmt.Sprintf("%d/%d/%v/n=%d", l.world, l.perCube, l.asked, n), func(t *testing.T) {
				for seed := range uint64(3) {
					cfg := hierarchical(t, l.world, l.perCube, n, l.asked)
					cfg.Seed = seed
					got, rep, err := race.Try(algorithm.HierarchicalAllReduce.Kernel, cfg)
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

// A level of w moves 2(w-1)/w of the part that the level below leaves, and so all levels
// together what one ring does, in far fewer puts.
func TestHierarchicalTraffic(t *testing.T) {
	const perRank = 16
	for _, l := range levels {
		n := perRank * l.world
		out, err := mock.Observe(context.Background(), algorithm.HierarchicalAllReduce.Kernel, hierarchical(t, l.world, l.perCube, n, l.asked))
		if err != nil {
			t.Fatal(err)
		}
		want := tl.Traffic{Written: int64(2 * (l.world - 1) * perRank * 4)}
		for _, w := range l.widths {
			want.Puts += int64(4 * (w - 1))
			want.Notifies += int64(min(2, w-1) * (2*w - 1)) // of two ranks both neighbours are one
		}
		want.Waits = want.Notifies
		for r, got := range out.Result.Traffic {
			want.Rank = r
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("%d ranks, %d in a cube, %v: traffic (-want +got):\n%s", l.world, l.perCube, l.asked, d)
			}
		}
	}
}

// Calls that follow one another on two windows do not see each other, with levels either.
func TestHierarchicalInTurn(t *testing.T) {
	for _, l := range levels {
		a := *algorithm.HierarchicalAllReduce
		a.Kernel = func(c *tl.Context, args tl.Args) {
			args.Ints = l.widths
			algorithm.HierarchicalAllReduce.Kernel(c, args)
		}
		for seed := range uint64(3) {
			x := &again{a: &a, co: collective.AllReduce, world: l.world, sizes: []int{5, 12, 1, 0, 9, 40}, windows: 2}
			if err := x.run(t, seed); err != nil {
				t.Fatalf("%d ranks, %v, schedule %d: %v", l.world, l.widths, seed, err)
			}
		}
	}
}

func TestHierarchicalRefusesLevels(t *testing.T) {
	for _, asked := range [][]int{{3}, {2, 3}, {0}, {-2}} {
		_, err := mock.Try(algorithm.HierarchicalAllReduce.Kernel, hierarchical(t, 8, 8, 4, asked))
		if want := fmt.Sprintf("levels of %v: they do not divide 8 ranks", asked); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", asked, err, want)
		}
	}
}
