package mock_test

import (
	"fmt"
	"slices"
	"testing"

	"kernbench/algorithm"
	"kernbench/exec/mock"
	"kernbench/tl"

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

func ExampleTry() {
	// Every rank adds its western neighbour's vector to its own.
	kernel := func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		own := c.Load(mine)
		c.Send(tl.East, own)
		c.Store(mine, c.Add(own, c.Recv(tl.West, own.Shape(), own.DType())))
	}
	out, err := mock.Try(kernel, mock.Config{Inputs: [][]float64{{1, 2}, {10, 20}, {100, 200}}})
	fmt.Println(out, err)
	// Output: [[101 202] [11 22] [110 220]] <nil>
}

func TestRunReturnsShards(t *testing.T) {
	got := mock.Run(t, algorithm.RingAllReduce.Kernel, mock.Config{Inputs: vectors(4, 3)})
	for r := range got {
		if want := []float64{10, 10 + 4./1024, 10 + 8./1024}; !slices.Equal(got[r], want) {
			t.Errorf("rank %d: %v, want %v", r, got[r], want)
		}
	}
}
