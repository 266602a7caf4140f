package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"kernbench/selfbench"
)

func measured() *selfbench.Table {
	number := func(v float64) *float64 { return &v }
	return &selfbench.Table{
		Origin: selfbench.Origin{
			Kernbench: "v1.2.3", Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			Machine: selfbench.Machine{CPU: "Abacus 2", Cores: 2, Memory: 24 << 30, OS: "linux", Arch: "amd64", Go: "go1.26"},
		},
		Command: "kernbench selfbench", MadeBy: made("kernbench selfbench", "0123456789abcdef"), Runs: 3, Compared: "old.json",
		Before: &selfbench.Origin{
			Kernbench: "v1.2.2", Date: time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC),
			Machine: selfbench.Machine{CPU: "Abacus 1", Cores: 1, OS: "linux", Arch: "amd64", Go: "go1.25"},
		},
		Rows: []selfbench.Row{
			{
				Name: "ring", Work: "a ring", Command: "kernbench run", Runs: 3,
				Outcome: &selfbench.Outcome{Simulated: "1ns", Messages: 2, Events: 3},
				Figures: []selfbench.Figure{
					{What: "wall time", Unit: selfbench.Seconds, Values: []float64{1.2, 1, 1.1}, Median: 1.1, Spread: 0.18,
						Must: &selfbench.Target{Is: "<", Value: 1}, Aim: &selfbench.Target{Is: "<=", Value: 0.35},
						Was: number(2.2), Ratio: number(0.5)},
					{What: "user CPU", Unit: selfbench.Seconds, Values: []float64{1, 1, 1}, Median: 1},
					{What: "peak memory", Unit: selfbench.Bytes, Values: []float64{1 << 20, 1 << 20, 1 << 20},
						Median: 1 << 20, Must: &selfbench.Target{Is: "<", Value: 1 << 30, Reached: true}},
					{What: "per message", Unit: selfbench.Seconds, Values: []float64{1e-7, 1e-7, 1e-7}, Median: 1e-7},
				},
			},
			{Name: "queue", Work: "events", Runs: 1, Only: selfbench.Now, Note: "1 of 3 runs ended within 1s", Figures: []selfbench.Figure{
				{What: "per event", Unit: selfbench.Seconds, Values: []float64{3e-8}, Median: 3e-8,
					Must: &selfbench.Target{Is: "<=", Value: 4e-8, Reached: true}},
				{What: "allocations", Unit: selfbench.Number, Values: []float64{0}, Median: 0},
			}},
			{Name: "late", Work: "much", Command: "kernbench run --x", Note: "0 of 3 runs ended within 1s",
				Figures: []selfbench.Figure{{What: "wall time", Unit: selfbench.Seconds, Must: &selfbench.Target{Is: "<", Value: 1}}}},
			{Name: "cores", Work: "both", Runs: 3, Only: selfbench.Was,
				Figures: []selfbench.Figure{{What: "ratio", Unit: selfbench.Times, Values: []float64{1.5, 2, 1.9},
					Median: 1.9, Must: &selfbench.Target{Is: ">=", Value: 1.9, Reached: true}}}},
		},
	}
}

func TestSpeed(t *testing.T) {
	var text, markdown, js bytes.Buffer
	if err := Speed(&text, measured()); err != nil {
		t.Fatal(err)
	}
	if err := SpeedMarkdown(&markdown, measured()); err != nil {
		t.Fatal(err)
	}
	if err := JSON(&js, measured()); err != nil {
		t.Fatal(err)
	}
	golden(t, "speed.text", text.Bytes())
	golden(t, "speed.markdown", markdown.Bytes())
	golden(t, "speed.json", js.Bytes())
}

// All lines of a table on a page have as many cells.
func TestMarkdownIsWhole(t *testing.T) {
	var b bytes.Buffer
	table := speedTable(measured())
	if err := table.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	want := len(table.Head) + 1
	for line := range strings.Lines(b.String()) {
		if got := strings.Count(line, "|"); got != want {
			t.Errorf("%d of %d: %s", got, want, line)
		}
	}
}

func TestGrowth(t *testing.T) {
	number := func(v float64) *float64 { return &v }
	g := &selfbench.Growth{
		MadeBy: made("kernbench selfbench --growth", "0123456789abcdef"),
		Origin: selfbench.Origin{
			Kernbench: "v1.2.3", Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			Machine: selfbench.Machine{Cores: 1, OS: "linux", Arch: "riscv64", Go: "go1.26"},
		},
		Elements: 8192, Fidelity: "slot",
		Rows: []selfbench.GrowthRow{
			{Algorithm: "ring", Collective: "all_reduce",
				Points: []selfbench.GrowthPoint{{Ranks: 8, Seconds: 0.1, Messages: 10, Events: 20},
					{Ranks: 1024, Seconds: 0.4, Messages: 40, Events: 90}},
				Time: number(2.003), Messages: number(2), Events: number(1.9), Note: "2048 ranks would take 20 s a run"},
			{Algorithm: "direct", Collective: "all_gather", Points: []selfbench.GrowthPoint{{Ranks: 8, Seconds: 0.1, Events: 20}}},
			{Algorithm: "none", Collective: "barrier", Points: []selfbench.GrowthPoint{},
				Note: "8 ranks: no, not that many, for they would have to stand in each other's way all of the time"},
		},
	}
	var text, markdown bytes.Buffer
	if err := Growth(&text, g); err != nil {
		t.Fatal(err)
	}
	if err := GrowthMarkdown(&markdown, g); err != nil {
		t.Fatal(err)
	}
	golden(t, "growth.text", text.Bytes())
	golden(t, "growth.markdown", markdown.Bytes())
}
