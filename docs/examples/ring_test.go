// guide: table test

package main

import (
	"fmt"
	"testing"

	"kernbench/kerneltest"
	"kernbench/tl"
)

func TestSums(t *testing.T) {
	for _, k := range []struct {
		name, topology string
		kernel         tl.Kernel
	}{
		{"ring", "ring_1d", ringSum},
		{"chunked", "ring_1d", ringSumChunked},
		{"tree", "tree_binary", treeSum},
	} {
		for _, world := range []int{1, 2, 3, 8} {
			t.Run(fmt.Sprintf("%s/%d", k.name, world), func(t *testing.T) {
				kerneltest.Run(t, k.kernel, kerneltest.Config{
					Collective: "all_reduce", Topology: k.topology, World: world, NElem: 5,
					Slots: 2, SlotBytes: 64, // of each ring
					Schedules: 20, // random ones, besides that of each executor
				})
			})
		}
	}
}

// end
