package sim_test

import (
	"errors"
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

// staged is a window of so many elements, and words for a rendezvous.
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

// multimemTime is what nvls_allreduce takes of so many elements on a switch with some settings.
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
// its rate is that of the bytes, and the time is the same in every run.
func TestMultimemTimes(t *testing.T) {
	small := multimemTime(t, 4)
	if late := multimemTime(t, 4, "system.switch.reduce.latency_ns=1000"); late-small != unit.Microsecond {
		t.Errorf("%v, and with a latency of 1 µs %v", small, late)
	}
	const n = 1 << 20 // 4 MiB: M (1 + 1/N) bytes each way at 256 GB/s
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
