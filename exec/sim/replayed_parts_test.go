package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/exec/sim"
	"kernbench/hw/noc"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"

	"github.com/google/go-cmp/cmp"
)

// inParts replays the launch as one whose program takes more memory than a budget. It returns false
// if the program fits.
func (b *bench) inParts(t *testing.T, o sim.Options, budget unit.Bytes) (out outcome, long bool) {
	t.Helper()
	o.Trace = sinkFunc(func(e *trace.Event) { out.Trace = append(out.Trace, *e) })
	res, err := sim.New(b.m, o).LaunchInParts(t.Context(), b.launch, budget)
	if err != nil {
		t.Fatal(err)
	}
	if res == nil {
		return out, false
	}
	if res.Mode != "replay in parts" {
		t.Errorf("mode %q", res.Mode)
	}
	out.Result = *res
	out.Result.Events, out.Result.Mode = 0, ""
	return out, true
}

// TestReplayInParts: a program that is recorded part by part, while it is replayed, comes to what
// one that is kept comes to. Budgets differ in how many ranks are recorded until one is exceeded.
func TestReplayInParts(t *testing.T) {
	inOneGoroutine(t)
	benches := map[string]*bench{}
	for _, a := range []*algorithm.Algorithm{
		algorithm.RingAllReduceChunked, algorithm.HalvingDoublingAllReduce, algorithm.HierarchicalPipelinedAllReduce,
		algorithm.TreeAllReduce, algorithm.MeshAllGather, algorithm.DoubleTreeAllReduce,
	} {
		benches[a.Name] = libraryBench(t, a, setup{world: 16, n: 407, slots: max(4, a.MinSlots), slotBytes: 64, chunk: 20})
	}
	for seed := range uint64(20) {
		benches[fmt.Sprint("random ", seed)] = newBench(t, randomRing(seed, 3), setup{world: 9, n: 32, slotBytes: 8})
	}
	long := &ringRounds{300, 2, 150, func(c *tl.Context, a tl.Args, x tl.Tensor) { storeOften(c, a, 700) }}
	benches["long"] = newBench(t, long.kernel, setup{world: 5, n: 16})
	groups := []*bench{newBench(t, long.kernel, setup{world: 3, n: 16}), newBench(t, long.kernel, setup{world: 4, n: 16})}
	benches["groups"] = sideBySide(inTurn(7), groups...)
	benches["lengths"] = newBench(t, lengths(400, 200), setup{world: 5, n: 16, slotBytes: 64})
	benches["nothing"] = newBench(t, func(*tl.Context, tl.Args) {}, setup{world: 3})
	for name, b := range benches {
		for _, f := range []noc.Fidelity{noc.Slot, noc.Ideal} {
			t.Run(fmt.Sprintf("%s/%v", name, f), func(t *testing.T) {
				o := sim.Options{Fidelity: f}
				want := b.outcome(t, o, views{trace: true})
				for budget := unit.Bytes(1); ; budget *= 4 {
					got, long := b.inParts(t, o, budget)
					if !long {
						break
					}
					if !got.same(&want) {
						t.Fatalf("budget %v: outcomes differ (-kept +in parts):\n%.2000s", budget, cmp.Diff(want, got, ignoreEvents))
					}
				}
			})
		}
	}
}

// lengths returns a kernel whose ranks send messages of one length and then of another one, both
// their own. So a part of rank 0 does not have all its lengths, and the next rank has others.
func lengths(rounds ...int) tl.Kernel {
	return func(c *tl.Context, a tl.Args) {
		of := func(rank, k int) tl.Shape { return tl.Dims(1 + rank + k*c.WorldSize()) }
		for k, n := range rounds {
			for range n {
				c.Send(tl.East, c.Full(of(c.Rank(), k), a.DType, 1))
				c.Recv(tl.West, of((c.Rank()+c.WorldSize()-1)%c.WorldSize(), k), a.DType)
			}
		}
	}
}

// TestDataInParts: a program that is too long to be kept needs events where its data is wanted.
func TestDataInParts(t *testing.T) {
	b := libraryBench(t, algorithm.RingAllReduceChunked, setup{world: 4, n: 64})
	o := sim.Options{Data: b.fill(t, func(r, i int) float64 { return float64(r + i) })}
	res, err := sim.New(b.m, o).LaunchInParts(t.Context(), b.launch, 1)
	if err == nil || !strings.Contains(err.Error(), "data of a program") {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestPartsThatDiffer: a kernel that does something else once its program is known to be long does
// not get a time.
func TestPartsThatDiffer(t *testing.T) {
	for name, then := range map[string]func(c *tl.Context, a tl.Args){
		"asks":  func(c *tl.Context, a tl.Args) { c.Recv(tl.AnyDir, tl.Dims(4), a.DType) },
		"hangs": func(c *tl.Context, a tl.Args) { c.Recv(tl.West, tl.Dims(4), a.DType) },
		"fails": func(c *tl.Context, a tl.Args) { panic("here") },
	} {
		runs := 0
		b := newBench(t, func(c *tl.Context, a tl.Args) {
			if runs++; runs > 3 && c.Rank() == 1 {
				then(c, a)
			}
		}, setup{world: 3, n: 4})
		if res, err := sim.New(b.m, sim.Options{}).LaunchInParts(t.Context(), b.launch, 1); err == nil ||
			!strings.Contains(err.Error(), "does not run to its end") {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
}
