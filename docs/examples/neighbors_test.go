package main

import (
	"slices"
	"testing"

	"kernbench/kerneltest"
	"kernbench/tl"
)

func TestPatternA(t *testing.T) {
	in := [][]float64{{0}, {1}, {2}, {3}}
	got := kerneltest.Once(t, pairs, kerneltest.Config{Topology: "ring_1d", Neighbors: evenWest, Inputs: in})
	for r, want := range []float64{3, 2, 1, 0} {
		if got[r][0] != want {
			t.Errorf("rank %d has %v, want %v", r, got[r][0], want)
		}
	}
	_, err := kerneltest.Try(func(c *tl.Context, a tl.Args) {
		c.Send(tl.West, c.Load(a.Shard(c.Rank())))
		c.Recv(tl.East, tl.Dims(1), a.DType)
	}, kerneltest.Config{Topology: "ring_1d", Neighbors: evenWest, Inputs: in})
	if err == nil {
		t.Error("an odd rank could send west")
	}
}

func TestPatternB(t *testing.T) {
	got := kerneltest.Once(t, twoFurther, kerneltest.Config{Topology: "none", Neighbors: skip,
		Inputs: [][]float64{{0}, {1}, {2}, {3}, {4}}})
	if want := [][]float64{{3}, {4}, {0}, {1}, {2}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Pattern C: a nil override, or one that returns nil, keeps the topology's neighbours.
func TestPatternC(t *testing.T) {
	out := kerneltest.Once(t, passOn, kerneltest.Config{Inputs: [][]float64{{0}, {1}, {2}}, Neighbors: keep})
	if want := [][]float64{{2}, {0}, {1}}; !slices.EqualFunc(out, want, slices.Equal) {
		t.Errorf("got %v, want %v", out, want)
	}
}
