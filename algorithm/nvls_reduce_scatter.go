package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// nvlsReduceScatter lets the switch combine what each rank loads of its own block.
func nvlsReduceScatter(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	data, signals := scratch(c, a, inputElems(a, n))
	r := &rounds{c: c, a: a, row: row(c, signals, 0)}
	pieces := nvlsPieces(int64(inputElems(a, n)) * int64(a.DType.Size()))
	block := func(j int) tl.Sym {
		b := packed(a, n, j)
		return data.Slice(b.Lo, b.N)
	}
	stage := func(k int) (all []*stream) {
		for j := range n {
			all = append(all, copying(c, c.Local(block(j).Chunk(pieces, k)), a.InBlock(me, n, j).Chunk(pieces, k)))
		}
		return all
	}
	mine := block(me)
	out := a.Out(me, mine.Len())
	if n == 1 {
		move(c, out, a.InBlock(me, n, me))
		return
	}
	perform(c, stage(0)...)
	for k := range pieces {
		r.barrier()
		lo := 0
		to := out.Chunk(pieces, k)
		streams := []*stream{reducing(c, a.Op, mine.Chunk(pieces, k), func(part tl.Sym, t tl.Tensor) {
			c.Store(to.Slice(lo, part.Len()), t)
			lo += part.Len()
		})}
		if k+1 < pieces {
			streams = append(streams, stage(k+1)...)
		}
		perform(c, streams...)
	}
	r.barrier() // no rank stages for its next call what another still loads
}

// NVLSReduceScatter is the reduce-scatter of a switch that reduces.
var NVLSReduceScatter = Register(Algorithm{
	Name:       "nvls_reduce_scatter",
	Summary:    "every rank loads its block of all copies at once, which the switch combines",
	Collective: "reduce_scatter",
	Topology:   "none",
	Kernel:     nvlsReduceScatter,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, nElem, t, 1, meshRow(world))
	},
	Multimem: true,
	Types:    []dtype.Type{dtype.F16, dtype.BF16, dtype.F32, dtype.F64, dtype.I32, dtype.I64},
	Ops:      []tl.ReduceOp{tl.Sum, tl.Max, tl.Min, tl.Avg},
	Steps:    "P + 1 barriers of P pieces",
	Cost:     "(P+1) alpha + beta M: M bytes out, M/N bytes in per rank",
	Source:   "NVLink SHARP: algorithm NVLS of github.com/NVIDIA/nccl; multimem.ld_reduce of PTX",
})
