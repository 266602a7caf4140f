package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// nvlsAllGather stores the vector of each rank to all copies of the window at once.
func nvlsAllGather(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	data, signals := scratch(c, a, n*a.NElem)
	r := &rounds{c: c, a: a, row: row(c, signals, 0)}
	keep(c, a.OutBlock(me, n*a.NElem, n, me), a.Shard(me))
	if n == 1 {
		return
	}
	pieces := nvlsPieces(int64(n*a.NElem) * int64(a.DType.Size()))
	slot, own := data.Chunk(n, me), a.Shard(me)
	take := func(k int) (all []*stream) {
		for i := 1; i < n; i++ {
			from := (me + i) % n
			all = append(all, copying(c, a.OutBlock(me, n*a.NElem, n, from).Chunk(pieces, k),
				c.Local(data.Chunk(n, from).Chunk(pieces, k))))
		}
		return all
	}
	for k := range pieces {
		streams := []*stream{publishing(c, slot.Chunk(pieces, k), own.Chunk(pieces, k))}
		if k > 0 {
			streams = append(streams, take(k-1)...)
		}
		perform(c, streams...)
		r.barrier()
	}
	perform(c, take(pieces-1)...)
}

// publishing returns the stream of stores that copy local memory to all members.
func publishing(c *tl.Context, dst tl.Sym, src tl.Ref) *stream {
	l := &stream{depth: copyDepth}
	for lo, n := range tiles(src.Len(), src.DType) {
		l.all = append(l.all, transfer{
			load:  func() tl.Tensor { return c.Load(src.Slice(lo, n)) },
			store: func(t tl.Tensor) { c.StoreMulticast(dst.Slice(lo, n), t) },
		})
	}
	return l
}

// NVLSAllGather is the all-gather of a switch that copies.
var NVLSAllGather = Register(Algorithm{
	Name:       "nvls_allgather",
	Summary:    "every rank stores its vector once, and the switch copies it to all",
	Collective: "all_gather",
	Topology:   "none",
	Kernel:     nvlsAllGather,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		return slotsOf(world, nElem, t, 1, meshRow(world))
	},
	Multimem: true,
	Steps:    "P barriers of P pieces",
	Cost:     "P alpha + beta N M: M bytes out, N M bytes in per rank",
	Source:   "NVLink SHARP: algorithm NVLS of github.com/NVIDIA/nccl; multimem.st of PTX",
})
