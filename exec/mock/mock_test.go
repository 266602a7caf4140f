package mock_test

import (
	"slices"
	"testing"

	"kernbench/algorithm"
	_ "kernbench/internal/fewcollections"
	"kernbench/kerneltest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// vectors is n elements for each of world ranks: rank r's element i is r+1 + i/1024.
func vectors(world, n int) [][]float64 {
	in := make([][]float64, world)
	for r := range in {
		in[r] = make([]float64, n)
		for i := range in[r] {
			in[r][i] = float64(r+1) + float64(i)/1024
		}
	}
	return in
}

func TestShards(t *testing.T) {
	got := kerneltest.Once(t, algorithm.RingAllReduce.Kernel, kerneltest.Config{Inputs: vectors(4, 3)})
	for r := range got {
		if want := []float64{10, 10 + 4./1024, 10 + 8./1024}; !slices.Equal(got[r], want) {
			t.Errorf("rank %d: %v, want %v", r, got[r], want)
		}
	}
}
