package report

import (
	"fmt"
	"strings"
	"testing"

	"kernbench/lab/calibrate"
	"kernbench/lab/compare"
	"kernbench/lab/run"
	"kernbench/lab/tune"
	"kernbench/plot"
	"kernbench/selfbench"
	"kernbench/store"
	"kernbench/unit"
)

// curvesOf returns the curves of a figure as text, one line each.
func curvesOf(f *plot.Figure) string {
	var b strings.Builder
	fmt.Fprintln(&b, f.Title, f.Notes)
	for _, p := range f.Panel {
		for _, c := range p.Curves {
			fmt.Fprint(&b, c.Name, " ", c.Role)
			for _, q := range c.Points {
				fmt.Fprintf(&b, " %.6g:%.6g", q.X, q.Y)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// shows checks the curves of a figure, and that it can be drawn.
func shows(t *testing.T, f *plot.Figure, want string) {
	t.Helper()
	if got := curvesOf(f); got != want {
		t.Errorf("it shows\n%s, want\n%s", got, want)
	}
	p := f.Picture()
	for _, item := range p.Items {
		if !item.Bounds().Within(p.View()) {
			t.Errorf("%+v is not in the picture", item)
		}
	}
	if len(f.About) < 3 || f.About[1].Value != "kernbench x" {
		t.Errorf("about: %v", f.About)
	}
}

func TestCalibrationFigure(t *testing.T) {
	c := &calibrate.Calibration{
		File: "some/where/a.tsv", Collective: "all_reduce", Type: "f32", Ranks: 8, Topology: "dgx", Machine: "8 GPUs",
		Fidelity: "slot", MadeBy: made("kernbench x"),
		Rows: []calibrate.Row{
			{Size: 8, Measured: unit.Microsecond, Simulated: 2 * unit.Microsecond, Error: 1, Role: calibrate.ToFit},
			{Size: 16, Measured: 4 * unit.Microsecond, Simulated: 3 * unit.Microsecond, Error: -0.25, Role: calibrate.ToCheck},
		},
	}
	shows(t, CalibrationFigure(c), `all_reduce, 8 ranks, f32: fitted to a.tsv [dgx: 8 GPUs, fidelity slot]
simulated 0 8:2000 16:3000
measured 2 8:1000 16:4000
error of sizes fitted 0 8:100
error of sizes held out 0 16:-25
`)
}

func TestScoreFigure(t *testing.T) {
	row := calibrate.ScoreRow{Size: 8, Measured: 2 * unit.Microsecond, Simulated: unit.Microsecond, Error: -0.5,
		NCCL: &calibrate.Yardstick{Time: 3 * unit.Microsecond, Error: 0.5}}
	s := &calibrate.Score{Topology: "dgx", Machine: "8 GPUs", Fidelity: "slot", MadeBy: made("kernbench x"),
		Tables: []calibrate.TableScore{{File: "a.tsv", Collective: "all_reduce", Ranks: 8, Type: "f32", Rows: []calibrate.ScoreRow{row}}}}
	shows(t, ScoreFigure(s), `all_reduce, 8 ranks, f32: dgx beside a.tsv [8 GPUs, fidelity slot]
simulated 0 8:1000
NCCL's own model 0 8:3000
measured 2 8:2000
simulated 0 8:-50
NCCL's own model 0 8:50
`)
	s.Tables = append(s.Tables, calibrate.TableScore{File: "b.tsv", Rows: []calibrate.ScoreRow{{Size: 16, Measured: 1, Simulated: 1}}})
	if got := curvesOf(ScoreFigure(s)); !strings.HasPrefix(got, "dgx beside measured tables ") ||
		!strings.Contains(got, "measured, a.tsv 2 8:2000\nsimulated, b.tsv 0 16:") {
		t.Errorf("it shows\n%s", got)
	}
}

func TestPointsFigure(t *testing.T) {
	point := func(algorithm, settings string, size unit.Bytes, ns unit.Time) tune.Point {
		return tune.Point{
			Topology: "ahbm", Machine: "256 PEs", Collective: "all_reduce", Algorithm: algorithm, Settings: settings,
			Type: "f32", Op: "sum", Root: -1, Ranks: 4,
			Size: size, InPlace: true, Time: ns * unit.Nanosecond, Bound: &store.Bound{Hardware: 50 * unit.Nanosecond},
		}
	}
	x := &tune.RunPoints{Points: []tune.Point{point("ring", "", 2048, 400), point("ring", "n_slots=8", 1024, 100),
		point("ring", "", 1024, 200), {Error: "deadlock"}}}
	x.Points[0].Estimated = true
	shows(t, PointsFigure(x, made("kernbench x")), `ahbm, all_reduce, 4 ranks, f32, sum, in place [256 PEs 1 point has no time 1 point is estimated from smaller sizes]
ring n_slots=8 0 1024:100
bound of the hardware 1 1024:50 2048:50
ring 0 1024:200 2048:400
ring n_slots=8 0 1024:10.24
bound of the hardware 1 1024:20.48 2048:40.96
ring 0 1024:5.12 2048:5.12
ring n_slots=8 0 1024:15.36
bound of the hardware 1 1024:30.72 2048:61.44
ring 0 1024:7.68 2048:7.68
`)
	x.Points[1].Ranks = 8
	if got := curvesOf(PointsFigure(x, made("kernbench x"))); !strings.Contains(got,
		"ring n_slots=8, 8 ranks 0 1024:100\nbound of the hardware, 8 ranks 1 1024:50\n") {
		t.Errorf("it shows\n%s", got)
	}
}

func TestComparisonFigure(t *testing.T) {
	row := func(name string, bytes unit.Bytes, ns unit.Time) compare.Row {
		return compare.Row{Algorithm: name, Result: &run.Result{
			Collective: "all_reduce", Machine: "8 GPUs", Executor: "sim", WorldSize: 8, DType: "f16", Timed: true,
			BytesPerRank: bytes, SimulatedTime: ns * unit.Nanosecond, AlgBW: 1, BusBW: 2,
			MadeBy: made("", "0123"),
		}}
	}
	rows := []compare.Row{row("ring", 512, 100), row("tree", 512, 200), row("ring", 2048, 400), {Algorithm: "tree", Error: "deadlock"}}
	rows = append(rows, compare.Row{Algorithm: "a.xml", Program: &compare.Program{Bytes: 2048, Time: 1000, AlgBW: 3, BusBW: 4, OK: true}})
	wrong := row("wrong", 512, 1)
	wrong.Result.RanksFailed = 1
	shows(t, ComparisonFigure(append(rows, wrong), made("kernbench x")), `all_reduce, 8 ranks, f16 [8 GPUs (sim) 2 runs are left out: without a time, or wrong]
ring 0 512:100 2048:400
tree 0 512:200
a.xml 0 2048:1
ring 0 512:1 2048:1
tree 0 512:1
a.xml 0 2048:3
ring 0 512:2 2048:2
tree 0 512:2
a.xml 0 2048:4
`)
	for i := range 3 {
		rows[i].Bound = 50 * unit.Nanosecond
	}
	shows(t, ComparisonFigure(rows[:3], made("kernbench x")), `all_reduce, 8 ranks, f16 [8 GPUs (sim)]
ring 0 512:100 2048:400
tree 0 512:200
bound of the hardware 1 512:50 2048:50
ring 0 512:1 2048:1
tree 0 512:1
bound of the hardware 1 512:2 2048:8
ring 0 512:2 2048:2
tree 0 512:2
bound of the hardware 1 512:4 2048:16
`)
	settings := ComparisonFigure([]compare.Row{{BufferKind: "hbm", Backpressure: "poll", Result: rows[0].Result}}, made("kernbench x"))
	if got := settings.Panel[0].Curves[0].Name; got != "buffer_kind=hbm backpressure=poll" {
		t.Errorf("a curve is called %s", got)
	}
}

func TestSpeedFigures(t *testing.T) {
	was := 2.0
	b := SpeedFigure(&selfbench.Table{MadeBy: made("kernbench x"), Rows: []selfbench.Row{{Name: "start", Figures: []selfbench.Figure{
		{What: "wall time", Unit: selfbench.Seconds, Values: []float64{1}, Median: 1,
			Must: &selfbench.Target{Is: "<", Value: 3}, Was: &was},
		{What: "share", Unit: selfbench.Times, Values: []float64{1}, Median: 1},
		{What: "nothing", Unit: selfbench.Seconds},
	}}}})
	if len(b.Group) != 1 || fmt.Sprint(b.Group[0].Bars) != "[{start 1 1.00 s, must be < 3.00 s 0 3} {start, before 2  1 0}]" {
		t.Errorf("%+v", b.Group)
	}
	origin := selfbench.Origin{Machine: selfbench.Machine{CPU: "a CPU"}}
	shows(t, GrowthFigure(&selfbench.Growth{Origin: origin, MadeBy: made("kernbench x"), Elements: 2048, Rows: []selfbench.GrowthRow{
		{Algorithm: "ring", Points: []selfbench.GrowthPoint{{Ranks: 8, Seconds: 0.5, Messages: 10, Events: 30},
			{Ranks: 16, Seconds: 1, Messages: 20, Events: 60}}},
	}}), "simulating each algorithm, 2,048 f16 per rank ["+whereAndWhen(&origin)+`]
ring 0 8:5e+08 16:1e+09
ring 0 8:10 16:20
ring 0 8:30 16:60
`)
}
