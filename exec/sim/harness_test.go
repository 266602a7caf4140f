package sim_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"kernbench/conf"
	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/topology"
	"kernbench/unit"
)

// bench is a machine with one launch on its first PEs, each with a shard in its HBM.
type bench struct {
	topo   *conf.Topology
	m      *machine.Machine
	launch *launch.Launch
	n      int
	typ    dtype.Type
	result int // elements of a result that is longer than n; 0: n
}

type setup struct {
	world, n  int
	typ       dtype.Type // F16
	op        tl.ReduceOp
	topology  string // ring_1d
	slots     int    // 4
	slotBytes int64  // 4096
	space     mem.Space
	sets      []string
	ring      func(*tl.Ring)
	neighbors topology.Override
	args      []int
	chunk     int64 // of pipelines: as they find best
}

func newBench(t testing.TB, k tl.Kernel, s setup) *bench {
	t.Helper()
	topo, m := built(t, s.sets)
	def(&s.typ, dtype.F16)
	def(&s.topology, "ring_1d")
	def(&s.slots, 4)
	def(&s.slotBytes, 4096)
	def(&s.space, mem.TCM)
	top, err := topology.Lookup(s.topology)
	if err != nil {
		t.Fatal(err)
	}
	var grid topology.Grid
	if _, err := top.Fit(s.world, grid); err != nil {
		grid = topology.Grid{W: s.world, H: 1} // not a square: a mesh of one row
	}
	w, err := top.Wire(s.world, grid, s.neighbors)
	if err != nil {
		t.Fatal(err)
	}
	g := launch.Group{
		PEs: make([]int32, s.world), PEsPerCube: min(s.world, m.PEsPerCube()), Wiring: w,
		Args: tl.Args{Op: s.op, DType: s.typ, NElem: s.n, Ints: s.args, ChunkBytes: s.chunk, Shards: make([]mem.Addr, s.world)},
	}
	for i := range g.PEs {
		g.PEs[i] = int32(i)
		g.Args.Shards[i] = mem.At(mem.HBM, i, 0)
	}
	r := tl.Ring{Slots: s.slots, SlotBytes: s.slotBytes, Space: s.space, CreditBytes: 16, Strict: true, PollEvery: 10 * unit.Nanosecond}
	if s.ring != nil {
		s.ring(&r)
	}
	return &bench{topo, m, &launch.Launch{Name: "test", Kernel: k, Groups: []launch.Group{g}, Ring: r,
		Addrs: &mem.Map{}, Scratch: topo.PE().TCM.Scratch}, s.n, s.typ, 0}
}

// builds are the machines that tests have asked for, by their settings.
var builds sync.Map

type build struct {
	topo *conf.Topology
	m    *machine.Machine
}

// built returns the default machine with some settings. It is read only.
func built(t testing.TB, sets []string) (*conf.Topology, *machine.Machine) {
	t.Helper()
	key := strings.Join(sets, " ")
	if b, ok := builds.Load(key); ok {
		return b.(build).topo, b.(build).m
	}
	topo, err := conf.LoadTopology(nil, sets)
	if err != nil {
		t.Fatal(err)
	}
	m, err := machine.Build(topo)
	if err != nil {
		t.Fatal(err)
	}
	builds.Store(key, build{topo, m})
	return topo, m
}

func def[T comparable](p *T, v T) {
	if *p == *new(T) {
		*p = v
	}
}

// fill makes a log in which rank r's shard holds f(r, i), labelled.
func (b *bench) fill(t testing.TB, f func(r, i int) float64) *oplog.Log {
	t.Helper()
	log := oplog.New(oplog.Options{Timed: true})
	t.Cleanup(log.Close)
	for r, a := range b.launch.Groups[0].Args.Shards {
		buf := make([]byte, b.n*b.typ.Size())
		for i := range b.n {
			dtype.Set(b.typ, buf, i, f(r, i))
		}
		if b.n == 0 {
			continue
		}
		if err := log.Map(a, b.typ, max(b.n, b.result)); err != nil {
			t.Fatal(err)
		}
		if err := log.Write(a, b.typ, buf); err != nil {
			t.Fatal(err)
		}
		if err := log.Label(r, 0, a, b.typ, b.n); err != nil {
			t.Fatal(err)
		}
	}
	log.Begin(b.launch.Groups[0].Args.Op, len(b.launch.Groups[0].PEs))
	return log
}

func (b *bench) run(o sim.Options) (*launch.Result, error) {
	return sim.New(b.m, o).Launch(context.Background(), b.launch)
}
