package algorithm_test

import (
	"fmt"
	"testing"

	"kernbench/algorithm"
	"kernbench/internal/exhaustive"
	"kernbench/kerneltest"
	"kernbench/tl"
)

// onRails lists the algorithms that run on channels with an order of ranks of their own.
func onRails() (all []*algorithm.Algorithm) {
	for _, a := range algorithm.All() {
		if a.Rails {
			all = append(all, a)
		}
	}
	return all
}

// TestChannels: on several channels each element of a result has each contribution exactly once, in
// many schedules, on both executors, without a race. Shares may be empty.
func TestChannels(t *testing.T) {
	if n := len(onRails()); n < 4 {
		t.Fatalf("%d algorithms run on rails", n)
	}
	for h, a := range onRails() {
		schedules := 1
		if exhaustive.On() {
			schedules = 3
		}
		for i, tt := range []struct {
			nodes, n, chunk int
			rails           tl.Rails
		}{
			{2, 37, 0, tl.Rails{Count: 2, Node: 2}},
			{3, 1, 0, tl.Rails{Count: 3, Node: 3}},
			{2, 400, 16, tl.Rails{Count: 4, Node: 4}},
			{3, 100, 8, tl.Rails{Count: 2, Node: 5}},
			{2, 64, 0, tl.Rails{Count: 8, Node: 8}},
		} {
			for j, apart := range []bool{false, true} {
				if !exhaustive.On() && (h+i+j)%2 > 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%d×%+v/%d/%v", a.Name, tt.nodes, tt.rails, tt.n, apart), func(t *testing.T) {
					cfg := kerneltest.Config{
						Collective: a.Collective, World: tt.nodes * tt.rails.Node, NElem: tt.n, Topology: a.Topology, Rails: tt.rails,
						Apart: apart, ChunkBytes: int64(tt.chunk), Schedules: schedules,
					}
					switch a.Collective {
					case "reduce_scatter":
						cfg.NElem = tl.CDiv(tt.n, 4) * cfg.World
					case "all_gather":
						cfg.NElem = tl.CDiv(tt.n, 4)
					}
					kerneltest.Run(t, a.Kernel, cfg)
				})
			}
		}
	}
}

// TestChannelsMoveTheBytes: channels move as many bytes together as one does.
func TestChannelsMoveTheBytes(t *testing.T) {
	for _, a := range onRails() {
		moved := func(rails tl.Rails) int64 {
			cfg := kerneltest.Config{Collective: a.Collective, World: 8, NElem: 8 * 64, Topology: a.Topology, Rails: rails}
			out, err := kerneltest.Observe(t.Context(), a.Kernel, cfg)
			if err != nil {
				t.Fatal(err)
			}
			return out.Result.Bytes
		}
		if one, four := moved(tl.Rails{}), moved(tl.Rails{Count: 4, Node: 4}); one != four {
			t.Errorf("%s: %d bytes on one channel, %d on four", a.Name, one, four)
		}
	}
}
