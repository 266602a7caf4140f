package sim_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/exec/sim"
	"kernbench/fault"
	"kernbench/hw/noc"
	"kernbench/internal/exhaustive"
	"kernbench/mem"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"

	"github.com/google/go-cmp/cmp"
)

type collector []trace.Event

func (c *collector) Emit(e *trace.Event) { *c = append(*c, *e) }

// TestHelloClosedForm: one message to the next PE, worked by hand from the constants of
// the machine.
func TestHelloClosedForm(t *testing.T) {
	b := newBench(t, algorithm.HelloSend.Kernel, setup{world: 2, n: 64})
	var events collector
	res, err := b.run(sim.Options{Trace: &events})
	if err != nil {
		t.Fatal(err)
	}
	pe := b.topo.PE()
	bytes := int64(128)
	hbm := b.topo.Cube().HBMBW.Serial().Time(bytes)
	// load: issue, DMA setup, access and transfer; send and recv: issue each.
	loaded := pe.Issue + pe.DMA.Setup + b.topo.Cube().HBM.Access + hbm
	sent := max(2*pe.Issue, loaded) // the send waits for what it sends
	path := b.m.Route(nil, b.m.TCM(0), b.m.TCM(1))
	head, slowest := b.m.Latency(path)
	visible := sent + pe.DMA.Setup + head + slowest.Serial().Time(bytes)
	received := visible + b.launch.Ring.WakeCost
	stored := received + pe.Issue + pe.DMA.Setup + b.topo.Cube().HBM.Access + hbm
	if res.Duration() != stored {
		t.Errorf("took %v, by hand %v (loaded %v, sent %v, visible %v)", res.Duration(), stored, loaded, sent, visible)
	}
	for _, e := range events {
		if e.Kind == trace.Message && e.End != visible {
			t.Errorf("message visible at %v, by hand %v", e.End, visible)
		}
	}
}

// TestLibraryOnSim: every all-reduce of the library gives, on the simulated machine, each
// contribution exactly once, at every fidelity and buffer kind.
func TestLibraryOnSim(t *testing.T) {
	worlds, spaces := []int{1, 2, 4, 7, 16}, []mem.Space{mem.TCM, mem.HBM, mem.SRAM}
	if testing.Short() { // the race detector is slow with that many messages
		worlds, spaces = []int{2, 4, 7}, spaces[:2]
	}
	for i, a := range onRings() {
		if a.Collective != "all_reduce" {
			continue
		}
		for j, world := range worlds {
			for k, n := range []int{0, 1, 7, 2500} {
				for l, space := range spaces {
					if !exhaustive.On() && (i+j+k)%len(spaces) != l {
						continue
					}
					for _, f := range []noc.Fidelity{noc.Slot, noc.Ideal, noc.Flit} {
						t.Run(fmt.Sprintf("%s/%d/%d/%v/%v", a.Name, world, n, space, f), func(t *testing.T) {
							b := libraryBench(t, a, setup{world: world, n: n, space: space, slotBytes: 1024})
							checkAllReduce(t, b, sim.Options{Fidelity: f})
						})
					}
				}
			}
		}
	}
}

func checkAllReduce(t *testing.T, b *bench, o sim.Options) *launch.Result {
	t.Helper()
	log := b.fill(t, func(r, i int) float64 { return float64((r*7+i)%5 - 2) })
	o.Data = log
	res, err := b.run(o)
	if err != nil {
		t.Fatal(err)
	}
	world := len(b.launch.Groups[0].PEs)
	call := collective.Call{World: world, Elems: b.n, Type: b.typ, Op: tl.Sum}
	want, err := collective.AllReduce.Expect(log.Hasher(), call)
	if err != nil {
		t.Fatal(err)
	}
	for r, a := range b.launch.Groups[0].Args.Shards {
		if b.n == 0 {
			continue
		}
		_, prov, err := log.View(a, b.typ, b.n)
		if err != nil {
			t.Fatal(err)
		}
		if p := want.Prov(nil, r); !collective.Equal(prov, p) {
			t.Fatalf("rank %d holds %+v, want %+v", r, prov, p)
		}
	}
	return res
}

// TestRunAheadCannotBeSeen: event-driven with run-ahead, without, and replayed, traces are equal to
// the byte.
func TestRunAheadCannotBeSeen(t *testing.T) {
	spaces := []mem.Space{mem.TCM, mem.SRAM, mem.HBM}
	if testing.Short() { // as above
		spaces = spaces[:1]
	}
	for i, a := range onRings() {
		for j, space := range spaces {
			for k, poll := range []bool{false, true} {
				if !exhaustive.On() && (i+j+k)%2 > 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%v/poll=%v", a.Name, space, poll), func(t *testing.T) {
					b := libraryBench(t, a, setup{world: 16, n: 2500, chunk: 512, space: space, ring: func(r *tl.Ring) { r.Poll = poll }})
					want := b.outcome(t, sim.Options{Yield: true}, views{trace: true})
					for _, o := range []sim.Options{{EventDriven: true}, {}} {
						if got := b.outcome(t, o, views{trace: true}); !got.same(&want) {
							t.Errorf("event-driven %v: outcomes differ (-without +with run-ahead):\n%.2000s",
								o.EventDriven, cmp.Diff(want, got, ignoreEvents))
						}
						if space != mem.TCM {
							break // such launches are not replayed
						}
					}
				})
			}
		}
	}
}

// TestTimingDoesNotDependOnData: the same launch takes the same time with the data pass.
func TestTimingDoesNotDependOnData(t *testing.T) {
	timing := newBench(t, algorithm.RingAllReduceChunked.Kernel, setup{world: 16, n: 3000})
	bare, err := timing.run(sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	with := checkAllReduce(t, newBench(t, algorithm.RingAllReduceChunked.Kernel, setup{world: 16, n: 3000}), sim.Options{})
	if !reflect.DeepEqual(bare, with) {
		t.Errorf("timing only %+v, with data %+v", *bare, *with)
	}
}

// TestPayloads: payloads of 1, n_slots and 16 × n_slots slots go round the guide's ring.
func TestPayloads(t *testing.T) {
	for _, slots := range []int{1, 4, 64} {
		for _, space := range []mem.Space{mem.TCM, mem.HBM} {
			t.Run(fmt.Sprintf("%d slots/%v", slots, space), func(t *testing.T) {
				b := newBench(t, algorithm.RingAllReduce.Kernel, setup{world: 4, n: slots * 512 / 2, slotBytes: 512, space: space})
				res := checkAllReduce(t, b, sim.Options{})
				if want := int64(4 * 3 * slots); res.Messages != want {
					t.Errorf("%d messages, want %d", res.Messages, want)
				}
			})
		}
	}
}

// TestLaunchesInARow: credits are home before the next launch, and host reads between
// launches see what was computed so far.
func TestLaunchesInARow(t *testing.T) {
	b := newBench(t, algorithm.HelloSend.Kernel, setup{world: 3, n: 8})
	log := b.fill(t, func(r, i int) float64 { return float64(r) })
	e := sim.New(b.m, sim.Options{Data: log})
	var last *launch.Result
	for turn := 1; turn <= 7; turn++ {
		res, err := e.Launch(t.Context(), b.launch)
		if err != nil {
			t.Fatal(err)
		}
		if last != nil && (res.Duration() != last.Duration() || res.Start < last.End) {
			t.Errorf("launch %d: %v..%v after %v..%v", turn, res.Start, res.End, last.Start, last.End)
		}
		last = res
		for r, a := range b.launch.Groups[0].Args.Shards {
			got, err := log.Read(a, b.typ, b.n)
			if err != nil {
				t.Fatal(err)
			}
			from := (r - turn + 3*7) % 3
			other := newBench(t, nil, setup{world: 3, n: 8}).fill(t, func(int, int) float64 { return float64(from) })
			want, _ := other.Read(a, b.typ, b.n)
			if !bytes.Equal(got, want) {
				t.Fatalf("after %d launches rank %d has %x, want that of rank %d", turn, r, got, from)
			}
		}
	}
}

// TestDeadlock: all ranks receive first.
func TestDeadlock(t *testing.T) {
	b := newBench(t, func(c *tl.Context, a tl.Args) {
		t := c.Recv(tl.West, tl.Dims(4), a.DType)
		c.Send(tl.East, t)
	}, setup{world: 4, n: 4})
	_, err := b.run(sim.Options{})
	var d *fault.Deadlock
	if !errors.As(err, &d) {
		t.Fatalf("got %v, want a deadlock", err)
	}
	if len(d.Blocked) != 4 || !slices.Equal(d.Cycle, []int{0, 3, 2, 1}) {
		t.Errorf("blocked %d, cycle %v", len(d.Blocked), d.Cycle)
	}
	if l := d.Blocked[2].Line; l != "sim/sim_test.go:"+lineOfRecv {
		t.Errorf("line %q", l)
	}
}

const lineOfRecv = "211"

// TestFaultIsTheEarliest: of two kernels that fail, the one that failed first in simulated
// time is reported, though the other ran first.
func TestFaultIsTheEarliest(t *testing.T) {
	for _, yield := range []bool{false, true} {
		b := newBench(t, func(c *tl.Context, a tl.Args) {
			if c.Rank() == 0 {
				for range 10 {
					c.Full(tl.Dims(1), a.DType, 1)
				}
			}
			c.Send(tl.North, c.Full(tl.Dims(1), a.DType, 1))
		}, setup{world: 4, n: 4})
		_, err := b.run(sim.Options{Yield: yield})
		var f *fault.InvalidDirection
		if !errors.As(err, &f) || f.Rank != 1 || f.Time != 2*2*unit.Nanosecond-2*unit.Nanosecond {
			t.Errorf("yield=%v: got %v", yield, err)
		}
	}
}

// TestIdealIsFastest: ideal is never slower than slot. An all-to-all needs blocks of equal size.
func TestIdealIsFastest(t *testing.T) {
	inOneGoroutine(t)
	world := 16
	if exhaustive.On() {
		world = 64
	}
	for _, a := range onRings() {
		var took [2]unit.Time
		for i, f := range []noc.Fidelity{noc.Ideal, noc.Slot} {
			res, err := libraryBench(t, a, setup{world: world, n: 63 * 64, chunk: 512}).run(sim.Options{Fidelity: f})
			if err != nil {
				t.Fatal(err)
			}
			took[i] = res.Duration()
		}
		if took[0] > took[1] {
			t.Errorf("%s: ideal %v, slot %v", a.Name, took[0], took[1])
		}
	}
}

func benchmarkRing(b *testing.B, world, bytes int, sets []string, data bool) {
	x := newBench(b, algorithm.RingAllReduceChunked.Kernel, setup{world: world, n: bytes / 2, sets: sets})
	b.ReportAllocs()
	var res *launch.Result
	for range b.N {
		var o sim.Options
		if data {
			b.StopTimer()
			o.Data = x.fill(b, func(r, i int) float64 { return float64((r + i) % 3) })
			b.StartTimer()
		}
		var err error
		if res, err = x.run(o); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(res.Messages), "ns/message")
	b.ReportMetric(float64(res.Events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(res.Events)/float64(res.Messages), "events/message")
}

func BenchmarkRing256(b *testing.B)     { benchmarkRing(b, 256, 64<<10, nil, false) }
func BenchmarkRing256Data(b *testing.B) { benchmarkRing(b, 256, 64<<10, nil, true) }
func BenchmarkRing1024(b *testing.B) {
	benchmarkRing(b, 1024, 64<<10, []string{"system.sips.count=8"}, false)
}

// inOneGoroutine skips a test with -short, if its launches have no data and no second core. They
// run in one goroutine, so that the race detector has nothing to detect.
func inOneGoroutine(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out tests that run in one goroutine")
	}
}
