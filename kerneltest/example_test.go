package kerneltest_test

import (
	"fmt"

	"kernbench/kerneltest"
	"kernbench/tl"
)

func ExampleTry() {
	// Every rank adds its western neighbour's vector to its own.
	kernel := func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		own := c.Load(mine)
		c.Send(tl.East, own)
		c.Store(mine, c.Add(own, c.Recv(tl.West, own.Shape(), own.DType())))
	}
	out, err := kerneltest.Try(kernel, kerneltest.Config{Inputs: [][]float64{{1, 2}, {10, 20}, {100, 200}}})
	fmt.Println(out, err)
	// Output: [[101 202] [11 22] [110 220]] <nil>
}
