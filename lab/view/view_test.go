package view_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"kernbench/fault"
	"kernbench/lab/explain"
	"kernbench/lab/run"
	"kernbench/lab/view"
	"kernbench/machine/draw"
	"kernbench/unit"
)

var ctx = context.Background()

func observed(t *testing.T, s run.Spec, o view.Options) (*view.Run, *explain.Report) {
	t.Helper()
	v, r, _, err := view.Observe(ctx, explain.Spec{Run: s}, o)
	if err != nil {
		t.Fatal(err)
	}
	return v, r
}

// end returns where the last span of some ends, and whether no span begins before the one before
// it.
func end(s *view.Spans) (at unit.Time, sorted bool) {
	start := unit.Time(0)
	sorted = true
	for i := range s.Start {
		start += unit.Time(s.Start[i])
		sorted = sorted && s.Start[i] >= 0
		at = max(at, start+unit.Time(s.Length[i]))
	}
	return at, sorted
}

// TestDrawing: the machine of a run is drawn with the use of its links, the same as the table of
// links has.
func TestDrawing(t *testing.T) {
	d, err := draw.Of("dgx-h100", nil)
	if err != nil {
		t.Fatal(err)
	}
	v, _ := observed(t, run.Spec{Topology: "dgx-h100", Algorithm: "ring_allreduce_chunked", NElem: 1 << 16}, view.Options{Machine: d})
	i := slices.IndexFunc(v.Links.Links, func(l *view.Link) bool { return strings.HasPrefix(l.Name, "sip0.io->") })
	if i < 0 {
		t.Fatal("no link leads from sip0 to the switch")
	}
	busiest := v.Links.Links[i]
	for _, l := range v.Links.Links {
		if strings.HasPrefix(l.Name, "sip0.io->") || strings.HasSuffix(l.Name, "->sip0.io") {
			if l.Used > busiest.Used {
				busiest = l
			}
		}
	}
	want := fmt.Sprintf("busy %.0f %% of the time, %v", 100*busiest.Used, unit.Bytes(busiest.Bytes))
	if !strings.Contains(v.Drawing, want) || !strings.Contains(v.Drawing, "A line stands for its busiest link") {
		t.Errorf("the drawing does not say that a link of sip0 was %s", want)
	}
	plain := view.Outcome(&run.Result{}, view.Options{Machine: d})
	if plain.Drawing == "" || strings.Contains(plain.Drawing, "busiest link") {
		t.Error("a run without use of links has no plain drawing")
	}
}

// A document agrees with the explanation of the same run: times, reasons, lines, path and lanes.
func TestObserve(t *testing.T) {
	for _, s := range []run.Spec{
		{Topology: "dgx-h100", Algorithm: "ring_allreduce_chunked", NElem: 1 << 16},
		{Topology: "ahbm-cube", Algorithm: "window_all_to_all", Ranks: 8, NElem: 512},
		{Topology: "leaf-spine-roce", Algorithm: "direct_all_to_all", Ranks: 8, NElem: 512},
		{Topology: "dgx-h100", Algorithm: "double_tree_allreduce", Ranks: 8, NElem: 4096},
	} {
		v, r := observed(t, s, view.Options{})
		name := v.Name
		tl := v.Timeline
		if v.Time != r.SimulatedTime || tl.Length != r.SimulatedTime || !reflect.DeepEqual(v.Reasons, r.Reasons) {
			t.Errorf("%s: time %v, time line %v, explained %v", name, v.Time, tl.Length, r.SimulatedTime)
		}
		// The path covers the run without a gap, and its reasons are those of the explanation.
		at, sum := unit.Time(0), map[string]unit.Time{}
		for i := range tl.Path.Start {
			if i > 0 && tl.Path.Start[i] != tl.Path.Length[i-1] {
				t.Errorf("%s: a gap of the path at span %d", name, i)
			}
			at += unit.Time(tl.Path.Length[i])
			sum[tl.Reasons[tl.Path.Reason[i]]] += unit.Time(tl.Path.Length[i])
		}
		if at != r.SimulatedTime {
			t.Errorf("%s: the path takes %v, the run %v", name, at, r.SimulatedTime)
		}
		sum["launch"] += r.Launch // before the path
		for _, x := range r.Reasons {
			if sum[x.Name] != x.Time {
				t.Errorf("%s: %s %v on the path, %v explained", name, x.Name, sum[x.Name], x.Time)
			}
		}
		if len(tl.Lanes) != r.WorldSize || !tl.Whole {
			t.Errorf("%s: %d lanes of %d ranks, whole %v", name, len(tl.Lanes), r.WorldSize, tl.Whole)
		}
		latest, members := unit.Time(0), []int{}
		for i, l := range tl.Lanes {
			last, sorted := end(l.Spans)
			if !sorted || last != l.End {
				t.Errorf("%s: spans of lane %d end at %v, the lane at %v, in order: %v", name, i, last, l.End, sorted)
			}
			latest = max(latest, l.End)
			if len(l.Bins) != len(tl.PathBins) || l.Bins[0]&15 == 0 {
				t.Errorf("%s: lane %d begins with nothing, or has %d bins of %d", name, i, len(l.Bins), len(tl.PathBins))
			}
		}
		if latest != r.SimulatedTime {
			t.Errorf("%s: the last rank ends at %v", name, latest)
		}
		for _, c := range tl.Classes {
			if !slices.Contains(c.Ranks, c.Rank) {
				t.Errorf("%s: class %+v", name, c)
			}
			members = append(members, c.Ranks...)
		}
		slices.Sort(members)
		for i, m := range members {
			if i != m || len(members) != len(tl.Lanes) {
				t.Fatalf("%s: classes have lanes %v", name, members)
			}
		}
		path, lines := unit.Time(0), 0
		for _, l := range v.Lines {
			path += l.Path
			if l.Line != "" {
				lines++
			}
		}
		if path != r.Time() || lines == 0 {
			t.Errorf("%s: lines have %v of the path; %d of them are known", name, path, lines)
		}
		found := false
		for _, p := range v.Sources {
			for _, text := range p.Text {
				found = found || strings.Contains(text, "c.") || strings.Contains(text, "ctx.") || strings.Contains(text, "func")
			}
		}
		if !found {
			t.Errorf("%s: no source text: %+v", name, v.Sources)
		}
	}
}

// The waits of a link on the heat map equal the count of the fabric. A memory accepts a message
// that is alone in flight without a queue of the fabric.
func TestWaitsAreThoseOfTheFabric(t *testing.T) {
	waited := false
	for _, s := range []run.Spec{
		{Topology: "dgx-h100", Algorithm: "ring_allreduce_chunked", NElem: 1 << 16},
		{Topology: "leaf-spine-roce", Algorithm: "direct_all_to_all", Ranks: 8, NElem: 4096},
	} {
		v, _ := observed(t, s, view.Options{})
		for _, l := range v.Links.Links {
			sum := unit.Time(0)
			for _, w := range l.Waiting {
				sum += unit.Time(w)
			}
			if !strings.HasSuffix(l.Name, ".port") && sum != l.Queued {
				t.Errorf("%s: %s: messages wait %v on the heat map, %v in the fabric", v.Name, l.Name, sum, l.Queued)
			}
			waited = waited || sum > 0
		}
	}
	if !waited {
		t.Error("no message has waited anywhere")
	}
}

// Ranks that do the same are of one class; the root of a tree is not like its leaves.
func TestClasses(t *testing.T) {
	ring, _ := observed(t, run.Spec{Topology: "dgx-h100", Algorithm: "ring_allreduce_chunked", NElem: 4096}, view.Options{})
	if n := len(ring.Timeline.Classes); n != 1 {
		t.Errorf("a ring of equal ranks has %d classes", n)
	}
	tree, _ := observed(t, run.Spec{Topology: "dgx-h100", Algorithm: "binomial_broadcast", NElem: 4096}, view.Options{})
	if n := len(tree.Timeline.Classes); n < 3 || n > 5 {
		t.Errorf("a binomial tree of 8 ranks has %d classes", n)
	}
}

// Slots of rings that are in use never exceed those that there are.
func TestSlots(t *testing.T) {
	v, _ := observed(t, run.Spec{Topology: "dgx-h100", Algorithm: "ring_allreduce_chunked", NElem: 1 << 16,
		Sets: []string{"defaults.n_slots=2"}}, view.Options{})
	if v.Timeline.Slots < 1 || v.Timeline.Slots > 2 {
		t.Errorf("%d slots of 2 are in use", v.Timeline.Slots)
	}
	for _, l := range v.Timeline.Lanes {
		if last := l.Slots[len(l.Slots)-1]; last > 1 {
			t.Errorf("rank %d: %d slots are in use at the end", l.Rank, last)
		}
	}
}

// If a window is requested, only it has single spans.
func TestWindow(t *testing.T) {
	s := run.Spec{Topology: "dgx-h100", Algorithm: "ring_allreduce_chunked", NElem: 1 << 16}
	all, _ := observed(t, s, view.Options{})
	part, _ := observed(t, s, view.Options{From: 5 * unit.Microsecond, Until: 9 * unit.Microsecond})
	if tl := part.Timeline; tl.From != 5*unit.Microsecond || tl.Until != 9*unit.Microsecond {
		t.Errorf("the window is %v to %v", tl.From, tl.Until)
	}
	for i, l := range part.Timeline.Lanes {
		n, of := len(l.Spans.Start), len(all.Timeline.Lanes[i].Spans.Start)
		last, _ := end(l.Spans)
		if n == 0 || n >= of || last < 9*unit.Microsecond {
			t.Errorf("lane %d has %d of %d spans, up to %v", i, n, of, last)
		}
		if !slices.Equal(l.Bins, all.Timeline.Lanes[i].Bins) {
			t.Errorf("lane %d has other bins", i)
		}
	}
}

// A run that ends with a fault is shown with the fault and its verdicts.
func TestFault(t *testing.T) {
	v, r, _, err := view.Observe(ctx, explain.Spec{Run: run.Spec{Algorithm: "ring_allreduce", Ranks: 8,
		Sets: []string{"defaults.n_slots=1"}}}, view.Options{})
	if !fault.Is(err) || r != nil || v == nil {
		t.Fatalf("%v, %v, %v", v, r, err)
	}
	if v.OK || v.Fault == "" || v.Timeline != nil {
		t.Errorf("%+v", v)
	}
	if _, _, _, err := view.Observe(ctx, explain.Spec{Run: run.Spec{Algorithm: "no_such"}}, view.Options{}); err == nil || fault.Is(err) {
		t.Errorf("an unknown algorithm is %v", err)
	}
}

// A document is JSON, and the same each time.
func TestDocumentIsDeterministic(t *testing.T) {
	text := func() string {
		v, r := observed(t, run.Spec{Topology: "ahbm-cube", Algorithm: "window_all_to_all", Ranks: 8, NElem: 512}, view.Options{})
		d := view.New("a test", r.MadeBy)
		d.Runs = []*view.Run{v}
		data, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if a, b := text(), text(); a != b {
		t.Error("two documents of one run differ")
	}
}
