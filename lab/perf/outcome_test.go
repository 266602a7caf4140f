package perf_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/fault"
	_ "kernbench/lab/faulty"
	"kernbench/lab/perf"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/tl"
	"kernbench/unit"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// odd stores results in the right place, but those of odd ranks unreduced. It accepts no odd number
// of elements.
var _ = algorithm.Register(algorithm.Algorithm{
	Name: "lab_odd", Collective: "all_reduce", Topology: "none",
	Kernel: func(c *tl.Context, a tl.Args) {
		me, n := c.Rank(), c.WorldSize()
		x := c.Load(a.Shard(me))
		if me%2 == 0 {
			for r := range n {
				if r != me {
					x = c.Combine(a.Op, x, c.Load(a.Shard(r)))
				}
			}
		}
		c.Store(a.Out(me, a.NElem), x)
	},
	Check: func(_, nElem int) error {
		if nElem%2 != 0 {
			return errors.New("an even number is needed")
		}
		return nil
	},
})

// Wrong elements are counted, over all ranks, in each placement that the algorithm has.
func TestPerfCountsWrongElements(t *testing.T) {
	executors(t, func(t *testing.T, executor string) {
		s := perfOf("all_reduce", 4)
		s.Base.Executor, s.Algorithms = executor, []string{"lab_odd", "lab_double"}
		sweep := measured(t, s)
		odd, double := sweep.Rows[0], sweep.Rows[1]
		if odd.OutOfPlace == nil || *odd.OutOfPlace.Wrong != 2*1024 {
			t.Errorf("of 4 × 1024 elements half are wrong: %+v", odd.OutOfPlace)
		}
		if double.OutOfPlace != nil {
			t.Errorf("it cannot leave results elsewhere: %+v", double.OutOfPlace)
		}
		if !strings.Contains(strings.Join(sweep.Notes, "\n"), "lab_double leaves its results where the contributions are") {
			t.Errorf("no note says why: %q", sweep.Notes)
		}
		if *double.InPlace.Wrong != 4*1024 {
			t.Errorf("all are wrong: %+v", *double.InPlace.Wrong)
		}
		command := "again: kernbench run --bench ccl_hello --algorithm lab_double --ranks 4 --n-elem 1024 --dtype f32 --op sum --platform " + executor
		if !strings.HasPrefix(double.Note, command) {
			t.Errorf("%q does not say how to see it again", double.Note)
		}
		if want := *odd.OutOfPlace.Wrong + *odd.InPlace.Wrong + *double.InPlace.Wrong; sweep.Wrong != want || !sweep.Checked {
			t.Errorf("%d wrong in all, want %d", sweep.Wrong, want)
		}
	})
}

func TestPerfOfWhatAnAlgorithmRefuses(t *testing.T) {
	s := perfOf("all_reduce", 4)
	s.Algorithms, s.Min, s.Max, s.Factor, s.Step = []string{"lab_odd"}, 4, 12, 0, 4
	sweep := measured(t, s)
	for i, r := range sweep.Rows {
		if refused := i%2 == 0; refused != (len(r.Placements()) == 0) || refused != strings.Contains(r.Note, "an even number is needed") {
			t.Errorf("%+v", r)
		}
	}
	s.Algorithms, s.AllAlgorithms = nil, true // of all algorithms, those that support no size are left out
	all := measured(t, s)
	if slices.Contains(all.Algorithms, "lab_bad_check") || !slices.Contains(all.Algorithms, "lab_odd") ||
		!strings.Contains(strings.Join(all.Notes, "\n"), "lab_bad_check is left out: its Check panicked") {
		t.Errorf("%q, %q", all.Algorithms, all.Notes)
	}
	for _, r := range all.Rows { // and of other algorithms, the sizes that they refuse
		if len(r.Placements()) == 0 || r.Algorithm == "lab_odd" && r.Size != 8 {
			t.Errorf("%+v", r)
		}
	}
	if !slices.Contains(all.Notes, "lab_odd is left out at 4 B and 12 B: an even number is needed") || all.Planned != len(all.Rows) {
		t.Errorf("%d rows planned, %d there, %q", all.Planned, len(all.Rows), all.Notes)
	}
	s.AllAlgorithms = false
	s.Algorithms = []string{"lab_bad_check"} // a panic is a refusal
	if r := measured(t, s).Rows[0]; !strings.Contains(r.Note, "panicked") {
		t.Errorf("%+v", r)
	}
}

// Of all algorithms, those whose data do not fit scratch or HBM are left out at that size, and a
// note names them. Of algorithms that were named, the reasons are in their rows.
func TestPerfOfTooLittleMemory(t *testing.T) {
	for key, test := range map[string]struct{ algorithm, note string }{
		"pe.tcm.scratch=1KiB": {"tree_allreduce",
			" left out at 2 KiB and 16 KiB: its data do not fit the scratch of 1 KiB (key pe.tcm.scratch)"},
		"cube.hbm.capacity_per_pe=36KiB": {"window_allreduce_ring",
			"at 16 KiB: its data do not fit the HBM (key cube.hbm.capacity_per_pe)"},
		"defaults.slot_size=1MiB": {"bine_allreduce", " left out at 2 KiB and 16 KiB: the rings need"},
	} {
		s := perfOf("all_reduce", 4)
		s.Min, s.Max, s.Factor, s.Check = 2*unit.KiB, 16*unit.KiB, 8, false
		s.Base.Sets = []string{key}
		s.Algorithms = []string{test.algorithm}
		named := measured(t, s)
		if last := named.Rows[len(named.Rows)-1]; len(named.Rows) != 2 || !perf.TooLarge(last.OutOfPlace.Err) {
			t.Errorf("%s: %+v", key, last)
		}
		s.Algorithms, s.AllAlgorithms = nil, true
		all := measured(t, s)
		at := slices.IndexFunc(all.Notes, func(n string) bool { return strings.Contains(n, test.note) })
		if at < 0 || !strings.Contains(all.Notes[at], test.algorithm) {
			t.Errorf("%s: no note has %s and %q in %q", key, test.algorithm, test.note, all.Notes)
		}
		if all.Planned != len(all.Rows) || len(all.Rows) == 0 {
			t.Errorf("%s: %d rows planned, %d there", key, all.Planned, len(all.Rows))
		}
		for _, r := range all.Rows {
			measured := slices.ContainsFunc(r.Placements(), func(p *sweep.Placement) bool { return !perf.TooLarge(p.Err) })
			if !measured || r.Algorithm == test.algorithm && r.Size == 16*unit.KiB {
				t.Errorf("%s: %+v", key, r)
			}
		}
	}
}

// The error of a failed run is in its row, and the other runs continue.
func TestPerfOfFaults(t *testing.T) {
	s := perfOf("all_reduce", 4)
	s.Algorithms = []string{"lab_waits", "lab_panics", "ring_allreduce"}
	rows := measured(t, s).Rows
	if p := rows[0].InPlace; !fault.Is(p.Err) || !strings.Contains(p.Error, "deadlock") || p.Wrong != nil {
		t.Errorf("%+v", p)
	}
	if p := rows[1].InPlace; !strings.Contains(p.Error, "Int(7)") && !strings.Contains(p.Error, "panic") {
		t.Errorf("%+v", p)
	}
	if p := rows[2].InPlace; p.Err != nil || *p.Wrong != 0 {
		t.Errorf("%+v", p)
	}
}

func TestPerfMemory(t *testing.T) {
	s := perfOf("all_reduce", 4)
	s.Max = 16 * unit.KiB
	s.Memory = 64 * unit.KiB // 4 × 16 KiB in place, 4 × 8 KiB and their results
	for i, want := range []struct {
		out, in bool
		note    string
	}{{true, true, ""}, {true, true, ""}, {false, true, "out of place not checked: the data of all ranks is 128 KiB"}} {
		r := measured(t, s).Rows[i]
		if (r.OutOfPlace.Wrong != nil) != want.out || (r.InPlace.Wrong != nil) != want.in ||
			!strings.HasPrefix(r.Note, want.note) || want.note == "" && r.Note != "" {
			t.Errorf("%d: %+v", i, r)
		}
	}
	s.Memory = 1
	if r := measured(t, s).Rows[0]; r.InPlace.Wrong != nil || r.InPlace.Time == 0 || !strings.HasPrefix(r.Note, "not checked") {
		t.Errorf("%+v", r)
	}
	s.Check = false
	if r := measured(t, s).Rows[0]; r.InPlace.Wrong != nil || r.Note != "" {
		t.Errorf("%+v", r)
	}
}

// Every combination of the varied settings, in the order of the flags, the last one fastest.
func TestPerfVaries(t *testing.T) {
	s := perfOf("all_reduce", 4)
	s.Algorithms = []string{"ring_allreduce", "tree_allreduce"}
	s.Vary = []sweep.Variation{{Key: "buffer_kind", Values: []string{"tcm", "hbm"}},
		{Key: "defaults.world_size", Values: []string{"2", "3"}}}
	s.Base.Ranks = 0
	sweep := measured(t, s)
	var got []string
	for _, r := range sweep.Rows {
		text := r.Algorithm
		for _, set := range r.Settings {
			text += " " + set.Key + "=" + set.Value
		}
		got = append(got, text)
		if want := int(r.Settings[1].Value[0] - '0'); r.Ranks != want {
			t.Errorf("%s: %d ranks", text, r.Ranks)
		}
	}
	want := []string{
		"ring_allreduce buffer_kind=tcm defaults.world_size=2", "tree_allreduce buffer_kind=tcm defaults.world_size=2",
		"ring_allreduce buffer_kind=tcm defaults.world_size=3", "tree_allreduce buffer_kind=tcm defaults.world_size=3",
		"ring_allreduce buffer_kind=hbm defaults.world_size=2", "tree_allreduce buffer_kind=hbm defaults.world_size=2",
		"ring_allreduce buffer_kind=hbm defaults.world_size=3", "tree_allreduce buffer_kind=hbm defaults.world_size=3",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if sweep.Ranks != 0 {
		t.Errorf("%d ranks are said of rows that differ", sweep.Ranks)
	}
	if sweep.Rows[0].InPlace.Time >= sweep.Rows[4].InPlace.Time {
		t.Errorf("slots in HBM are as fast as in TCM: %v, %v", sweep.Rows[0].InPlace.Time, sweep.Rows[4].InPlace.Time)
	}
}

// Machines and numbers of ranks may differ from row to row. Then the head of the table names none.
func TestPerfVariesTheMachine(t *testing.T) {
	s := perfOf("broadcast", 0)
	s.Base.Topology, s.Check = "ahbm-cube", false
	s.Vary = []sweep.Variation{{Key: "cube.pe_layout.pe_per_corner", Values: []string{"1", "2"}}}
	sweep := measured(t, s)
	if a, b := sweep.Rows[0], sweep.Rows[1]; a.Ranks != 4 || b.Ranks != 8 || sweep.Ranks != 0 || sweep.Machine != "machines that differ" {
		t.Errorf("%d and %d ranks; of all: %d on %s", a.Ranks, b.Ranks, sweep.Ranks, sweep.Machine)
	}
}

// Runs are independent of each other: in parallel they have the same results as alone.
func TestPerfSideBySide(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	s := perfOf("all_reduce", 8)
	s.Algorithms = []string{"ring_allreduce_chunked", "window_allreduce_twophase"}
	s.Types, s.Ops = []dtype.Type{dtype.F16, dtype.I32}, []tl.ReduceOp{tl.Sum, tl.Max}
	s.Min = 512
	runtime.GOMAXPROCS(1)
	alone := measured(t, s)
	for _, procs := range []int{2, 5} {
		runtime.GOMAXPROCS(procs)
		if diff := cmp.Diff(alone, measured(t, s), cmpopts.IgnoreUnexported(perf.Sweep{})); diff != "" || alone.AvgBusBW == 0 {
			t.Errorf("alone and on %d processors (-alone +together)\n%s", procs, diff)
		}
	}
}

// One iteration is all: in one context, one after the other, each takes the same time.
func TestPerfIterationsTakeTheSameTime(t *testing.T) {
	for _, name := range []string{"ring_allreduce_chunked", "window_allreduce_twophase"} {
		s := perfOf("all_reduce", 8)
		s.Algorithms = []string{name}
		one := measured(t, s).Rows[0].InPlace.Time
		r, err := run.Run(ctx, run.Spec{Bench: "lab_perf_thrice", Algorithm: name, Ranks: 8, NElem: 1024, DType: dtype.F32})
		if err != nil {
			t.Fatal(err)
		}
		if r.Launches != 3 || r.SimulatedTime != 3*one {
			t.Errorf("%s: %d iterations take %v, one takes %v", name, r.Launches, r.SimulatedTime, one)
		}
	}
}

var _ = bench.Register(bench.Program{
	Name: "lab_perf_thrice", Collectives: true,
	Run: func(ctx context.Context, h *bench.Host) error {
		plan, err := h.Device.InstallIPCQ(h.Algorithm)
		if err != nil {
			return err
		}
		tensors, err := h.AllContributions(plan)
		if err != nil {
			return err
		}
		for range 3 {
			if _, err := h.Device.Perform(ctx, plan, h.Op, tensors); err != nil {
				return err
			}
		}
		return nil
	},
})

// Finished rows are handed out and listed, even if the sweep is interrupted.
func TestPerfInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	s := perfOf("all_reduce", 8)
	s.Min, s.Max = 8, 8*unit.MiB
	rows := 0
	sweep, err := perf.Run(ctx, s, nil, func(*perf.Row) {
		if rows++; rows == 3 {
			stop()
		}
	})
	if !errors.Is(err, context.Canceled) || rows < 3 || len(sweep.Rows) != rows || rows >= sweep.Planned {
		t.Errorf("%v, %d rows handed out, %d listed, %d planned", err, rows, len(sweep.Rows), sweep.Planned)
	}
	for _, r := range sweep.Rows {
		for _, p := range r.Placements() {
			if p.Err != nil || *p.Wrong != 0 {
				t.Errorf("%+v", p)
			}
		}
	}
}

// TestInterruptedChecks interrupts the checks of the algorithms that auto chooses from.
func TestInterruptedChecks(t *testing.T) {
	for _, checks := range []int{0, 1} {
		ctx, stop := context.WithCancel(t.Context())
		s := perfOf("all_reduce", 8)
		s.Algorithms = []string{algorithm.Auto}
		s.Progress = func(p run.Progress) {
			if p.Phase == "perf, checks of algorithms" && p.Done == int64(checks) {
				stop()
			}
		}
		if _, err := perf.Run(ctx, s, nil, nil); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "element") {
			t.Errorf("after %d checks: %v, want an interruption only", checks, err)
		}
		stop()
	}
}

func TestPerfIsRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(s *perf.Spec)
		want   string
	}{
		{"collective", func(s *perf.Spec) { s.Collective = "all_redduce" }, `unknown collective "all_redduce"; did you mean "all_reduce"?`},
		{"strange collective", func(s *perf.Spec) { s.Collective = "xyz" }, "want one of all_gather, all_reduce"},
		{"no bytes", func(s *perf.Spec) { s.Min = 0 }, "at least 1 B"},
		{"min above max", func(s *perf.Spec) { s.Min = 8 * unit.KiB }, "the largest is below the smallest"},
		{"factor", func(s *perf.Spec) { s.Factor, s.Max = 1, unit.MiB }, "at least 2"},
		{"factor and step", func(s *perf.Spec) { s.Step = 8 }, "one of the two"},
		{"negative step", func(s *perf.Spec) { s.Factor, s.Step = 0, -1 }, "give a factor of at least 2, or a step"},
		{"too many sizes", func(s *perf.Spec) { s.Factor, s.Step, s.Max = 0, 1, unit.MiB }, "more than 4096"},
		{"too small", func(s *perf.Spec) { s.Min, s.Max = 1, 3 }, "gives a rank no element: raise --maxbytes"},
		{"ranks", func(s *perf.Spec) { s.Base.Ranks = 300 }, "300 ranks: the machine has 256 PEs"},
		{"root", func(s *perf.Spec) { s.Collective, s.Roots = "broadcast", []int{4} }, "root 4: the ranks are 0 to 3"},
		{"algorithm", func(s *perf.Spec) { s.Algorithms = []string{"ring_alreduce"} }, "did you mean"},
		{"other collective", func(s *perf.Spec) { s.Algorithms = []string{"window_allgather"} }, "performs all_gather, not all_reduce"},
		{"some and all", func(s *perf.Spec) { s.Algorithms, s.AllAlgorithms = []string{"ring_allreduce"}, true }, "one of the two"},
		{"impossible ranks", func(s *perf.Spec) { s.Algorithms, s.Base.Ranks = []string{"mesh_allreduce"}, 3 }, "3 is not a square"},
		{"rank is SIP", func(s *perf.Spec) { s.Base.Ranks, s.Base.Sets = 0, []string{"defaults.rank_level=sip"} },
			"found rank_level sip, want pe"},
		{"key", func(s *perf.Spec) { s.Vary = []sweep.Variation{{Key: "n_slotz", Values: []string{"1"}}} }, "n_slots"},
		{"value", func(s *perf.Spec) { s.Vary = []sweep.Variation{{Key: "n_slots", Values: []string{"many"}}} }, "many"},
		{"key twice", func(s *perf.Spec) {
			s.Vary = []sweep.Variation{{Key: "n_slots", Values: []string{"1"}}, {Key: "n_slots", Values: []string{"2"}}}
		}, "varied twice"},
		{"iterations", func(s *perf.Spec) { s.Warmup = -1 }, "neither can be negative"},
		{"fidelity of mock", func(s *perf.Spec) { s.Base.Executor, s.Base.Fidelity = mock.Name, "slot" }, "has no network"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := perfOf("all_reduce", 4)
			tt.change(&s)
			if sweep, err := perf.Run(ctx, s, nil, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, %+v, want %q", err, sweep, tt.want)
			}
		})
	}
}
