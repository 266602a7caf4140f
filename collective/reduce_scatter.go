package collective

import (
	"kernbench/mem"
	"kernbench/unit"
)

// ReduceScatter combines element i of all ranks and gives chunk r of the result, as
// mem.ChunkOf splits it, to rank r.
var ReduceScatter = register(Collective{
	Name:    "reduce_scatter",
	Summary: "rank r ends with chunk r of the reduction of all ranks' vectors",
	Reduces: true,
	In:      elems,
	Out:     func(c Call, rank int) int { return mem.ChunkOf(c.Elems, c.World, rank).N },
	InPlace: func(c Call, rank int) (in, out int) { return 0, mem.ChunkOf(c.Elems, c.World, rank).Lo },
	Parts: func(dst []Part, c Call, rank int) []Part {
		chunk := mem.ChunkOf(c.Elems, c.World, rank)
		return append(dst, Part{N: chunk.N, From: allRanks(c), Base: int64(chunk.Lo)})
	},
	Demand:    func(c Call) unit.Bytes { return toOthers(c, c.Elems) },
	BusFactor: func(n int) float64 { return float64(n-1) / float64(n) },

	Task:  "ReduceScatter",
	Bench: "reduce_scatter_distributed",
	Known: []string{"ring_reduce_scatter", "nvls_reduce_scatter"},
})
