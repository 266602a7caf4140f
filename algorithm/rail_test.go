package algorithm_test

import (
	"fmt"
	"testing"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/dtype"
	"kernbench/internal/exhaustive"
	"kernbench/kerneltest"
	labrun "kernbench/lab/run"
	"kernbench/tl"
	"kernbench/unit"
)

// TestRailPieces: overlapping pieces and their tiles are each added once, and no rank reads data
// that another still writes.
func TestRailPieces(t *testing.T) {
	for _, tt := range []struct {
		world, perCube, n int
		chunk             int64 // bytes of a piece of a slice
		scratch           unit.Bytes
	}{
		{8, 4, 1000, 100, 1 << 20},   // ten pieces
		{8, 4, 1000, 4000, 1 << 20},  // one
		{12, 4, 1001, 40, 1 << 20},   // the largest number of pieces
		{6, 2, 4000, 2000, 16 << 10}, // tiles shorter than a rank's part of a piece
		{4, 1, 300, 64, 1 << 20},     // nodes of one rank: rails only
	} {
		t.Run(fmt.Sprintf("%d/%d/n=%d/%d", tt.world, tt.perCube, tt.n, tt.chunk), func(t *testing.T) {
			for seed := range uint64(3) {
				cfg := onLevels(t, algorithm.RailAllReduce, tt.world, tt.perCube, tt.n, []int{tt.perCube})
				cfg.Seed, cfg.ChunkBytes, cfg.Scratch = seed, tt.chunk, tt.scratch
				got, rep, err := kerneltest.Races(algorithm.RailAllReduce.Kernel, cfg)
				if err != nil {
					t.Fatal(err)
				}
				if rep.Total > 0 || rep.Unsettled {
					t.Fatalf("%d hazards, unsettled %v: %v", rep.Total, rep.Unsettled, rep)
				}
				for r := range got {
					for i, v := range got[r] {
						if want := float64((tt.world-1)*tt.world*(2*tt.world-1)/6 + i*tt.world); v != want {
							t.Fatalf("rank %d has %v for element %d, want %v", r, v, i, want)
						}
					}
				}
			}
		})
	}
}

// TestRails: the other collectives on rails are right, for several roots, with results in place and
// apart.
func TestRails(t *testing.T) {
	for i, tt := range []struct {
		world, perNode, n int
		chunk             int64
		scratch           unit.Bytes
	}{
		{8, 4, 1000, 100, 1 << 20},
		{6, 3, 402, 4000, 1 << 20},
		{12, 4, 120, 8, 1 << 20},
		{6, 2, 1200, 200, 8 << 10},
		{4, 1, 300, 64, 1 << 20},
	} {
		for _, a := range []*algorithm.Algorithm{algorithm.RailAllGather, algorithm.RailReduceScatter, algorithm.RailBroadcast} {
			for j, apart := range []bool{false, true} {
				for k, root := range []int{0, tt.world/2 + 1} {
					if a != algorithm.RailBroadcast && root > 0 || !exhaustive.On() && (i+j+k)%2 > 0 {
						continue
					}
					name := fmt.Sprintf("%s/%d/%d/n=%d/%d/%v/%d", a.Name, tt.world, tt.perNode, tt.n, tt.chunk, apart, root)
					t.Run(name, func(t *testing.T) {
						layout, err := a.Window(tt.world, tt.n, dtype.F32)
						if err != nil {
							t.Fatal(err)
						}
						cfg := kerneltest.Config{
							Collective: a.Collective, World: tt.world, NElem: tt.n, Levels: []int{tt.perNode}, Topology: "none",
							Layout: layout, Apart: apart, ChunkBytes: tt.chunk, Scratch: tt.scratch, Schedules: 2,
						}
						if a == algorithm.RailBroadcast {
							cfg.Args = []int{root}
						}
						kerneltest.Run(t, func(c *tl.Context, args tl.Args) {
							own := args.Shard(c.Rank())
							c.Store(own, c.Load(own)) // the rank's own write precedes the call
							a.Kernel(c, args)
						}, cfg)
					})
				}
			}
		}
	}
}

// TestRailPutsTogether: a rank puts all pieces that it has before it waits for one. So two pieces
// of a short vector do not take the latency of the rail twice.
func TestRailPutsTogether(t *testing.T) {
	taken := func(a *algorithm.Algorithm, elems int, chunk string) unit.Time {
		r, err := labrun.Run(t.Context(), labrun.Spec{
			Bench: bench.CCLHello.Name, Algorithm: a.Name, Ranks: 16, NElem: elems, DType: dtype.F32, Topology: "dgx-a100",
			Sets: []string{"system.nodes.count=2", "algorithms." + a.Name + ".chunk_size=" + chunk}, Executor: "sim",
		})
		if err != nil {
			t.Fatal(err)
		}
		return r.SimulatedTime
	}
	for _, tt := range []struct {
		a     *algorithm.Algorithm
		elems int
	}{{algorithm.RailAllReduce, 2 << 20}, {algorithm.RailAllGather, 256 << 10}} {
		if one, two := taken(tt.a, tt.elems, "1MiB"), taken(tt.a, tt.elems, "512KiB"); two > one+one/10 {
			t.Errorf("%s: two pieces take %v, one takes %v", tt.a.Name, two, one)
		}
	}
}

// TestRailsOfWideNodes: in a node of many ranks a rank loads tiles while it combines others. A
// broadcast stores pieces to the node while others are on the rail. So a call takes at most 1.8
// times the time of its bytes on the links of the node, 721.8 GB/s. Without that it takes more.
func TestRailsOfWideNodes(t *testing.T) {
	for _, tt := range []struct {
		a            *algorithm.Algorithm
		width, bytes int
	}{{algorithm.RailReduceScatter, 36, 16 << 20}, {algorithm.RailBroadcast, 16, 32 << 20}} {
		elems := tt.bytes / 4 / (2 * tt.width) * (2 * tt.width) // equal chunks
		r := tryNodes(t, tt.a, labrun.Spec{Ranks: 2 * tt.width, NElem: elems, DType: dtype.F32, Topology: "gb200-nvl72",
			Sets: []string{"system.nodes.count=2", fmt.Sprintf("system.sips.count=%d", tt.width)}, Executor: "sim"})
		if most := unit.Nanoseconds(1.8 * float64(tt.bytes) / 721.8); r.SimulatedTime > most {
			t.Errorf("%s of %d ranks: %v, want at most %v", tt.a.Name, 2*tt.width, r.SimulatedTime, most)
		}
	}
}
