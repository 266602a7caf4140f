package sim_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/exec/sim"
	"kernbench/hw/noc"
	"kernbench/internal/exhaustive"
	"kernbench/mem"
	"kernbench/record/cause"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"
)

// TestReplayedLibrary: all algorithms of the library that communicate through rings have the same
// results, traces and values in both modes, to the byte.
func TestReplayedLibrary(t *testing.T) {
	polling := func(r *tl.Ring) { r.Poll, r.WakeCost = true, 1700 }
	type size struct {
		name   string
		worlds []int
		n      func(world int) int
		setup
	}
	sizes := []size{
		{"one element", []int{1, 2, 5, 8}, func(int) int { return 1 }, setup{}},
		{"equal parts", []int{1, 2, 3, 5, 8, 16}, func(world int) int { return 12 * world }, setup{}},
		{"not divisible", []int{2, 3, 5, 8, 16}, func(world int) int { return 10*world + 1 }, setup{ring: polling}},
		{"several slots", []int{2, 3, 5, 8}, func(world int) int { return 24 * world }, setup{slotBytes: 32, slots: 5}},
		{"long payloads", []int{3, 16}, func(int) int { return 1300 }, setup{slotBytes: 512}},
	}
	if testing.Short() { // the race detector is slow with that many messages
		sizes = sizes[1:4]
	}
	replayed := map[string]bool{}
	for i, a := range onRings() {
		for j, size := range sizes {
			for k, world := range size.worlds {
				if !exhaustive.On() && (i+j+k)%2 > 0 {
					continue
				}
				s := size.setup
				if s.world, s.n, s.slots = world, size.n(world), max(4, s.slots, a.MinSlots); !takes(a, world, s.n) {
					continue
				}
				b := libraryBench(t, a, s)
				for _, f := range []noc.Fidelity{noc.Slot, noc.Ideal} {
					t.Run(fmt.Sprintf("%s/%s/%d/%v", a.Name, size.name, world, f), func(t *testing.T) {
						outs, ok := b.sameInBothModes(t, sim.Options{Fidelity: f}, views{true, true})
						if outs[0].Err != "" {
							t.Error(outs[0].Err)
						}
						replayed[a.Name] = replayed[a.Name] || ok && world > 1
					})
				}
			}
		}
	}
	for _, a := range onRings() {
		if want := !slices.Contains(receivesToMemory, a); replayed[a.Name] != want {
			t.Errorf("%s: replayed %v, want %v", a.Name, replayed[a.Name], want)
		}
	}
}

// receivesToMemory are the algorithms that are not replayed, as they receive into memory.
var receivesToMemory = []*algorithm.Algorithm{
	algorithm.HypercubeExchange, algorithm.RecursiveDoublingAllGather, algorithm.ScatterAllGatherBroadcast,
}

// TestNoEventsWithoutSharedLinks: in a cube whose messages share no link, an all-reduce needs no
// event.
func TestNoEventsWithoutSharedLinks(t *testing.T) {
	b := libraryBench(t, algorithm.RingAllReduceChunked, setup{world: 4, n: 4096})
	res, err := b.run(sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Events != 0 || res.Messages == 0 {
		t.Errorf("%d events for %d messages", res.Events, res.Messages)
	}
}

// TestNotReplayed names what keeps a launch from being replayed: options, rings, and what kernels
// do. Nothing of it changes the result.
func TestNotReplayed(t *testing.T) {
	exchange := func(c *tl.Context, a tl.Args) {
		c.Send(tl.East, own(c, a))
		c.Store(a.Shard(c.Rank()), c.Recv(tl.West, tl.Dims(a.NElem), a.DType))
	}
	then := func(do func(c *tl.Context, a tl.Args)) tl.Kernel {
		return func(c *tl.Context, a tl.Args) {
			exchange(c, a)
			do(c, a)
		}
	}
	for _, tt := range []struct {
		name   string
		want   string
		kernel tl.Kernel
		o      sim.Options
		s      setup
	}{
		{name: "replayed", kernel: exchange},
		{"event-driven", "asked for", exchange, sim.Options{EventDriven: true}, setup{}},
		{"yield", "every instruction", exchange, sim.Options{Yield: true}, setup{}},
		{"lines", "source lines", exchange, sim.Options{RecordLines: true}, setup{}},
		{"pointers", "pointers", exchange, sim.Options{Pointers: io.Discard}, setup{}},
		{"random delays", "random delays", exchange, sim.Options{Seed: 3}, setup{}},
		{"causes", "causes", exchange, sim.Options{Causes: cause.New()}, setup{}},
		{"counts", "counts of use", exchange, sim.Options{Usage: trace.NewUsage()}, setup{}},
		{"slots of their own", "slots of their own", exchange, sim.Options{}, setup{ring: func(r *tl.Ring) { r.Mixed = true }}},
		{"flit", "flit", exchange, sim.Options{Fidelity: noc.Flit}, setup{}},
		{"slots in HBM", "rings in", exchange, sim.Options{}, setup{space: mem.HBM}},
		{"slots in SRAM", "rings in", exchange, sim.Options{}, setup{space: mem.SRAM}},
		{"on_recv", "on_recv", exchange, sim.Options{}, setup{ring: func(r *tl.Ring) { r.OnRecv = true }}},
		{"kernel fails", "fails", then(func(*tl.Context, tl.Args) { panic("here") }), sim.Options{}, setup{}},
		{"load of another's memory", "replaying_test.go:", then(func(c *tl.Context, a tl.Args) {
			c.Load(a.Shard(1 - c.Rank()))
		}), sim.Options{}, setup{}},
		{"any direction", "asks (recv any)", func(c *tl.Context, a tl.Args) {
			c.Send(tl.East, own(c, a))
			c.Store(a.Shard(c.Rank()), c.Recv(tl.AnyDir, tl.Dims(a.NElem), a.DType))
		}, sim.Options{}, setup{}},
		{"receive into memory", "receives into memory", func(c *tl.Context, a tl.Args) {
			c.Send(tl.East, own(c, a))
			c.RecvTo(tl.West, a.Shard(c.Rank()))
		}, sim.Options{}, setup{}},
		{"fence", "fence", then(func(c *tl.Context, a tl.Args) { c.Fence() }), sim.Options{}, setup{}},
		{"composite", "composite", then(func(c *tl.Context, a tl.Args) {
			c.Await(c.Composite(tl.Composite{A: a.Shard(c.Rank()), Out: a.Shard(c.Rank())}))
		}), sim.Options{}, setup{}},
		{"hang", "does not run to its end", then(func(c *tl.Context,
			a tl.Args) {
			c.Recv(tl.West, tl.Dims(1), a.DType)
		}), sim.Options{}, setup{}},
		{"left over", "does not run to its end", then(func(c *tl.Context, a tl.Args) { c.Send(tl.West, own(c, a)) }),
			sim.Options{}, setup{}},
		{"mismatch", "does not run to its end", func(c *tl.Context, a tl.Args) {
			c.Send(tl.East, own(c, a))
			c.Recv(tl.West, tl.Dims(2, a.NElem/2), a.DType)
		}, sim.Options{}, setup{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.s.world, tt.s.n = 2, 64
			b := newBench(t, tt.kernel, tt.s)
			reason, err := sim.New(b.m, tt.o).NotReplayed(t.Context(), b.launch)
			if err != nil || !strings.Contains(reason, tt.want) || (reason == "") != (tt.want == "") {
				t.Errorf("%q, %v, want %q", reason, err, tt.want)
			}
			if b.sameInBothModes(t, tt.o, views{true, true}); t.Failed() {
				t.Log("with", reason)
			}
		})
	}
}

// TestUsesAreNotReplayed: a kernel that counts its uses of a window counts each launch once.
func TestUsesAreNotReplayed(t *testing.T) {
	b := newBench(t, func(c *tl.Context, a tl.Args) {
		for range a.Use(0) {
			c.Full(tl.Dims(1), a.DType, 1)
		}
	}, setup{world: 1})
	b.launch.Groups[0].Args.Uses = make([]int, 1)
	e := sim.New(b.m, sim.Options{})
	one, err := e.Launch(t.Context(), b.launch)
	if err != nil {
		t.Fatal(err)
	}
	for n := 2; n <= 4; n++ {
		res, err := e.Launch(t.Context(), b.launch)
		if want := one.Duration() + unit.Time(n-1)*b.topo.PE().Issue; err != nil || res.Duration() < want {
			t.Errorf("launch %d takes %v, %v, want at least %v", n, res.Duration(), err, want)
		}
	}
	if uses := b.launch.Groups[0].Args.Uses[0]; uses != 4 {
		t.Errorf("%d uses", uses)
	}
}
