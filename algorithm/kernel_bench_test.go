package algorithm_test

import (
	"fmt"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/topology"
	"kernbench/unit"
)

// idle is a Core on which everything is done at once: what is left is what a kernel's calls cost.
type idle struct{ messages int }

func (i *idle) Do(in *tl.Instr) {
	switch in.Op {
	case tl.OpSend:
		i.messages++
	case tl.OpRecv:
		in.GotPort, in.GotShape, in.GotType, in.GotN = max(0, in.Port), in.Shape, in.Type, in.N
	}
}

// BenchmarkKernel is the kernel of one rank, from its beginning to its end, for each message that it sends.
func BenchmarkKernel(b *testing.B) {
	for _, bench := range []struct {
		a            *algorithm.Algorithm
		world, nElem int
	}{
		{algorithm.RingAllReduceChunked, 256, 1 << 15},
		{algorithm.RingAllReduceChunked, 1024, 1 << 15},
		{algorithm.RingAllReduceChunked, 1024, 1000},
		{algorithm.RingAllReduceChunked, 16, 1 << 22}, // in pieces
		{algorithm.BidirectionalRingAllReduce, 256, 1 << 15},

		{algorithm.HalvingDoublingAllReduce, 1 << 16, 1 << 16},
		{algorithm.TorusAllReduce, 4096, 1 << 16},
		{algorithm.HierarchicalRingAllReduce, 4096, 1 << 13},
	} {
		b.Run(fmt.Sprintf("%s/%d/%d", bench.a.Name, bench.world, bench.nElem), func(b *testing.B) {
			setup, args := rankOf(b, bench.a, bench.world, bench.nElem)
			core := &idle{}
			setup.Core = core
			c := tl.NewContext(setup)
			for b.Loop() {
				c.Reset(setup)
				if _, err := c.Run(bench.a.Kernel, args); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(core.messages), "ns/message")
			b.ReportMetric(float64(core.messages)/float64(b.N), "messages")
		})
	}
}

// rankOf is what a rank of a launch is given, one in the middle, with f16 at virtual addresses.
func rankOf(t testing.TB, a *algorithm.Algorithm, world, nElem int) (tl.Setup, tl.Args) {
	top, err := topology.Lookup(a.Topology)
	if err != nil {
		t.Fatal(err)
	}
	g := topology.Grid{}
	var levels []int
	if top.Nested {
		levels = []int{8, 16}
		g = topology.WithLevels(levels)
	}
	wiring, err := top.Wire(world, g, a.Neighbors)
	if err != nil {
		t.Fatal(err)
	}
	me, shards, addrs := world/2, make([]mem.Addr, world), &mem.Map{}
	for r := range shards {
		bytes := int64(nElem * 2)
		shards[r] = mem.At(mem.Virtual, 0, 4096+int64(r)*bytes)
		if err := addrs.Insert(mem.Extent{VA: shards[r], Bytes: bytes, PA: mem.At(mem.HBM, r, 0)}); err != nil {
			t.Fatal(err)
		}
	}
	args := tl.Args{DType: dtype.F16, NElem: nElem, Shards: shards, Levels: levels}
	if a.KernelArgs != nil {
		args.Ints = a.KernelArgs(world, nElem)
	}
	return tl.Setup{
		Rank: me, World: world, PE: me, PEsPerCube: 8, Wiring: &wiring[me], Addrs: addrs, Scratch: unit.Bytes(1 << 20),
		Ring: &tl.Ring{Slots: 4, SlotBytes: 4096, Space: mem.TCM, Strict: true}, Local: a.Local, Sends: a.Sends,
	}, args
}
