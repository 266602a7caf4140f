package tune_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kernbench/algorithm"
	"kernbench/internal/exhaustive"
	_ "kernbench/lab/faulty"
	"kernbench/lab/perf"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/lab/tune"
	"kernbench/store"
	"kernbench/unit"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// tuneOf returns a small sweep of a few algorithms.
func tuneOf(algorithms ...string) tune.Spec {
	if len(algorithms) == 0 {
		algorithms = []string{"ring_allreduce_chunked", "recursive_doubling_allreduce",
			"bidirectional_ring_allreduce", "window_allreduce_twophase"}
	}
	return tune.Spec{
		Ranks: []int{4}, Collectives: []string{"allreduce"}, Algorithms: algorithms,
		Min: unit.KiB, Max: 256 * unit.KiB, Factor: 4, Best: 3, AllTo: unit.GiB, MeasureTo: unit.GiB, Budget: 1 << 40,
		Vary:    []sweep.Variation{{Key: "n_slots", Values: []string{"2", "4"}}, {Key: "slot_size", Values: []string{"4KiB", "64KiB"}}},
		Program: "of the test",
	}
}

func openStore(t testing.TB, file string) *store.Store {
	t.Helper()
	st, err := store.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

// opened returns a function that returns an open store.
func opened(st *store.Store) func() (*store.Store, error) {
	return func() (*store.Store, error) { return st, nil }
}

func tuned(t *testing.T, s tune.Spec, st *store.Store) *tune.Tuned {
	t.Helper()
	out, err := tune.Run(t.Context(), s, opened(st))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// results returns what a sweep came to, without how it came to that.
func results(t *tune.Tuned) string {
	return cmp.Diff(nil, t.Groups, cmpopts.IgnoreUnexported(tune.Group{})) + cmp.Diff(nil, t.Table)
}

func TestTuneMeasuresNothingTwice(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	st := openStore(t, file)
	s := tuneOf()
	first := tuned(t, s, st)
	if first.Found != 0 || first.Simulated == 0 || first.Points <= first.Simulated {
		t.Errorf("first: %d points, %d found, %d simulated", first.Points, first.Found, first.Simulated)
	}
	again := tuned(t, s, st)
	if again.Simulated != 0 || again.Found != first.Points || again.Points != first.Points {
		t.Errorf("again: %d points, %d found, %d simulated", again.Points, again.Found, again.Simulated)
	}
	if diff := cmp.Diff(results(first), results(again)); diff != "" {
		t.Error(diff)
	}
	for _, change := range []func(*tune.Spec){
		func(s *tune.Spec) { s.Program = "another" },
		func(s *tune.Spec) { s.Base.Sets = []string{"cube.noc.link_bw_gbs=300"} },
		func(s *tune.Spec) { s.Base.Sets = []string{"defaults.backpressure=poll"} },
		func(s *tune.Spec) { s.Base.Fidelity = "ideal" },
	} {
		other := s
		change(&other)
		if out := tuned(t, other, st); out.Found != 0 {
			t.Errorf("%d points of other times were taken", out.Found)
		}
	}
	more := s
	more.Max *= 4
	if out := tuned(t, more, st); out.Found != first.Points || out.Simulated == 0 {
		t.Errorf("one size more: %d found of %d, %d simulated", out.Found, first.Points, out.Simulated)
	}
}

// Wherever a sweep is stopped, its finished points are stored. With the remaining points the result
// is that of an uninterrupted sweep.
func TestTuneGoesOnWhereItWasStopped(t *testing.T) {
	s := tuneOf()
	whole := tuned(t, s, openStore(t, filepath.Join(t.TempDir(), "x.db")))
	for _, at := range []int64{0, 1, 17} {
		st := openStore(t, filepath.Join(t.TempDir(), "x.db"))
		stopped, stop := context.WithCancel(t.Context())
		half := s
		half.Progress = func(p run.Progress) {
			if p.Done > at {
				stop()
			}
		}
		part, err := tune.Run(stopped, half, opened(st))
		stop()
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped at %d: %v", at, err)
		}
		rest := tuned(t, s, st)
		if rest.Found < part.Points || part.Points > 0 && rest.Found == 0 || rest.Simulated+part.Simulated > whole.Simulated+1 {
			t.Errorf("stopped at %d: %d points were there, %d found; %d and %d simulated, at once %d",
				at, part.Points, rest.Found, part.Simulated, rest.Simulated, whole.Simulated)
		}
		whole.Run = rest.Run
		if diff := cmp.Diff(results(whole), results(rest)); diff != "" {
			t.Errorf("stopped at %d: %s", at, diff)
		}
	}
}

// A process that is killed in the middle has kept what it said that it had.
func TestTuneIsKilled(t *testing.T) {
	const variable = "LAB_TEST_TUNE"
	s := tuneOf()
	s.Max = 4 * unit.MiB
	if file := os.Getenv(variable); file != "" {
		tuned(t, s, openStore(t, file))
		return
	}
	file := filepath.Join(t.TempDir(), "x.db")
	st := openStore(t, file)
	cmd := exec.Command(os.Args[0], "-test.run=^TestTuneIsKilled$")
	cmd.Env = append(os.Environ(), variable+"="+file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	had := 0
	for had < 10 {
		points, err := st.Points(1)
		if err != nil {
			t.Fatal(err)
		}
		had = len(points)
		time.Sleep(time.Millisecond)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	points, err := st.Points(1)
	if err != nil || len(points) < had {
		t.Fatalf("%d points were there, %d are left: %v", had, len(points), err)
	}
	rest := tuned(t, s, st)
	whole := tuned(t, s, openStore(t, filepath.Join(t.TempDir(), "y.db")))
	if rest.Found != len(points) || rest.Points != whole.Points || rest.Simulated >= whole.Simulated {
		t.Errorf("%d points were there, %d found, %d of %d simulated", len(points), rest.Found, rest.Simulated, whole.Simulated)
	}
	if diff := cmp.Diff(results(whole), results(rest)); diff != "" {
		t.Error(diff)
	}
}

// Algorithms with wrong results are not timed, however fast they are. Neither are those that do not
// end.
func TestTuneLeavesOutWhatIsWrong(t *testing.T) {
	st := openStore(t, filepath.Join(t.TempDir(), "x.db"))
	s := tuneOf("lab_lossy", "lab_double", "lab_waits", "ring_allreduce_chunked")
	s.Vary = nil
	for range 2 { // the second time from the store
		out := tuned(t, s, st)
		if len(out.Wrong) != 3 {
			t.Errorf("wrong are %s", strings.Join(out.Wrong, "; "))
		}
		for _, g := range out.Groups {
			for _, r := range g.Rows {
				if r.Best.Algorithm != "ring_allreduce_chunked" || r.RunnerUp != nil {
					t.Errorf("%v: %s is timed", r.Size, r.Best.Algorithm)
				}
			}
		}
	}
}

// Settings are skipped if the rings do not fit. The algorithm is checked and timed with the
// settings that fit.
func TestTuneSkipsRingsThatDoNotFit(t *testing.T) {
	s := tuneOf("bine_allreduce", "ring_allreduce_chunked")
	s.Ranks, s.Max = []int{32}, unit.KiB
	s.Base.Sets = []string{"defaults.slot_size=1MiB"}
	s.Vary = []sweep.Variation{{Key: "slot_size", Values: []string{"2MiB", "4KiB"}}}
	out := tuned(t, s, openStore(t, filepath.Join(t.TempDir(), "x.db")))
	row := out.Groups[0].Rows[0]
	if row.Best.Algorithm != "bine_allreduce" || row.Best.Settings != "slot_size=4KiB" || row.RunnerUp == nil {
		t.Errorf("the best is %s with %s, the runner-up %v", row.Best.Algorithm, row.Best.Settings, row.RunnerUp)
	}
	notes := strings.Join(out.Notes, "; ")
	if len(out.Wrong) != 0 || !strings.Contains(notes, "skipped on ahbm: algorithm bine_allreduce, as configured (and 1 more): the rings need") {
		t.Errorf("wrong: %q, notes: %s", out.Wrong, notes)
	}
}

// measured runs a sweep that must end.
func measured(t *testing.T, s perf.Spec) *perf.Sweep {
	t.Helper()
	sweep, err := perf.Run(t.Context(), s, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sweep
}

// A slot that holds the whole call is as good as any larger one: that is why they are measured
// once.
func TestLargerSlotsChangeNothingForSmallCalls(t *testing.T) {
	for _, x := range []struct{ collective, topology, protocol string }{
		{"all_reduce", "", "simple"}, {"all_gather", "", "simple"}, {"all_to_all", "", "simple"},
		{"reduce_scatter", "", "simple"}, {"broadcast", "", "simple"},
		{"all_reduce", "dgx-h100", "ll"}, {"all_reduce", "dgx-h100", "ll128"},
	} {
		s := perf.Spec{Base: run.Spec{Ranks: 8}, Collective: x.collective, Factor: 4}
		s.Base.Topology, s.Base.Sets = x.topology, []string{"defaults.protocol=" + x.protocol}
		s.Min, s.Max, s.AllAlgorithms = unit.KiB, 4*unit.KiB, true
		s.Vary = []sweep.Variation{{Key: "slot_size", Values: []string{"4KiB", "64KiB"}}}
		if exhaustive.On() {
			s.Factor = 2
		}
		times := map[string]unit.Time{}
		for _, r := range measured(t, s).Rows {
			at := r.InPlace
			if at == nil {
				at = r.OutOfPlace
			}
			if at == nil || at.Err != nil || strings.HasPrefix(r.Algorithm, "lab_") {
				continue
			}
			key := r.Algorithm + " " + r.Size.String()
			if other, known := times[key]; known && other != at.Time {
				t.Errorf("%s, protocol %s: %v with slots of 4 KiB, %v with 64 KiB", key, x.protocol, other, at.Time)
			}
			times[key] = at.Time
		}
	}
}

// Only the best continue to large sizes; what is larger still is estimated, with the error of that.
func TestTunePrunesAndEstimates(t *testing.T) {
	s := tuneOf()
	s.Max, s.Best, s.AllTo, s.MeasureTo = 4*unit.MiB, 1, 64*unit.KiB, unit.MiB
	out := tuned(t, s, openStore(t, filepath.Join(t.TempDir(), "x.db")))
	g := out.Groups[0]
	for _, r := range g.Rows {
		switch {
		case r.Size <= 64*unit.KiB && r.RunnerUp == nil:
			t.Errorf("%v: one algorithm was measured", r.Size)
		case r.Size > 64*unit.KiB && r.RunnerUp != nil:
			t.Errorf("%v: %s was measured too", r.Size, r.RunnerUp.Algorithm)
		case r.Best.Estimated != (r.Size > unit.MiB):
			t.Errorf("%v: estimated: %v", r.Size, r.Best.Estimated)
		case r.Best.Estimated && (r.Best.EstimateError == nil || max(*r.Best.EstimateError, -*r.Best.EstimateError) > 0.05):
			t.Errorf("%v: the error is %v", r.Size, r.Best.EstimateError)
		case r.Best.Bound == nil || r.Configured == nil || r.Configured.Bound == nil:
			t.Errorf("%v: without its bounds", r.Size)
		case r.Best.Time < r.Best.Bound.Hardware || r.Configured.Time < r.Configured.Bound.Configured:
			t.Errorf("%v: faster than can be", r.Size)
		}
	}
	if out.Estimated == 0 || len(g.Rows) != 8 { // with 512 KiB
		t.Errorf("%d estimates, %d sizes", out.Estimated, len(g.Rows))
	}
	// By measuring them, too: what was said of the estimates holds.
	s.MeasureTo = s.Max
	long := tuned(t, s, openStore(t, filepath.Join(t.TempDir(), "y.db"))).Groups[0]
	for _, r := range long.Rows {
		at := slices.IndexFunc(g.Rows, func(other tune.Row) bool { return other.Size == r.Size })
		if at < 0 {
			t.Fatalf("%v: not estimated", r.Size)
		}
		if off := float64(g.Rows[at].Best.Time)/float64(r.Best.Time) - 1; max(off, -off) > 0.05 {
			t.Errorf("%v: estimated to %v, takes %v", r.Size, g.Rows[at].Best.Time, r.Best.Time)
		}
	}
}

// TestSettingsThatCatchUp: LL is the fastest for short vectors, and large slots under Simple for
// long ones. A sweep of both finds large slots, as a sweep under Simple alone does.
func TestSettingsThatCatchUp(t *testing.T) {
	s := tuneOf("bidirectional_ring_allreduce")
	s.Base.Topology, s.Ranks, s.Min, s.Max, s.Factor = "dgx-b200", nil, 4*unit.KiB, 16*unit.MiB, 8
	s.AllTo, s.Best = 4*unit.MiB, 2
	s.Vary = []sweep.Variation{{Key: "slot_size", Values: []string{"32KiB", "256KiB"}}, {Key: "protocol", Values: []string{"ll", "ll128"}}}
	all := tuned(t, s, openStore(t, filepath.Join(t.TempDir(), "all.db"))).Groups[0]
	s.Vary = s.Vary[:1]
	alone := tuned(t, s, openStore(t, filepath.Join(t.TempDir(), "alone.db"))).Groups[0]
	first, last := all.Rows[0].Best, all.Rows[len(all.Rows)-1].Best
	if !strings.Contains(first.Settings, "protocol=ll") {
		t.Fatalf("%v: %s", first.Size, first.Settings)
	}
	if want := alone.Rows[len(alone.Rows)-1].Best; last.Time > want.Time {
		t.Errorf("%v: %s takes %v, but %s takes %v", last.Size, last.Settings, last.Time, want.Settings, want.Time)
	}
}

// TestOnePerformerCountsOnce: on one node rail_allreduce is direct_allreduce. Both together are one
// of the two best.
func TestOnePerformerCountsOnce(t *testing.T) {
	s := tuneOf("direct_allreduce", "rail_allreduce", "ring_allreduce_chunked", "tree_allreduce")
	s.Base.Topology, s.Ranks, s.Vary = "dgx-h100", nil, nil
	s.Min, s.Max, s.Factor, s.AllTo, s.Best = 64*unit.KiB, unit.MiB, 16, 64*unit.KiB, 2
	rows := tuned(t, s, openStore(t, filepath.Join(t.TempDir(), "x.db"))).Groups[0].Rows
	if rows[0].Points != 4 || rows[1].Points != 3 {
		t.Errorf("%d and %d points, want 4 and 3", rows[0].Points, rows[1].Points)
	}
}

// TestEstimatesAsAuto: with sizes that are far apart, an estimate continues the line through the
// two largest sizes that may be measured. So it equals that of auto without a table.
func TestEstimatesAsAuto(t *testing.T) {
	p := perf.Spec{
		Base: run.Spec{Topology: "mi300x-8"}, Collective: "all_reduce", Min: unit.KiB, Max: unit.MiB, Factor: 32,
		Algorithms: []string{algorithm.Auto}, MeasureTo: 256 * unit.KiB,
	}
	rows := measured(t, p).Rows
	auto := rows[len(rows)-1]
	if auto.Extrapolated == nil {
		t.Fatalf("%v is simulated", auto.Size)
	}
	s := tuneOf(auto.Algorithm)
	s.Base.Topology, s.Ranks = "mi300x-8", nil
	s.Min, s.Max, s.Factor, s.MeasureTo, s.Vary = p.Min, p.Max, p.Factor, p.MeasureTo, nil
	for _, chosen := range append(auto.Chosen, sweep.Setting{Key: "protocol", Value: auto.Protocol}) {
		s.Vary = append(s.Vary, sweep.Variation{Key: chosen.Key, Values: []string{chosen.Value}})
	}
	g := tuned(t, s, openStore(t, filepath.Join(t.TempDir(), "x.db"))).Groups[0]
	var sizes []unit.Bytes
	var last []unit.Time
	for _, r := range g.Rows {
		sizes = append(sizes, r.Size)
		last = []unit.Time{r.Best.Time, r.Configured.Time}
	}
	if want := []unit.Bytes{unit.KiB, 32 * unit.KiB, 128 * unit.KiB, 256 * unit.KiB, unit.MiB}; !slices.Equal(sizes, want) {
		t.Errorf("sizes %v, want %v", sizes, want)
	}
	if !slices.Contains(last, auto.InPlace.Time) {
		t.Errorf("%s is estimated to %v, by auto to %v", auto.Algorithm, last, auto.InPlace.Time)
	}
}

func TestTuneKeepsToItsBudget(t *testing.T) {
	s := tuneOf("ring_allreduce_chunked")
	s.Max, s.Budget, s.Vary = 16*unit.MiB, 20_000, nil
	out := tuned(t, s, openStore(t, filepath.Join(t.TempDir(), "x.db")))
	last := false
	for _, r := range out.Groups[0].Rows {
		if took := max(r.Best.Events, r.Best.Messages); took > 2*s.Budget || last && !r.Best.Estimated {
			t.Errorf("%v: measured in %d events or messages", r.Size, took)
		}
		last = r.Best.Estimated
	}
	if !last || out.Estimated == 0 {
		t.Error("nothing was too large")
	}
}

// TestSizesWithoutTime: sizes that are neither measured nor estimated are in a note.
func TestSizesWithoutTime(t *testing.T) {
	s := tuneOf("ring_allreduce_chunked")
	s.Min, s.Max, s.Factor, s.Budget, s.Vary = unit.KiB, 16*unit.MiB, 128, 20_000, nil
	out := tuned(t, s, openStore(t, filepath.Join(t.TempDir(), "x.db")))
	want := []string{"ahbm: all_reduce of 4 ranks has no time of 16 MiB: too large to be measured (--budget, --measure-to)," +
		" and an estimate needs 3 smaller sizes (-b, -f)"}
	if rows := out.Groups[0].Rows; len(rows) != 2 || !slices.Equal(out.Notes, want) {
		t.Errorf("%d sizes have times, notes %q, want 2 sizes, and %q", len(rows), out.Notes, want)
	}
	s.Max = 128 * unit.KiB
	if out := tuned(t, s, openStore(t, filepath.Join(t.TempDir(), "x.db"))); len(out.Notes) != 0 {
		t.Errorf("all sizes have times, and notes are %q", out.Notes)
	}
}

// TestRegretOfEstimates: two estimates of one algorithm with the same settings are no loss.
func TestRegretOfEstimates(t *testing.T) {
	s := tuneOf()
	s.Budget = 400
	g := tuned(t, s, openStore(t, filepath.Join(t.TempDir(), "x.db"))).Groups[0]
	last := len(g.Rows) - 1
	best := g.Rows[last].Best
	if !best.Estimated {
		t.Fatal("nothing was too large")
	}
	for _, c := range []struct {
		name string
		auto tune.Auto
		want float64
	}{
		{"the same", tune.Auto{Algorithm: best.Algorithm, Settings: best.Settings, Protocol: "simple", Estimated: true}, 0},
		{"another algorithm", tune.Auto{Algorithm: "tree_allreduce", Settings: best.Settings, Estimated: true}, 1},
		{"other settings", tune.Auto{Algorithm: best.Algorithm, Settings: best.Settings, Protocol: "ll", Estimated: true}, 1},
		{"simulated", tune.Auto{Algorithm: best.Algorithm, Settings: best.Settings}, 1},
	} {
		c.auto.Time = 2 * best.Time
		if g.SetAuto(last, c.auto); g.Rows[last].Auto.Regret != c.want {
			t.Errorf("%s: regret %v, want %v", c.name, g.Rows[last].Auto.Regret, c.want)
		}
	}
}

// auto loses nothing where it was tuned, and little between.
func TestRegretOfAuto(t *testing.T) {
	dir := t.TempDir()
	s := tuneOf()
	s.Vary = nil
	out := tuned(t, s, openStore(t, filepath.Join(dir, "x.db")))
	table := writeTable(t, dir, out.Table)
	p := perf.Spec{Base: run.Spec{Ranks: 4}, Collective: "all_reduce", Min: s.Min, Max: s.Max, Factor: 2}
	p.Algorithms = s.Algorithms
	best := map[unit.Bytes]unit.Time{}
	for _, r := range measured(t, p).Rows {
		if b, known := best[r.Size]; !known || r.InPlace.Time < b {
			best[r.Size] = r.InPlace.Time
		}
	}
	p.Algorithms, p.Base.Tuning = []string{algorithm.Auto}, table
	chosen := measured(t, p)
	if len(chosen.Rows) != len(best) || len(chosen.Algorithms) < 2 {
		t.Fatalf("%d rows of %d sizes by %s", len(chosen.Rows), len(best), strings.Join(chosen.Algorithms, ", "))
	}
	for i, r := range chosen.Rows {
		most := 0.0
		if i%2 == 1 {
			most = 0.10
		}
		if regret := float64(r.InPlace.Time)/float64(best[r.Size]) - 1; regret > most {
			t.Errorf("%v: %s loses %.1f%%", r.Size, r.Algorithm, 100*regret)
		}
	}
	// Without a table it finds the same by measuring.
	p.Base.Tuning, p.Algorithms = "", []string{algorithm.Auto}
	p.Max = 4 * unit.KiB
	for _, r := range measured(t, p).Rows {
		if strings.HasPrefix(r.Algorithm, "lab_") || r.InPlace.Time > best[r.Size] && slices.Contains(s.Algorithms, r.Algorithm) {
			t.Errorf("%v: %s in %v is no best", r.Size, r.Algorithm, r.InPlace.Time)
		}
	}
}

// writeTable writes a table by hand, as report does.
func writeTable(t *testing.T, dir string, table *algorithm.Tuning) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("tables:\n")
	for _, x := range table.Tables {
		fmt.Fprintf(&b, "- {fingerprint: '%s', collective: %s, ranks: %d, type: %v, rows: [",
			x.Machine, x.Collective, x.Ranks, x.Type)
		for _, r := range x.Rows {
			b.WriteString("{from: " + strconv.Itoa(int(r.From)) + ", use: " + r.Use + ", else: [" + strings.Join(r.Else, ", ") + "]},")
		}
		b.WriteString("]}\n")
	}
	file := filepath.Join(dir, "tuned.yaml")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
