package report

import (
	"math"
	"strings"
	"testing"

	"kernbench/lab/perf"
	"kernbench/lab/sweep"
	"kernbench/plot"
	"kernbench/unit"
)

// timedRow returns a row in place, with bounds.
func timedRow(algorithm string, ranks int, size unit.Bytes, ns, bound float64) perf.Row {
	algbw := float64(size) / ns
	factor := 2 * float64(ranks-1) / float64(ranks)
	us := bound / 1e3
	return perf.Row{
		Size: size, Count: int(size / 4), Type: "f32", RedOp: "sum", Root: -1, Algorithm: algorithm, Ranks: ranks,
		OutOfPlace: &sweep.Placement{Time: 1}, // the time in place is drawn
		InPlace:    &sweep.Placement{Time: unit.Nanoseconds(ns), AlgBW: algbw, BusBW: algbw * factor},
		Bound:      &perf.Bound{HardwareUs: &us, Us: &us},
	}
}

func timedSweep(rows ...perf.Row) *perf.Sweep {
	return &perf.Sweep{
		Collective: "all_reduce", Executor: "sim", Fidelity: "slot", Machine: "8 GPUs", Timed: true, Bound: true, Rows: rows,
		MadeBy: made("kernbench perf all_reduce", "0123456789abcdef"),
	}
}

// near reports whether two numbers are equal up to rounding.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

func TestPerfFigure(t *testing.T) {
	wrong := timedRow("tree", 8, 4096, 1, 1)
	wrong.InPlace.Wrong = elements(3)
	f := PerfFigure(timedSweep(
		timedRow("ring", 8, 1024, 200, 100), timedRow("ring", 8, 2048, 300, 150), timedRow("tree", 8, 2048, 400, 150),
		timedRow("tree", 8, 1024, 100, 100), wrong,
	))
	if f.Title != "all_reduce, 8 ranks, f32, sum" || f.X.Name != "size" || len(f.Panel) != 3 {
		t.Errorf("%q over %s, %d panels", f.Title, f.X.Name, len(f.Panel))
	}
	if notes := strings.Join(f.Notes, "|"); notes != "8 GPUs (sim, fidelity slot)|1 row is left out: not measured, or wrong" {
		t.Errorf("notes %q", notes)
	}
	for i, want := range []map[string][]float64{
		{"ring": {200, 300}, "tree": {100, 400}, "bound of the hardware": {100, 150}},
		{"ring": {5.12, 2048.0 / 300}, "tree": {10.24, 5.12}, "bound of the hardware": {10.24, 2048.0 / 150}},
		{"ring": {5.12 * 1.75, 2048.0 / 300 * 1.75}, "tree": {10.24 * 1.75, 5.12 * 1.75},
			"bound of the hardware": {10.24 * 1.75, 2048.0 / 150 * 1.75}},
	} {
		if got := len(f.Panel[i].Curves); got != 3 {
			t.Errorf("panel %d has %d curves", i, got)
		}
		for _, c := range f.Panel[i].Curves {
			if role := map[bool]plot.Role{true: plot.Bound}[strings.HasPrefix(c.Name, "bound")]; c.Role != role {
				t.Errorf("%s has role %v", c.Name, c.Role)
			}
			for k, p := range c.Points {
				if p.X != float64(int(1024)<<k) || !near(p.Y, want[c.Name][k]) {
					t.Errorf("panel %d, %s: point %v, want %v at %d", i, c.Name, p, want[c.Name][k], 1024<<k)
				}
			}
		}
	}
	about := map[string]string{}
	for _, fact := range f.About {
		about[fact.Name] = fact.Value
	}
	if about["version"] != "kernbench v1.2.3" || about["command"] != "kernbench perf all_reduce" ||
		about["machine"] != "8 GPUs" || about["machine fingerprint"] != "0123456789abcdef" {
		t.Errorf("%v", about)
	}
}

// TestPerfFigureOverRanks: ranks are the x axis if only they vary.
func TestPerfFigureOverRanks(t *testing.T) {
	f := PerfFigure(timedSweep(timedRow("ring", 32, 1024, 400, 100), timedRow("ring", 8, 1024, 200, 50)))
	c := f.Panel[0].Curves
	if f.X.Name != "ranks" || f.Title != "all_reduce, f32, sum, 1 KiB" || len(c) != 3 ||
		c[0].Points[0] != (plot.XY{X: 8, Y: 200}) || c[0].Points[1] != (plot.XY{X: 32, Y: 400}) {
		t.Errorf("%q over %s: %+v", f.Title, f.X.Name, c)
	}
	if c[1].Name != "bound of the hardware" || len(c[1].Points) != 2 || c[2].Name != "bound as configured" {
		t.Errorf("%+v", c[1:])
	}
	f = PerfFigure(timedSweep(timedRow("ring", 32, 1024, 400, 100), timedRow("ring", 8, 2048, 200, 50)))
	if names := f.Panel[0].Curves[0].Name + "|" + f.Panel[0].Curves[1].Name; f.X.Name != "size" || names != "ring, 32 ranks|ring, 8 ranks" {
		t.Errorf("over %s: %s", f.X.Name, names)
	}
}

func TestPerfFigureOfNothing(t *testing.T) {
	if p := PerfFigure(timedSweep()).Picture(); p.Title != "all_reduce" || p.Height <= 0 {
		t.Errorf("%+v", p)
	}
}

func TestPerfBest(t *testing.T) {
	s := timedSweep()
	s.Best = []perf.Best{
		{Size: 1024, Type: "f32", RedOp: "sum", Root: -1, Ranks: 8, Algorithm: "tree", Time: 100_000, BusBW: 17.92,
			Next: "ring", NextTimes: 2},
		{Size: 2048, Type: "bf16", RedOp: "sum", Root: -1, Ranks: 8, Algorithm: "ring",
			Settings: []sweep.Setting{{Key: "n_slots", Value: "4"}}, Time: 300_000, BusBW: 11.9},
	}
	var b strings.Builder
	if err := (&PerfTable{W: &b}).End(s); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# best  1 KiB  float ", "  tree            100ns        17.9      2.00 ×  ring\n",
		"# best  2 KiB  bfloat16 ", "ring n_slots=4  300ns        11.9\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "ranks") || strings.Contains(b.String(), "sum") {
		t.Errorf("what is the same in all lines is printed:\n%s", b.String())
	}
}
