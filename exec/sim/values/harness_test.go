package values_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/exec/sim/values"
	"kernbench/mem"
	"kernbench/program"
	"kernbench/record/oplog"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// elems is the number of elements of each rank in its shard. Its virtual memory, of three extents,
// has as many.
const elems = 48

func shardOf(pe int32) mem.Addr { return mem.At(mem.HBM, int(pe), 1<<12) }

func extentOf(pe int32, i int) mem.Addr { return mem.At(mem.HBM, int(pe), int64(2+i)<<13) }

func virtual(pe int32) mem.Addr { return mem.At(mem.Virtual, 0, int64(1+pe)<<12) }

// ring returns a launch of a group for each of worlds, its number of ranks. Each is a ring.
func ring(k tl.Kernel, typ dtype.Type, worlds ...int) *launch.Launch {
	l := &launch.Launch{
		Name: "test", Kernel: k, Addrs: &mem.Map{}, Scratch: 1 << 20,
		Ring: tl.Ring{Slots: 8, SlotBytes: 64, Space: mem.TCM, Strict: true},
	}
	pe := int32(0)
	for _, world := range worlds {
		g := launch.Group{PEsPerCube: 4, Args: tl.Args{DType: typ, NElem: elems}}
		for r := range int32(world) {
			n := int32(world)
			east, west := (r+1)%n, (r+n-1)%n
			g.Wiring = append(g.Wiring, tl.Wiring{
				Out: []tl.OutPort{{Peer: east, Dir: tl.East, PeerIn: 1}, {Peer: west, Dir: tl.West, PeerIn: 0}},
				In:  []tl.InPort{{Peer: east, Dir: tl.East, PeerOut: 1}, {Peer: west, Dir: tl.West, PeerOut: 0}},
			})
			g.PEs, g.Args.Shards = append(g.PEs, pe), append(g.Args.Shards, shardOf(pe))
			bytes := int64(elems / 3 * typ.Size())
			for i := range 3 {
				if err := l.Addrs.Insert(mem.Extent{VA: virtual(pe) + mem.Addr(int64(i)*bytes), Bytes: bytes,
					PA: extentOf(pe, i)}); err != nil {
					panic(err)
				}
			}
			pe++
		}
		l.Groups = append(l.Groups, g)
	}
	return l
}

// memory returns a log that holds the memory of a launch.
func memory(t testing.TB, l *launch.Launch, o oplog.Options) *oplog.Log {
	t.Helper()
	log := oplog.New(o)
	t.Cleanup(log.Close)
	fill := func(pe int32, a mem.Addr, n, label int) {
		typ := l.Groups[0].Args.DType
		buf := make([]byte, n*typ.Size())
		for i := range n {
			dtype.Set(typ, buf, i, float64((int(pe)*31+i*7+label)%61)/4)
		}
		for _, err := range []error{log.Map(a, typ, n), log.Write(a, typ, buf), log.Label(int(pe), int64(100*label), a, typ, n)} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, g := range l.Groups {
		for _, pe := range g.PEs {
			fill(pe, shardOf(pe), elems, 0)
			for i := range 3 {
				fill(pe, extentOf(pe, i), elems/3, 1+i)
			}
		}
	}
	log.Begin(tl.Sum, l.World())
	return log
}

// content is a piece of memory.
type content struct {
	at   mem.Addr
	data []byte
	prov collective.Prov
}

// contents returns the bytes and the provenance of the memory of all ranks.
func contents(t testing.TB, l *launch.Launch, log *oplog.Log) []content {
	t.Helper()
	var all []content
	view := func(a mem.Addr, n int) {
		data, prov, err := log.View(a, l.Groups[0].Args.DType, n)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, content{a, slices.Clone(data), prov})
	}
	for _, g := range l.Groups {
		for _, pe := range g.PEs {
			view(shardOf(pe), elems)
			for i := range 3 {
				view(extentOf(pe, i), elems/3)
			}
		}
	}
	return all
}

// record records a launch for Apply.
func record(t testing.TB, l *launch.Launch) *program.Program {
	t.Helper()
	p, err := program.RecordLaunch(t.Context(), l, program.Options{Own: 1 << 30, Places: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sameThreeWays performs a launch in lockstep, where possible, in turns, and on the executor
// without a clock. It returns how the memory that they leave differs, or "".
func sameThreeWays(t testing.TB, l *launch.Launch) string {
	t.Helper()
	p := record(t, l)
	reference := memory(t, l, oplog.Options{Inline: true})
	if _, err := mock.New(mock.Options{Data: reference}).Launch(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	want := contents(t, l, reference)
	for name, o := range map[string]oplog.Options{"lockstep": {}, "turns": {Audit: true}} { // a log that audits has no lockstep
		log := memory(t, l, o)
		if err := values.Apply(t.Context(), l, p, log); err != nil {
			return fmt.Sprintf("%s: %v", name, err)
		}
		for i, got := range contents(t, l, log) {
			if w := &want[i]; !bytes.Equal(got.data, w.data) || !collective.Equal(got.prov, w.prov) {
				return fmt.Sprintf("%s: %v: %x %+v\nwant %x %+v", name, got.at, got.data, got.prov, w.data, w.prov)
			}
		}
	}
	return ""
}
