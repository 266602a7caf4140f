package algorithm

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// This file is shared by the kernels that send packets, whose lines carry a flag: window_*_ll. The
// flag is the number of the call on its window, so that no packet has that of the one before. Each
// packet has a word of its own: packet i of rank r word r of row i.

// packets returns the number of packets of n elements: one for each tile.
func packets(n int, t dtype.Type) int { return tl.CDiv(n, tileBytes/t.Size()) }

// packetCall is a call of such a kernel.
type packetCall struct {
	c       *tl.Context
	signals tl.Signal
	flag    int64
}

// send sends packet i, from row first on.
func (p *packetCall) send(first, i int, dst tl.Sym, peer int, t tl.Tensor) {
	p.c.PutLL(dst, peer, t, row(p.c, p.signals, first+i).At(p.c.Rank()), p.flag)
}

// load loads packet i of a rank when it is there.
func (p *packetCall) load(first, i, from int, src tl.Sym) tl.Tensor {
	p.c.WaitLL(row(p.c, p.signals, first+i).At(from), p.flag)
	return p.c.Load(p.c.Local(src))
}

// sum adds up packet i of all ranks, in their order: own is this rank's part. Several loads are
// in flight at the same time.
func (p *packetCall) sum(a tl.Args, i int, own tl.Ref, slot func(from int) tl.Sym) tl.Tensor {
	n := p.c.WorldSize()
	ahead := int(max(1, min(int64(n), p.c.ScratchBytes()/(4*max(1, own.Bytes())))))
	var acc tl.Tensor
	var came []tl.Tensor
	for from := range n {
		for next := from + len(came); next < min(n, from+ahead); next++ {
			if next == p.c.Rank() {
				came = append(came, p.c.Load(own))
			} else {
				came = append(came, p.load(0, i, next, slot(next)))
			}
		}
		if from == 0 {
			acc = came[0]
		} else {
			acc = join(p.c, a.Op, acc, came[0])
		}
		came = came[1:]
	}
	return p.c.Finish(a.Op, acc, n)
}

// windowAllReduceOnePhaseLL sends each rank's vector to all others as packets, and adds up what has
// come. No signal follows the data.
func windowAllReduceOnePhaseLL(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	data, signals := scratch(c, a, n*a.NElem)
	use := a.Use(0)
	if a.NElem == 0 {
		meshBarrier(c, row(c, signals, 0), use)
		return
	}
	p := &packetCall{c, signals, int64(use)}
	mine, per := a.Shard(me), tileBytes/a.DType.Size()
	for lo, k := range tiles(a.NElem, a.DType) {
		t := c.Load(mine.Slice(lo, k))
		for j := 1; j < n; j++ {
			p.send(0, lo/per, data.Chunk(n, me).Slice(lo, k), (me+j)%n, t)
		}
		c.Free(t)
	}
	for lo, k := range tiles(a.NElem, a.DType) {
		sum := p.sum(a, lo/per, mine.Slice(lo, k), func(from int) tl.Sym { return data.Chunk(n, from).Slice(lo, k) })
		c.Store(a.Out(me, a.NElem).Slice(lo, k), sum)
	}
}

// windowAllReduceTwoPhaseLL sends each chunk of the vector to its owner as packets. The owner adds
// up, and sends the result to all as packets.
func windowAllReduceTwoPhaseLL(c *tl.Context, a tl.Args) {
	me, n := c.Rank(), c.WorldSize()
	longest := tl.CDiv(a.NElem, n)
	data, signals := scratch(c, a, n*longest+a.NElem)
	use := a.Use(0)
	if a.NElem == 0 {
		meshBarrier(c, row(c, signals, 0), use)
		return
	}
	came, results := data.Slice(0, n*longest), data.Slice(n*longest, a.NElem)
	p := &packetCall{c, signals, int64(use)}
	mine, out, per := a.Shard(me), a.Out(me, a.NElem), tileBytes/a.DType.Size()
	second := packets(longest, a.DType) // row of the first packet of results
	for j := 1; j < n; j++ {
		owner := (me + j) % n
		part := mine.Chunk(n, owner)
		for lo, k := range tiles(part.Len(), a.DType) {
			t := c.Load(part.Slice(lo, k))
			p.send(0, lo/per, came.Slice(me*longest+lo, k), owner, t)
			c.Free(t)
		}
	}
	own := mine.Chunk(n, me)
	for lo, k := range tiles(own.Len(), a.DType) {
		sum := p.sum(a, lo/per, own.Slice(lo, k), func(from int) tl.Sym { return came.Slice(from*longest+lo, k) })
		for j := 1; j < n; j++ {
			p.send(second, lo/per, results.Chunk(n, me).Slice(lo, k), (me+j)%n, sum)
		}
		c.Store(out.Chunk(n, me).Slice(lo, k), sum)
		c.Free(sum)
	}
	for j := 1; j < n; j++ {
		owner := (me + j) % n
		part := results.Chunk(n, owner)
		for lo, k := range tiles(part.Len(), a.DType) {
			t := p.load(second, lo/per, owner, part.Slice(lo, k))
			c.Store(out.Chunk(n, owner).Slice(lo, k), t)
			c.Free(t)
		}
	}
}

// WindowAllReduceOnePhaseLL takes one message latency, and no signals.
var WindowAllReduceOnePhaseLL = Register(Algorithm{
	Name:       "window_allreduce_onephase_ll",
	Summary:    "every rank puts its vector to all others as packets, whose lines carry a flag, and adds up all: one message delay without signals, for few bytes",
	Collective: "all_reduce",
	Topology:   "none",
	Kernel:     windowAllReduceOnePhaseLL,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		if !t.Valid() {
			return slotsOf(world, nElem, t, 1, meshRow(world)) // which returns the error
		}
		return slotsOf(world, nElem, t, max(1, packets(nElem, t)), meshRow(world))
	},
	Steps:  "N-1 puts side by side",
	Cost:   "alpha_ll + (N-1) (2 beta + gamma) M: 2 (N-1) M bytes per rank",
	Source: "allpair with packets of github.com/microsoft/mscclpp; one-shot LL of github.com/ROCm/rccl",
})

// WindowAllReduceTwoPhaseLL takes two message delays, and no signals.
var WindowAllReduceTwoPhaseLL = Register(Algorithm{
	Name:       "window_allreduce_twophase_ll",
	Summary:    "every rank puts each chunk to its owner as packets, whose lines carry a flag; the owner adds up and puts the result to all as packets",
	Collective: "all_reduce",
	Topology:   "none",
	Kernel:     windowAllReduceTwoPhaseLL,
	Window: func(world, nElem int, t dtype.Type) (*mem.Layout, error) {
		if world < 1 || nElem < 0 || !t.Valid() || nElem > mem.MaxOffset/4 {
			return scratchLayout(world, nElem, t, 1, meshRow(world)) // which returns the error
		}
		longest := tl.CDiv(nElem, world)
		return scratchLayout(world, world*longest+nElem, t, max(1, 2*packets(longest, t)), meshRow(world))
	},
	Steps:  "2 (N-1) puts, N-1 side by side",
	Cost:   "2 alpha_ll + (N-1)/N (4 beta + gamma) M: 4 M (N-1)/N bytes per rank",
	Source: "two-step all-reduce with packets of github.com/microsoft/mscclpp",
})
