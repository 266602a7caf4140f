package explain_test

import (
	"encoding/json"
	"strings"
	"testing"

	_ "kernbench/internal/fewcollections"
	"kernbench/lab/explain"
	"kernbench/lab/run"
)

func explained(t testing.TB, s run.Spec) *explain.Report {
	t.Helper()
	r, _, err := explain.Run(ctx, explain.Spec{Run: s})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCompare: the changes of reasons, and those of lines, add up to that of the time.
func TestCompare(t *testing.T) {
	s := run.Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 8, NElem: 4096}
	before := explained(t, s)
	s.Sets = []string{"pe.math.setup_ns=40"}
	after := explained(t, s)
	for _, c := range []struct {
		name          string
		before, after *explain.Report
		tolerance     float64
		slower        bool
	}{
		{"slower", before, after, 1, true},
		{"slower within the tolerance", before, after, 1000, false},
		{"faster", after, before, 0, false},
		{"the same", before, before, 0, false},
	} {
		d := explain.Compare(c.before, c.after, [2]string{"a", "b"}, &c.tolerance)
		if d.Slower != c.slower {
			t.Errorf("%s: %+v", c.name, d)
		}
		for _, deltas := range [][]explain.Delta{d.Reasons, d.Lines, d.Steps} {
			sum := int64(0)
			for _, x := range deltas {
				sum += x.Change
			}
			if sum != d.Change || d.Change != int64(c.after.SimulatedTime-c.before.SimulatedTime) {
				t.Errorf("%s: changes of %d ps, the time changes by %d", c.name, sum, d.Change)
			}
		}
	}
	d := explain.Compare(before, after, [2]string{"a", "b"}, nil)
	old := *before
	if old.Steps = nil; len(d.Steps) == 0 || len(d.Notes) != 0 {
		t.Errorf("%+v", d)
	}
	for _, x := range [][2]*explain.Report{{&old, after}, {after, &old}} {
		d := explain.Compare(x[0], x[1], [2]string{"a", "b"}, nil)
		if d.Steps != nil || len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "no table of steps") {
			t.Errorf("%+v", d)
		}
	}
	if d.Reasons[0].Name != "arithmetic" || d.Reasons[0].Change <= 0 || d.Slower {
		t.Errorf("%+v", d.Reasons)
	}
}

func TestParse(t *testing.T) {
	r := explained(t, run.Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 4, NElem: 64})
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	back, err := explain.Parse(data)
	if err != nil || back.SimulatedTime != r.SimulatedTime || len(back.Blames) != len(r.Blames) {
		t.Errorf("%+v, %v", back, err)
	}
	for _, c := range []struct{ name, text, want string }{
		{"no JSON", "x", "not a report; want a file from kernbench explain --format json"},
		{"another JSON", "{}", "bench, reasons or blames are missing"},
		{"a list", "[]", "not a report"},
		{"other steps", strings.Replace(string(data), `"name":"step 1","time_ps":`, `"name":"step 1","time_ps":1`, 1), "the steps take"},
		{"other sums", strings.Replace(string(data), `"explained_ps":`, `"explained_ps":1`, 1), "the reasons take"},
	} {
		if _, err := explain.Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// FuzzParse: whatever a file holds, it is read or refused, and what is read can be compared.
func FuzzParse(f *testing.F) {
	data, err := json.Marshal(explained(f, run.Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 2, NElem: 8}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"bench":"x","reasons":[],"blames":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := explain.Parse(data); err == nil {
			explain.Compare(r, r, [2]string{"a", "b"}, nil)
		}
	})
}
