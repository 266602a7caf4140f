package sim_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kernbench/algorithm"
	"kernbench/exec/sim"
	"kernbench/fault"
	"kernbench/hw/noc"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/trace"
)

// TestShortWay: what is known ahead of time comes out as it does event by event, to the byte, with
// routes that share links and routes that do not.
func TestShortWay(t *testing.T) {
	for _, a := range onRings() {
		if !a.Local {
			continue
		}
		worlds := []int{2, 5, 8, 25}
		if testing.Short() { // the race detector is slow with that many messages
			worlds = worlds[:3]
		}
		for _, world := range worlds {
			if a.Check != nil && a.Check(world, 3000) != nil || a.LocalFor != nil && !a.LocalFor(world) {
				continue
			}
			for _, f := range []noc.Fidelity{noc.Slot, noc.Ideal} {
				t.Run(fmt.Sprintf("%s/%d/%v", a.Name, world, f), func(t *testing.T) {
					var traces [2]collector
					var results [2]*tl.Result
					for i, local := range []bool{true, false} {
						b := libraryBench(t, a, setup{world: world, n: 3000, slotBytes: 512, ring: func(r *tl.Ring) { r.Poll, r.WakeCost = world%2 == 1, 1700 }})
						b.launch.Local = local
						res, err := b.run(sim.Options{Fidelity: f, Trace: &traces[i]})
						if err != nil {
							t.Fatal(err)
						}
						results[i] = res
					}
					if results[0].Events >= results[1].Events {
						t.Errorf("%d events, the long way %d", results[0].Events, results[1].Events)
					}
					results[0].Events = results[1].Events
					if d := cmp.Diff(results[1], results[0]); d != "" {
						t.Errorf("results differ (-long +short):\n%s", d)
					}
					if d := cmp.Diff([]trace.Event(traces[1]), []trace.Event(traces[0])); d != "" {
						t.Errorf("traces differ (-long +short):\n%.2000s", d)
					}
				})
			}
		}
	}
}

// TestNoEventsWhereNobodyShares: in a cube whose messages share no link, an all-reduce needs none.
func TestNoEventsWhereNobodyShares(t *testing.T) {
	b := libraryBench(t, algorithm.RingAllReduceChunked, setup{world: 4, n: 4096})
	res, err := b.run(sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Events != 0 || res.Messages == 0 {
		t.Errorf("%d events for %d messages", res.Events, res.Messages)
	}
}

// TestLaunchesInARowAhead: a launch that follows one of either way starts at the same time.
func TestLaunchesInARowAhead(t *testing.T) {
	var starts [2]string
	for i, local := range []bool{true, false} {
		b := libraryBench(t, algorithm.RingAllReduceChunked, setup{world: 6, n: 900})
		b.launch.Local = local
		e := sim.New(b.m, b.topo, sim.Options{})
		for range 3 {
			res, err := e.Launch(t.Context(), b.launch)
			if err != nil {
				t.Fatal(err)
			}
			starts[i] += fmt.Sprint(res.Start, res.End, e.Now(), " ")
		}
	}
	if starts[0] != starts[1] {
		t.Errorf("ahead %s\nelse  %s", starts[0], starts[1])
	}
}

// TestNotLocal: a kernel that does what a local launch excludes is told so, where it does it.
func TestNotLocal(t *testing.T) {
	for name, c := range map[string]struct {
		kernel tl.Kernel
		want   string
	}{
		"load of another's memory": {func(c *tl.Context, a tl.Args) {
			c.Load(c.Ref(mem.At(mem.HBM, 1-c.Rank(), 0), tl.Dims(4), a.DType))
		}, "is not in the HBM slice of this PE"},
		"any direction":   {func(c *tl.Context, a tl.Args) { c.Recv(tl.AnyDir, tl.Dims(4), a.DType) }, "names its direction"},
		"receive to":      {func(c *tl.Context, a tl.Args) { c.RecvTo(tl.West, a.Shard(c.Rank())) }, "stored by the kernel itself"},
		"fence":           {func(c *tl.Context, a tl.Args) { c.Fence() }, "there are loads, stores, arithmetic"},
		"other direction": {func(c *tl.Context, a tl.Args) { c.Send(tl.West, c.Load(a.Shard(c.Rank()))) }, "sends in directions"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.kernel, setup{world: 2, n: 4})
			b.launch.Local, b.launch.Sends = true, []tl.Dir{tl.East}
			_, err := b.run(sim.Options{})
			var misuse *fault.Misuse
			if !errors.As(err, &misuse) || !strings.Contains(misuse.Reason, c.want) {
				t.Errorf("got %v, want a misuse: %s", err, c.want)
			}
			if misuse != nil && !strings.Contains(misuse.Line, "local_test.go") {
				t.Errorf("line %q", misuse.Line)
			}
		})
	}
}
