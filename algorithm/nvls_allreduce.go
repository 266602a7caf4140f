package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// nvlsAllReduce lets the switch do the work. Of each piece every rank loads its own chunk, which
// the switch combines from all copies. It stores the result, which the switch copies to all. A rank
// sends M (1 + 1/N) bytes and receives as many.
func nvlsAllReduce(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	data, signals := scratch(c, a, a.NElem)
	own, out := a.Shard(me), a.Out(me, a.NElem)
	if n == 1 {
		move(c, out, own)
		return
	}
	r := &rounds{c: c, a: a, row: row(c, signals, 0)}
	pieces := nvlsPieces(int64(a.NElem) * int64(a.DType.Size()))
	of := func(v tl.Ref, k int) tl.Ref { return v.Chunk(pieces, k) }
	stage := func(k int) *stream { return copying(c, c.Local(data.Chunk(pieces, k)), of(own, k)) }
	take := func(k int) *stream { return copying(c, of(out, k), c.Local(data.Chunk(pieces, k))) }
	perform(c, stage(0))
	for k := range pieces {
		r.barrier()
		streams := []*stream{reducing(c, a.Op, data.Chunk(pieces, k).Chunk(n, me),
			func(part tl.Sym, t tl.Tensor) { c.StoreMulticast(part, t) })}
		if k+1 < pieces {
			streams = append(streams, stage(k+1))
		}
		if k > 0 {
			streams = append(streams, take(k-1))
		}
		perform(c, streams...)
	}
	r.barrier()
	perform(c, take(pieces-1))
}

// NVLSAllReduce is the all-reduce of a switch that reduces.
var NVLSAllReduce = Register(Algorithm{
	Name:       "nvls_allreduce",
	Summary:    "the switch combines what each rank loads of its chunk, and copies the result to all: M bytes each way instead of 2 M",
	Collective: "all_reduce",
	Topology:   "none",
	Kernel:     nvlsAllReduce,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return scratchLayout(world, nElem, t, 1, meshRow(world))
	},
	Multimem: true,
	Types:    []dtype.Type{dtype.F16, dtype.BF16, dtype.F32, dtype.F64, dtype.I32, dtype.I64},
	Ops:      []tl.ReduceOp{tl.Sum, tl.Max, tl.Min, tl.Avg},
	Steps:    "P + 1 barriers of P pieces",
	Cost:     "(P+1) alpha + beta M (N+1)/N: M (N+1)/N bytes each way per rank",
	Source:   "NVLink SHARP: algorithm NVLS of github.com/NVIDIA/nccl; multimem.ld_reduce and multimem.st of PTX",
})
