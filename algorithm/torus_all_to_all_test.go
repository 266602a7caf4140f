package algorithm_test

import (
	"context"
	"fmt"
	"testing"

	"kernbench/algorithm"
	"kernbench/internal/exhaustive"
	"kernbench/kerneltest"
)

// TestTorusAllToAll: on a torus of one to four dimensions all blocks arrive, in place or not. Two
// slots are enough for tiles of any length.
func TestTorusAllToAll(t *testing.T) {
	a := algorithm.TorusAllToAll
	for i, levels := range [][]int{{1}, {2}, {5}, {2, 2}, {4, 3}, {3, 1, 2}, {6, 4}, {2, 3, 4}, {2, 2, 2, 3}} {
		world := 1
		for _, n := range levels {
			world *= n
		}
		for j, x := range []struct{ block, chunk, slots int }{{1, 0, 2}, {7, 4, 2}, {20, 24, 3}, {200, 0, 8}} {
			for k, apart := range []bool{false, true} {
				if !exhaustive.On() && (i+j+k)%4 > 0 {
					continue
				}
				t.Run(fmt.Sprintf("%v/%v/%v", levels, x, apart), func(t *testing.T) {
					cfg := kerneltest.Config{
						Collective: a.Collective, World: world, NElem: world * x.block,
						Topology: a.Topology, Levels: levels[:len(levels)-1], Slots: x.slots, ChunkBytes: int64(x.chunk),
						Apart: apart, Schedules: 1,
					}
					kerneltest.Run(t, a.Kernel, cfg)
				})
			}
		}
	}
}

// TestTorusAllToAllTraffic: a block takes as many hops as its shortest path around the rings has.
func TestTorusAllToAllTraffic(t *testing.T) {
	for _, tt := range []struct {
		levels []int
		hops   int // sum over all blocks of a rank
	}{{[]int{4}, 4}, {[]int{5}, 6}, {[]int{4, 4}, 2 * 4 * 4}, {[]int{2, 3, 4}, 1*12 + 2*8 + 4*6}} {
		world := 1
		for _, n := range tt.levels {
			world *= n
		}
		const block = 12
		o, err := kerneltest.Observe(context.Background(), algorithm.TorusAllToAll.Kernel, kerneltest.Config{
			Collective: "all_to_all", World: world, NElem: world * block, Topology: "hierarchical", Levels: tt.levels[:len(tt.levels)-1],
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := int64(world * tt.hops * block * 4); o.Result.Bytes != want {
			t.Errorf("%v: %d bytes, want %d", tt.levels, o.Result.Bytes, want)
		}
	}
}
