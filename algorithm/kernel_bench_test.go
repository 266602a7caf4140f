package algorithm_test

import (
	"fmt"
	"iter"
	"runtime"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/topology"
	"kernbench/unit"
)

// idle is a Core that completes each instruction immediately, so that only the kernel's own calls
// take time.
type idle struct{ messages int }

func (i *idle) Do(in *tl.Instr) {
	switch in.Op {
	case tl.OpSend:
		i.messages++
	case tl.OpRecv:
		in.GotPort, in.GotShape, in.GotType, in.GotN = max(0, in.Port), in.Shape, in.Type, in.N
	}
}

// BenchmarkKernel measures the kernel of one rank from start to end, per message that it sends.
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
				tl.DriverOf(c).Reset(setup)
				if _, err := tl.DriverOf(c).Run(bench.a.Kernel, args); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(core.messages), "ns/message")
			b.ReportMetric(float64(core.messages)/float64(b.N), "messages")
		})
	}
}

// rankOf returns the setup and the arguments of the middle rank of a launch, with f16 vectors at
// virtual addresses.
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
	bytes := int64(nElem * 2)
	if a.Collective == "all_gather" {
		bytes *= int64(world)
	}
	for r := range shards {
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
		Ring: &tl.Ring{Slots: 4, SlotBytes: 4096, Space: mem.TCM, Strict: true},
	}, args
}

// parked is a Core that suspends the kernel in each instruction.
type parked struct {
	idle
	yield func(struct{}) bool
	c     *tl.Context
}

func (p *parked) Do(in *tl.Instr) {
	p.idle.Do(in)
	if !p.yield(struct{}{}) {
		tl.DriverOf(p.c).Abandon()
	}
}

// BenchmarkStack measures the stack that a coroutine needs for its kernel.
func BenchmarkStack(b *testing.B) {
	const ranks = 1024
	for _, a := range algorithm.All() {
		if a.Window != nil || a.Check != nil && a.Check(ranks, 4*ranks) != nil {
			continue
		}
		b.Run(a.Name, func(b *testing.B) {
			setup, args := rankOf(b, a, ranks, 4*ranks)
			for b.Loop() {
				before := stacks()
				var stops []func()
				for range ranks {
					stop, err := atTheEnd(a, setup, args)
					if stops = append(stops, stop); err != nil {
						b.Skip(err) // the kernel needs more than rankOf gives it
					}
				}
				b.ReportMetric(float64(stacks()-before)/ranks, "stack-B/rank")
				for _, stop := range stops {
					stop()
				}
			}
		})
	}
}

// atTheEnd runs a kernel in a coroutine to its end and leaves the coroutine suspended there.
func atTheEnd(a *algorithm.Algorithm, setup tl.Setup, args tl.Args) (stop func(), err error) {
	p := &parked{}
	setup.Core = p
	p.c = tl.NewContext(setup)
	ended := false
	next, stop := iter.Pull(func(yield func(struct{}) bool) {
		p.yield = yield
		_, err = tl.DriverOf(p.c).Run(a.Kernel, args)
		ended = true
		yield(struct{}{})
	})
	for !ended {
		next()
	}
	return stop, err
}

func stacks() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.StackInuse
}
