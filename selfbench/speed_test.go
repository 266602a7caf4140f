package selfbench

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kernbench/exec/sim"
	"kernbench/hw/noc"
	"kernbench/internal/exhaustive"
)

func TestFigure(t *testing.T) {
	f := Figure{Must: below(2), Aim: atMost(1)}
	for _, v := range []float64{4, 1, 2} {
		f.add(v)
	}
	if f.Median != 2 || f.Spread != 1.5 || f.Must.Reached || f.Aim.Reached {
		t.Errorf("%+v", f)
	}
	f.add(1)
	if f.Median != 1.5 || !f.Must.Reached || f.Aim.Reached {
		t.Errorf("of an even number: %+v", f)
	}
	for _, tt := range []struct {
		target         *Target
		less, is, more bool // what reaches it
	}{{below(3), true, false, false}, {atMost(3), true, true, false}, {atLeast(3), false, true, true}} {
		for v, want := range map[float64]bool{2: tt.less, 3: tt.is, 4: tt.more} {
			if got := tt.target.judged(v).Reached; got != want {
				t.Errorf("%v %s 3: %v", v, tt.target.Is, got)
			}
		}
	}
}

// A target that many rows share must not learn what one of them reached.
func TestTargetsAreNotShared(t *testing.T) {
	w := &work{figures: []Figure{{What: wallTime, Must: below(1)}}}
	a, b := w.row(), w.row()
	a.Figures[0].add(0)
	b.Figures[0].add(2)
	if !a.Figures[0].Must.Reached || b.Figures[0].Must.Reached || w.figures[0].Must.Reached {
		t.Error("rows of one work have a target in common")
	}
}

func TestEveryRowHasAName(t *testing.T) {
	for _, short := range []bool{false, true} {
		seen := map[string]bool{}
		for _, r := range Names(short) {
			if r.Name == "" || r.Work == "" || seen[r.Name] || strings.ContainsAny(r.Name, "*?[, ") {
				t.Errorf("short=%v: %+v", short, r)
			}
			seen[r.Name] = true
		}
	}
}

func TestMatching(t *testing.T) {
	names := []string{"ring-256-slot", "ring-256-ideal", "start"}
	for _, tt := range []struct {
		pattern string
		want    string // names, or part of the error
	}{
		{"start", "start"}, {"ring-*", "ring-256-slot ring-256-ideal"}, {"*-ideal", "ring-256-ideal"},
		{"strat", `did you mean "start"?`},
		{"ring", `"ring*" selects all names`},
		{"tree-*", `no row has a name like "tree-*": LIST shows all`},
		{"[", "syntax error in pattern"},
	} {
		some, err := matching("row", tt.pattern, names, "LIST")
		if got := strings.Join(some, " "); err == nil && got != tt.want || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %q, %v; want %s", tt.pattern, got, err, tt.want)
		}
	}
}

func meters(t *testing.T) *meter { return &meter{program: "/bin/sh", dir: t.TempDir()} }

func TestExecute(t *testing.T) {
	m := meters(t)
	c, err := m.execute(t.Context(), []string{"-c", "echo messages  '12,345 (3 B)'; echo $GREETING"}, "GREETING=hello")
	if err != nil || c.wall <= 0 || c.memory <= 0 || !strings.HasSuffix(c.stdout, "hello\n") {
		t.Fatalf("%+v, %v", c, err)
	}
	if o := outcomeOf(c.stdout); o != nil {
		t.Errorf("one blank is not how a report begins a value, found %+v", o)
	}
	_, err = m.execute(t.Context(), []string{"-c", "echo kernbench: no space >&2; exit 3"})
	if e, ok := errors.AsType[*CommandError](err); !ok || e.Status != 3 || e.Message != "no space" {
		t.Errorf("got %v", err)
	}
	_, err = m.execute(t.Context(), []string{"-c", "kill -9 $$"})
	if e, ok := errors.AsType[*CommandError](err); !ok || e.Status != -1 || !strings.Contains(err.Error(), "lack of memory") {
		t.Errorf("got %v", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	if _, err := m.execute(ctx, []string{"-c", "exec sleep 100"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestOutcomeOf(t *testing.T) {
	got := outcomeOf("bench           ccl\nsimulated time  65.655505µs\nmessages        130,560 (31.88 MiB)\nevents          32,640\n")
	if want := (Outcome{"65.655505µs", 130560, 32640}); got == nil || *got != want {
		t.Errorf("%+v", got)
	}
	if got := outcomeOf("nothing of the kind\n"); got != nil {
		t.Errorf("%+v", got)
	}
}

// A row that takes too long has a note and the runs that ended. One that fails has the reason.
func TestMeasureRow(t *testing.T) {
	runs := 0
	w := &work{name: "row", figures: []Figure{{What: wallTime}}}
	spec := &Spec{Runs: 3, Limit: time.Hour}
	row := func(ctx context.Context, run func(context.Context) error) (*Row, error) {
		runs = 0
		w.run = func(ctx context.Context, _ *meter) ([]float64, *Outcome, error) {
			runs++
			return []float64{float64(runs)}, &Outcome{Messages: 1}, run(ctx)
		}
		return meters(t).measure(ctx, w, spec, func() {})
	}
	r, err := row(t.Context(), func(context.Context) error { return nil })
	if err != nil || r.Runs != 3 || r.Figures[0].Median != 2 || r.Note != "" || r.Outcome.Messages != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = row(t.Context(), func(context.Context) error { return errors.New("boom") })
	if err != nil || r.Runs != 0 || r.Note != "boom" || r.Err == nil {
		t.Errorf("%+v, %v", r, err)
	}
	spec.Limit = 20 * time.Millisecond
	r, err = row(t.Context(), func(ctx context.Context) error {
		if runs == 1 {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if err != nil || r.Runs != 1 || r.Err != nil || r.Note != "1 of 3 runs ended within 20ms" {
		t.Errorf("%+v, %v", r, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	spec.Limit = time.Hour
	if r, err = row(ctx, func(context.Context) error { stop(); return ctx.Err() }); r != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", r, err)
	}
}

// Runs of one command must not differ in what they simulate.
func TestMeasureNoticesAnotherOutcome(t *testing.T) {
	at := int64(0)
	w := &work{name: "row", run: func(context.Context, *meter) ([]float64, *Outcome, error) {
		at++
		return nil, &Outcome{Messages: at}, nil
	}}
	r, err := meters(t).measure(t.Context(), w, &Spec{Runs: 2, Limit: time.Hour}, func() {})
	if err != nil || r.Err == nil || !strings.Contains(r.Note, "differ in what they simulate") {
		t.Errorf("%+v, %v", r, err)
	}
	table := Table{Rows: []Row{*r}}
	if e, ok := errors.AsType[*Failure](table.Err()); !ok || e.Row != "row" {
		t.Errorf("%v", table.Err())
	}
}

func TestMeasureAsks(t *testing.T) {
	for _, tt := range []struct {
		spec Spec
		want string
	}{
		{Spec{Runs: 0, Limit: 1}, "at least one"},
		{Spec{Runs: 1}, "a limit above 0"},
		{Spec{Runs: 1, Limit: 1, Only: []string{"strat"}}, `did you mean "start"`},
	} {
		if _, err := Measure(t.Context(), tt.spec); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %s", tt.spec, err, tt.want)
		}
		if tt.spec.Only == nil {
			if _, err := Grow(t.Context(), tt.spec); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("growth, %+v: %v, want %s", tt.spec, err, tt.want)
			}
		}
	}
}

// Measurements within the process give figures: one for each that its row has.
func TestInside(t *testing.T) {
	if !exhaustive.On() {
		t.Skip("it measures this tool: run it with -exhaustive")
	}
	for _, w := range []*work{hold(1e3), message(128), build(128), bytesPerPE(2, 2)} {
		values, _, err := w.run(t.Context(), nil)
		if err != nil || len(values) != len(w.figures) ||
			slices.ContainsFunc(values, func(v float64) bool { return v < 0 || math.IsNaN(v) }) {
			t.Errorf("%s: %v, %v", w.name, values, err)
		}
		// Rings are recognized by the names of the functions that make them.
		if i := slices.IndexFunc(w.figures, func(f Figure) bool { return f.What == ringBytes }); i >= 0 && values[i] == 0 {
			t.Errorf("%s: no function that makes rings was seen", w.name)
		}
	}
}

// The messages of the row share no links: without contention they take as long.
func TestPairsAreAlone(t *testing.T) {
	m, err := machineOf(128)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]int64
	for i, f := range []noc.Fidelity{noc.Slot, noc.Ideal} {
		l, err := pairs(m, 128, 10)
		if err != nil {
			t.Fatal(err)
		}
		e := sim.New(m, sim.Options{Fidelity: f})
		defer e.Close()
		res, err := e.Launch(t.Context(), l)
		if err != nil || res.Messages != 10*128 {
			t.Fatalf("%+v, %v", res, err)
		}
		ends[i] = int64(res.Duration())
	}
	if ends[0] != ends[1] {
		t.Errorf("slot %d ps, ideal %d", ends[0], ends[1])
	}
}

func TestLoad(t *testing.T) {
	const good = `{"runs": 1, "rows": [{"name": "a", "runs": 1, "figures": [{"what": "wall time", "unit": "s", "values": [2], "median": 2}]}]}`
	file := filepath.Join(t.TempDir(), "f.json")
	for _, tt := range []struct{ name, text, want string }{
		{"good", good, ""},
		{"more fields", strings.Replace(good, `"runs": 1,`, `"runs": 1, "later": {},`, 1), ""},
		{"empty", "", "f.json:1:1: the file ends too early"},
		{"cut", good[:40], "the file ends too early"},
		{"another kind", "[1]", "f.json:1:1: the file: found a list, want an object"},
		{"wrong type", "{\n \"rows\": 7}", "f.json:2:10: rows: found a number, want a list"},
		{"wrong type inside", strings.Replace(good, "[2]", `["2"]`, 1), "rows.figures.values: found a string, want a number"},
		{"no JSON", "row  measured\n", "f.json:1:1: invalid character 'r'"},
		{"two", good + "{}", "there is more after the table"},
		{"no rows", `{"spec": 1}`, "found no rows"},
		{"no name", strings.Replace(good, `"a"`, `""`, 1), "rows.0 has no name"},
		{"no values", strings.Replace(good, "[2]", "[]", 1), "rows.0.figures.0 of row a has no name, or no values"},
	} {
		if err := os.WriteFile(file, []byte(tt.text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Load(file)
		if err == nil && tt.want != "" || err != nil && (tt.want == "" || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := Load(file + "x"); err == nil || !strings.Contains(err.Error(), "--save FILE writes one") {
		t.Errorf("missing file: %v", err)
	}
}

func TestCompare(t *testing.T) {
	figure := func(v float64) []Figure { return []Figure{{What: wallTime, Values: []float64{v}, Median: v}} }
	old := &Table{Rows: []Row{
		{Name: "both", Figures: figure(4), Outcome: &Outcome{Simulated: "1ns"}},
		{Name: "gone", Figures: figure(1)},
		{Name: "same", Figures: figure(0), Outcome: &Outcome{Simulated: "1ns", Events: 2}},
		{Name: "more", Work: "a ring", Command: "kernbench run --ranks 8", Figures: figure(4)},
		{Name: "unit", Figures: []Figure{{What: wallTime, Unit: Bytes, Values: []float64{1}, Median: 1}}},
	}}
	old.Kernbench = "v1"
	now := &Table{Rows: []Row{
		{Name: "new", Figures: figure(1)},
		{Name: "both", Figures: figure(2), Outcome: &Outcome{Simulated: "2ns"}},
		{Name: "same", Figures: figure(3), Outcome: &Outcome{Simulated: "1ns", Events: 1}},
		{Name: "more", Work: "a ring", Command: "kernbench run --ranks 16", Figures: figure(8)},
		{Name: "unit", Figures: figure(1)},
	}}
	now.Compare("f.json", old)
	both, same := now.Row("both"), now.Row("same")
	switch {
	case now.Row("new").Only != Now || now.Row("gone").Only != Was || both.Only != "" || len(now.Rows) != 6 || now.Before.Kernbench != "v1":
		t.Errorf("%+v", now.Rows)
	case *both.Figures[0].Ratio != 0.5 || *both.Figures[0].Was != 4 || both.Note != "simulated time was 1ns and is 2ns":
		t.Errorf("%+v", both)
	case same.Note != "" || same.Figures[0].Ratio != nil:
		t.Errorf("fewer events are no other outcome, and nothing is a multiple of nothing: %+v", same)
	case now.Row("more").Note != "not the same work as in f.json: kernbench run --ranks 8" || *now.Row("more").Figures[0].Ratio != 2:
		t.Errorf("%+v", now.Row("more"))
	case now.Row("unit").Figures[0].Was != nil:
		t.Errorf("seconds are compared with bytes: %+v", now.Row("unit"))
	}
}

// Whoever stops it gets the rows that are finished.
func TestMeasureKeepsWhatIsFinished(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	table, err := Measure(ctx, Spec{Runs: 1, Limit: time.Hour, Short: true, Only: []string{"hold-*", "build-*"},
		Program: "none", Progress: func(p Progress) {
			if p.Done == 1 {
				stop()
			}
		}})
	if !errors.Is(err, context.Canceled) || len(table.Rows) != 1 || table.Rows[0].Runs != 1 {
		t.Errorf("%+v, %v", table, err)
	}
}
