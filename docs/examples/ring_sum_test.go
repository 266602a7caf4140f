// guide: ring test

package main

import (
	"testing"

	"kernbench/dtype"
	"kernbench/kerneltest"
	"kernbench/tl"
)

func TestRingSum(t *testing.T) {
	for _, world := range []int{1, 2, 3, 8} {
		kerneltest.Run(t, ringSum, kerneltest.Config{
			Collective: "all_reduce", World: world, NElem: 5, DType: dtype.I32, Op: tl.Max,
			Schedules: 3, // random ones, besides that of each executor
		})
	}
}

// end
