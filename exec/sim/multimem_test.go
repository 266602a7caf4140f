package sim_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/kerneltest"
	"kernbench/lab/run"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/unit"
)

// staged returns a window of n elements, and words for a rendezvous.
func staged(t testing.TB, n int, typ dtype.Type) *mem.Layout {
	t.Helper()
	l, err := mem.NewLayout(0, []mem.Buffer{{Name: "w",
		Parts: []mem.Part{mem.SignalPart("words", mem.Int64, 8), mem.DataPart("data", typ, n)}}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// meetAll holds all ranks until each has notified all others.
func meetAll(c *tl.Context, a tl.Args) {
	c.PipeBarrier()
	s := c.Signals(a.Window(0), "w.words")
	for peer := range c.WorldSize() {
		c.Notify(s.At(c.Rank()), peer, tl.SignalAdd, 1)
	}
	for peer := range c.WorldSize() {
		c.WaitUntil(s.At(peer), tl.GE, 1)
	}
}

// inTheSwitch stages the contribution, loads all copies combined, and stores that as the result.
func inTheSwitch(c *tl.Context, a tl.Args) {
	d := c.Data(a.Window(0), "w.data")
	c.Copy(c.Local(d), a.Shard(c.Rank()))
	meetAll(c, a)
	c.Store(a.Out(c.Rank(), a.NElem), c.Finish(a.Op, c.LoadReduce(d, a.Op), c.WorldSize()))
}

// fromFirst lets rank 0 store its vector to all copies.
func fromFirst(c *tl.Context, a tl.Args) {
	d := c.Data(a.Window(0), "w.data")
	if c.Rank() == 0 {
		c.StoreMulticast(d, c.Load(a.Shard(0)))
	}
	meetAll(c, a)
	c.Copy(a.Out(c.Rank(), a.NElem), c.Local(d))
}

// TestMultimemValues: on each executor, in several schedules, each element is right and has each
// contribution once, also of vectors of several messages.
func TestMultimemValues(t *testing.T) {
	for _, n := range []int{1, 13, 5000} {
		cfg := kerneltest.Config{World: 4, NElem: n, DType: dtype.F32, Layout: staged(t, n, dtype.F32), Multimem: true, Schedules: 3}
		cfg.Collective = "all_reduce"
		for _, op := range tl.ReduceOps() {
			cfg.Op = op
			kerneltest.Run(t, inTheSwitch, cfg)
		}
		cfg.Collective, cfg.Op = "broadcast", tl.Sum
		kerneltest.Run(t, fromFirst, cfg)
	}
}

// TestMultimemRounding: a switch adds f16 in f32 and rounds once. In f16 2048 + 1 is 2048.
func TestMultimemRounding(t *testing.T) {
	in := [][]float64{{2048}, {1}, {1}, {1}}
	for _, executor := range []string{"mock", "sim"} {
		cfg := kerneltest.Config{Inputs: in, DType: dtype.F16, Layout: staged(t, 1, dtype.F16), Multimem: true,
			Executors: []string{executor}}
		for r, out := range kerneltest.Once(t, inTheSwitch, cfg) {
			if !slices.Equal(out, []float64{2052}) { // 2051 lies between 2050 and 2052, and rounds to even
				t.Errorf("%s, rank %d: %v, want 2052", executor, r, out)
			}
		}
	}
}

// TestMultimemRaces: what another rank has not waited for is a race, through the switch too.
func TestMultimemRaces(t *testing.T) {
	cfg := kerneltest.Config{World: 2, NElem: 4, DType: dtype.F32, Layout: staged(t, 4, dtype.F32), Multimem: true}
	for _, test := range []struct {
		name   string
		kernel tl.Kernel
		want   string // in a hazard; "": there is none
	}{
		{"met", inTheSwitch, ""},
		{"stored and met", fromFirst, ""},
		{"not met before the load", func(c *tl.Context, a tl.Args) {
			d := c.Data(a.Window(0), "w.data")
			c.Copy(c.Local(d), a.Shard(c.Rank()))
			c.PipeBarrier()
			c.Store(a.Out(c.Rank(), a.NElem), c.LoadReduce(d, a.Op))
		}, "load_reduce"},
		{"not met after the store", func(c *tl.Context, a tl.Args) {
			d := c.Data(a.Window(0), "w.data")
			if c.Rank() == 0 {
				c.StoreMulticast(d, c.Load(a.Shard(0)))
				c.PipeBarrier()
				return
			}
			c.Copy(a.Out(c.Rank(), a.NElem), c.Local(d))
		}, "store_multicast"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, report, err := kerneltest.Races(test.kernel, cfg)
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			for i := range report.Hazards {
				text += report.Hazards[i].String() + "\n"
			}
			if (text == "") != (test.want == "") || !strings.Contains(text, test.want) {
				t.Errorf("%q, want %q", text, test.want)
			}
		})
	}
}

// TestMultimemUnsupported: a machine without such a switch refuses the instruction.
func TestMultimemUnsupported(t *testing.T) {
	cfg := kerneltest.Config{World: 2, NElem: 4, DType: dtype.F32, Layout: staged(t, 4, dtype.F32),
		Executors: []string{"sim"}, Collective: "all_reduce"}
	for _, kernel := range []tl.Kernel{inTheSwitch, fromFirst} {
		_, err := kerneltest.Check(kernel, cfg)
		if no, ok := errors.AsType[*fault.Unsupported](err); !ok || !strings.Contains(no.What, "no single switch joins") {
			t.Errorf("%v", err)
		}
	}
}

// multimemTime returns the time of nvls_allreduce of n elements on a switch with some
// settings.
func multimemTime(t *testing.T, n int, sets ...string) unit.Time {
	t.Helper()
	r, err := run.Run(t.Context(), run.Spec{
		Bench: "ccl_hello", Algorithm: "nvls_allreduce", Ranks: 4, NElem: n, DType: dtype.F32, Executor: "sim",
		Sets: slices.Concat(kerneltest.SwitchSettings(4), []string{ // only the links of the switch count
			"cube.hbm_to_router_bw_gbs=100000", "cube.noc.link_bw_gbs=100000", "pe.link_bw_gbs=100000", "pe.tcm.bw_gbs=100000",
			"sip.ucie.bw_gbs=100000", "sip.io.bw_gbs=100000", "cube.hbm.access_ns=0",
		}, sets),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.SimulatedTime
}

// TestMultimemTimes: the switch's latency is in the time once for each load that waits for another,
// and its rate is that of the bytes. The time is the same in every run.
func TestMultimemTimes(t *testing.T) {
	small := multimemTime(t, 4)
	if late := multimemTime(t, 4, "system.switch.reduce.latency_ns=1000"); late-small != unit.Microsecond {
		t.Errorf("%v, and with a latency of 1 µs %v", small, late)
	}
	// Twelve accesses to memory wait for each other. A request does not pass the memory's port.
	once, twice := multimemTime(t, 4, "cube.hbm.access_ns=1000"), multimemTime(t, 4, "cube.hbm.access_ns=2000")
	if twice-once != 12*unit.Microsecond {
		t.Errorf("%v with accesses of 1 µs, %v with accesses of 2 µs", once, twice)
	}
	const n = 1 << 20 // 4 MiB: M (1 + 1/N) bytes in each direction at 256 GB/s
	large := multimemTime(t, n)
	if least := unit.Nanoseconds(float64(4*n) * 1.25 / 256); large < least || large > least*3/2 {
		t.Errorf("%v, of which %v are the bytes", large, least)
	}
	half := multimemTime(t, n, "system.switch.reduce.bw_gbs=64")
	if least := unit.Nanoseconds(float64(4*n) * 1.25 / 64); half < least || half > least*3/2 {
		t.Errorf("at 64 GB/s %v, of which %v are the bytes", half, least)
	}
	if again := multimemTime(t, n); again != large {
		t.Errorf("%v, and then %v", large, again)
	}
}

// pairOf makes the group of ranks 0 and 1, or 2 and 3.
func pairOf(c *tl.Context, a tl.Args) *mem.Group {
	first := c.Rank() / 2 * 2
	return c.Group(a.Window(0), first, first+1)
}

// inPairs adds up the vectors of two ranks in the switch, and stores the sum to both.
func inPairs(c *tl.Context, a tl.Args) {
	d := c.Data(a.Window(0), "w.data").Among(pairOf(c, a))
	c.Copy(c.Local(d), a.Shard(c.Rank()))
	meetAll(c, a)
	sum := c.LoadReduce(d, a.Op)
	c.Store(a.Out(c.Rank(), a.NElem), sum)
}

// throughInPairs does so with the half of each rank, without taking the sum to a PE.
func throughInPairs(c *tl.Context, a tl.Args) {
	g := pairOf(c, a)
	half := func(name string) tl.Sym { return c.Data(a.Window(0), name).Among(g).Chunk(2, c.Rank()%2) }
	c.Copy(c.Local(c.Data(a.Window(0), "w.data")), a.Shard(c.Rank()))
	meetAll(c, a)
	c.ReduceMulticast(half("w.sums"), half("w.data"), a.Op)
	c.PipeBarrier()
	c.Barrier(a.Window(0).Team)
	c.Copy(a.Out(c.Rank(), a.NElem), c.Local(c.Data(a.Window(0), "w.sums")))
}

// twice returns a window of vectors and sums, and words for a rendezvous.
func twice(t testing.TB, n int, typ dtype.Type) *mem.Layout {
	t.Helper()
	l, err := mem.NewLayout(0, []mem.Buffer{{Name: "w", Parts: []mem.Part{mem.SignalPart("words", mem.Int64, 8),
		mem.DataPart("data", typ, n), mem.DataPart("sums", typ, n)}}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestMultimemGroups: an operation on a group concerns the copies of its members only, on both
// executors, also of vectors of several messages.
func TestMultimemGroups(t *testing.T) {
	for _, kernel := range []tl.Kernel{inPairs, throughInPairs} {
		for _, n := range []int{2, 13, 5000} {
			in := make([][]float64, 4)
			for r := range in {
				for i := range n {
					in[r] = append(in[r], float64(r*r+i%7))
				}
			}
			for _, executor := range []string{"mock", "sim"} {
				cfg := kerneltest.Config{Inputs: in, DType: dtype.F32, Layout: twice(t, n, dtype.F32), Multimem: true,
					Executors: []string{executor}}
				for r, out := range kerneltest.Once(t, kernel, cfg) {
					for i, v := range out {
						if want := in[r/2*2][i] + in[r/2*2+1][i]; v != want {
							t.Fatalf("%s, %d elements, rank %d: element %d is %v, want %v", executor, n, r, i, v, want)
						}
					}
				}
			}
		}
	}
}

// TestMultimemGroupRaces: a load and store through the switch is judged as the accesses of all
// members.
func TestMultimemGroupRaces(t *testing.T) {
	cfg := kerneltest.Config{World: 4, NElem: 8, DType: dtype.F32, Layout: twice(t, 8, dtype.F32), Multimem: true}
	for _, test := range []struct {
		name, want string
		kernel     tl.Kernel
	}{
		{"met", "", throughInPairs},
		{"not met before", "reduce_multicast", func(c *tl.Context, a tl.Args) {
			g := pairOf(c, a)
			c.Copy(c.Local(c.Data(a.Window(0), "w.data")), a.Shard(c.Rank()))
			c.PipeBarrier()
			if c.Rank()%2 == 0 {
				c.ReduceMulticast(c.Data(a.Window(0), "w.sums").Among(g), c.Data(a.Window(0), "w.data").Among(g), a.Op)
			}
		}},
		{"not met after", "reduce_multicast", func(c *tl.Context, a tl.Args) {
			g := pairOf(c, a)
			meetAll(c, a)
			if c.Rank()%2 == 0 {
				c.ReduceMulticast(c.Data(a.Window(0), "w.sums").Among(g), c.Data(a.Window(0), "w.data").Among(g), a.Op)
				c.PipeBarrier()
			} else {
				c.Copy(a.Out(c.Rank(), a.NElem), c.Local(c.Data(a.Window(0), "w.sums")))
			}
		}},
	} {
		_, report, err := kerneltest.Races(test.kernel, cfg)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for i := range report.Hazards {
			text += report.Hazards[i].String() + "\n"
		}
		if (text == "") != (test.want == "") || !strings.Contains(text, test.want) {
			t.Errorf("%s: %q, want %q", test.name, text, test.want)
		}
	}
}

// TestMultimemGroupMisuse: groups that cannot be are refused with what is wrong.
func TestMultimemGroupMisuse(t *testing.T) {
	cfg := kerneltest.Config{World: 4, NElem: 4, DType: dtype.F32, Layout: twice(t, 4, dtype.F32), Multimem: true, Collective: "all_reduce"}
	for _, test := range []struct {
		want   string
		kernel tl.Kernel
	}{
		{"rank 1 after rank 2: ranks of a group are ascending", func(c *tl.Context, a tl.Args) { c.Group(a.Window(0), 2, 1) }},
		{`rank 9: team "world" has 4 members`, func(c *tl.Context, a tl.Args) { c.Group(a.Window(0), 0, 9) }},
		{"a group has at least one member", func(c *tl.Context, a tl.Args) { c.Group(a.Window(0)) }},
		{"world, ranks [1 2]", func(c *tl.Context, a tl.Args) { c.Group(a.Window(0), 1, 2) }},
		{"the destination overlaps the source", func(c *tl.Context, a tl.Args) {
			d := c.Data(a.Window(0), "w.data")
			c.ReduceMulticast(d, d, a.Op)
		}},
	} {
		if _, err := kerneltest.Check(test.kernel, cfg); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}

// leaves are settings of ranks below leaves of two, under spines that reduce.
func leaves(ranks int, more ...string) []string {
	return append([]string{
		fmt.Sprintf("system.levels=[{name: net, network: fat_tree, count: %d, join: each, link: {bw_gbs: 50, latency_ns: 100},", ranks) +
			" fat_tree: {radix: 4}, switch: {multicast: true, reduce: {types: [f32, f16], latency_ns: 0}}}]",
		"sip.cube_mesh.w=1", "sip.cube_mesh.h=1", "cube.pe_layout.pe_per_corner=1", "cube.pe_layout.corners=[NW]",
	}, more...)
}

// TestMultimemTrees: over a tree of switches the values are those of one switch. Each switch on the
// way up combines, which takes its latency, and each member's link carries a vector once in each
// direction, with the request.
func TestMultimemTrees(t *testing.T) {
	once := func(ranks, n int, typ dtype.Type, more ...string) *run.Result {
		r, err := run.Run(t.Context(), run.Spec{Bench: "ccl_hello", Algorithm: "nvls_allreduce", Ranks: ranks, NElem: n,
			DType: typ, Executor: "sim", VerifyData: true, Sets: leaves(ranks, more...)})
		if err != nil {
			t.Fatal(err)
		}
		if !r.OK() || r.RanksFailed != 0 {
			t.Errorf("%d ranks, %d elements: %+v", ranks, n, r)
		}
		return r
	}
	for _, ranks := range []int{2, 3, 4, 8} {
		for _, n := range []int{1, 100, 5000} {
			once(ranks, n, dtype.F32)
		}
		once(ranks, 33, dtype.F16)
	}
	small := once(8, 8, dtype.F32)
	late := once(8, 8, dtype.F32, "system.levels.0.switch.reduce.latency_ns=1000")
	if late.SimulatedTime-small.SimulatedTime != 2*unit.Microsecond {
		t.Errorf("%v, and with 1 µs in each switch %v: want that of a leaf and a spine", small.SimulatedTime, late.SimulatedTime)
	}
}
