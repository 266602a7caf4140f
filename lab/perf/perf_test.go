package perf_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/exec/mock"
	_ "kernbench/lab/faulty"
	"kernbench/lab/perf"
	"kernbench/lab/run"
	"kernbench/unit"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var ctx = context.Background()

// executors runs a test on each registered executor. All have the properties that these tests need.
func executors(t *testing.T, f func(t *testing.T, executor string)) {
	for _, x := range exec.Names() {
		t.Run(x, func(t *testing.T) { f(t, x) })
	}
}

// measured runs a sweep that must end, and whose rows must come in the order of the list.
func measured(t interface {
	Helper()
	Fatalf(string, ...any)
}, s perf.Spec) *perf.Sweep {
	t.Helper()
	var begun int
	var rows []perf.Row
	sweep, err := perf.Run(ctx, s, func(*perf.Sweep) { begun++ }, func(r *perf.Row) { rows = append(rows, *r) })
	if err != nil {
		t.Fatalf("%v", err)
	}
	if begun != 1 || sweep.Planned != len(rows) || !reflect.DeepEqual(rows, sweep.Rows) {
		t.Fatalf("begun %d times, %d rows planned, %d handed out, %d listed", begun, sweep.Planned, len(rows), len(sweep.Rows))
	}
	return sweep
}

// perfOf returns a small sweep with data.
func perfOf(collective string, ranks int) perf.Spec {
	return perf.Spec{
		Base: run.Spec{Ranks: ranks}, Collective: collective, Min: 4 * unit.KiB, Max: 4 * unit.KiB, Factor: 2,
		Check: true, Memory: unit.GiB,
	}
}

// All algorithms of the library are measured, and right in both placements.
func TestPerfOfTheLibrary(t *testing.T) {
	rows := 0
	for _, name := range []string{"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "all_to_all_v",
		"broadcast", "reduce", "gather", "scatter", "barrier", "shift"} {
		s := perfOf(name, 4)
		s.AllAlgorithms, s.AllRoots = true, true
		s.Base.Executor = mock.Name
		sweep := measured(t, s)
		if sweep.Collective != name {
			t.Errorf("%s is measured as %s", name, sweep.Collective)
		}
		for _, r := range sweep.Rows {
			if strings.HasPrefix(r.Algorithm, "lab_") {
				continue // a wrong algorithm of these tests
			}
			rows++
			if len(r.Placements()) == 0 {
				t.Errorf("%s: nothing measured: %s", r.Algorithm, r.Note)
			}
			for _, p := range r.Placements() {
				if p.Error != "" || p.Wrong == nil || *p.Wrong != 0 {
					t.Errorf("%s: %+v", r.Algorithm, p)
				}
			}
			if (name == "all_gather" || name == "gather") && len(r.Placements()) != 2 {
				t.Errorf("%s: %d placements, want both", r.Algorithm, len(r.Placements()))
			}
			if name == "all_reduce" && (strings.HasPrefix(r.Algorithm, "window_") ||
				strings.HasPrefix(r.Algorithm, "ring_")) && len(r.Placements()) != 2 {
				t.Errorf("%s: %d placements, want both", r.Algorithm, len(r.Placements()))
			}
		}
	}
	if rows < 15 {
		t.Errorf("only %d rows of the library", rows)
	}
}

// The counts of nccl-tests, by hand, for 8 ranks and 1 KiB of f32.
func TestPerfCounts(t *testing.T) {
	for _, tt := range []struct {
		collective string
		count      int
		size       unit.Bytes
		redop      string
		root       int
		inPlace    bool
		bytes      float64 // that algbw counts
		factor     float64 // busbw over algbw
	}{
		{"all_reduce", 256, 1024, "sum", -1, true, 1024, 2 * 7. / 8},
		{"all_gather", 32, 1024, "none", -1, true, 1024, 7. / 8},
		{"reduce_scatter", 32, 1024, "sum", -1, true, 1024, 7. / 8},
		{"alltoall", 32, 1024, "none", -1, true, 1024, 7. / 8},
		{"all_to_all_v_perf", 32, 1024, "none", -1, false, 1024, 7. / 8},
		{"broadcast", 256, 1024, "none", 3, true, 1024, 1},
		{"reduce", 256, 1024, "sum", 3, true, 1024, 1},
		{"gather", 32, 1024, "none", 3, true, 1024, 7. / 8},
		{"scatter", 32, 1024, "none", 3, true, 1024, 7. / 8},
		{"sendrecv", 256, 1024, "none", -1, true, 1024, 1},
		{"hypercube", 32, 1024, "none", -1, true, 7 * 32 * 4, 1},
		{"barrier", 0, 0, "none", -1, false, 0, 0},
	} {
		t.Run(tt.collective, func(t *testing.T) {
			s := perfOf(tt.collective, 8)
			s.Min, s.Max, s.Roots = 1027, 1027, []int{3} // 3 bytes are no element
			sweep := measured(t, s)
			r := sweep.Rows[0]
			if r.Count != tt.count || r.Size != tt.size || r.RedOp != tt.redop || r.Root != tt.root || r.Type != "f32" || r.Ranks != 8 {
				t.Fatalf("%+v", r)
			}
			if (r.InPlace != nil) != tt.inPlace {
				t.Errorf("in place: %+v", r.InPlace)
			}
			sum := 0.0
			for _, p := range r.Placements() {
				near(t, "algbw", p.AlgBW, tt.bytes/p.Time.Ns())
				near(t, "busbw", p.BusBW, tt.bytes/p.Time.Ns()*tt.factor)
				sum += p.BusBW
			}
			near(t, "average", sweep.AvgBusBW, sum/float64(len(r.Placements())))
		})
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Abs(want) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// Rows are the requested sizes that have an element, rounded down to whole counts.
func TestPerfSizesAreThoseAskedFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"}).Draw(t, "collective")
		world := rapid.IntRange(1, 5).Draw(t, "ranks")
		s := perfOf(name, world)
		s.Base.Topology, s.Base.Executor, s.Check = "ahbm-cube", mock.Name, false
		typ := rapid.SampledFrom(dtype.Types()).Draw(t, "type")
		s.Types = []dtype.Type{typ}
		s.Min = unit.Bytes(rapid.Int64Range(1, 200).Draw(t, "min"))
		s.Max = s.Min + unit.Bytes(rapid.Int64Range(64, 3000).Draw(t, "more"))
		if s.Factor = rapid.SampledFrom([]int{0, 2, 3}).Draw(t, "factor"); s.Factor == 0 {
			s.Step = unit.Bytes(rapid.Int64Range(100, 2000).Draw(t, "step"))
		}
		per := int64(typ.Size())
		if name == "all_gather" || name == "reduce_scatter" || name == "all_to_all" {
			per *= int64(world)
		}
		var want []string
		for size := int64(s.Min); size <= int64(s.Max); {
			row := fmt.Sprint(size/per*per, size/per)
			if size/per > 0 && (len(want) == 0 || want[len(want)-1] != row) {
				want = append(want, row)
			}
			size = size*int64(max(1, s.Factor)) + int64(s.Step)
		}
		if len(want) == 0 {
			t.Skip("no size has an element")
		}
		var got []string
		for _, r := range measured(t, s).Rows {
			got = append(got, fmt.Sprint(int64(r.Size), r.Count))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("sizes and counts (-want +got)\n%s", diff)
		}
	})
}

// A vector may be larger than the memory of a PE: the default algorithm supports any size.
func TestPerfOfLargeVectors(t *testing.T) {
	for _, name := range []string{"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "all_to_all_v", "broadcast"} {
		s := perfOf(name, 2)
		s.Base.Topology, s.Min = "ahbm-cube", 3*unit.MiB+12*unit.Byte
		s.Max = s.Min
		for _, p := range measured(t, s).Rows[0].Placements() {
			if p.Err != nil || p.Wrong == nil || *p.Wrong != 0 {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
}
