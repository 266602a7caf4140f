package page_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kernbench/internal/browsertest"
	"kernbench/lab/calibrate"
	"kernbench/lab/calibrate/fit"
	"kernbench/lab/explain"
	"kernbench/lab/perf"
	"kernbench/lab/run"
	"kernbench/lab/view"
	"kernbench/unit"
	"kernbench/web/page"

	"github.com/chromedp/chromedp"
)

// written writes a page of runs to a file, and returns its URL.
func written(t *testing.T, name string, runs ...*view.Run) string {
	t.Helper()
	d := view.New(name, run.NewMadeBy("a test"))
	d.Runs = runs
	return file(t, d)
}

// file writes the page of a document to a file, and returns its URL.
func file(t *testing.T, d *view.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := page.Write(&b, page.About{Title: d.Title}, d); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return "file://" + file
}

func observe(t *testing.T, s run.Spec, name string) *view.Run {
	t.Helper()
	v, _, _, err := view.Observe(context.Background(), explain.Spec{Run: s}, view.Options{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// longest is the place of the longest slice of the critical path, in the window. It is near the
// slice's end and its upper edge, since the label is drawn over the rest.
const longest = `(() => {
	const t = kernbench.timeline;
	const r = t.rows().find((r) => r.type === 'path');
	const s = r.run.timeline.path;
	let best = 0;
	for (let i = 0; i < s.n; i++) if (s.end[i] - s.start[i] > s.end[best] - s.start[best]) best = i;
	t.canvas.scrollIntoView({ block: 'center' });
	const box = t.canvas.getBoundingClientRect();
	return { x: box.left + t.px(s.start[best] + 0.9 * (s.end[best] - s.start[best])), y: box.top + t.axisHeight + r.y + 2, start: s.start[best], end: s.end[best], reason: r.run.timeline.reasons[s.reason[best]],
		line: r.run.timeline.lines[r.run.timeline.operations.line[s.own[best]]] };
})()`

type place struct {
	X, Y, Start, End float64
	Reason, Line     string
}

// TestReport draws the page of a run from a file, without a server. It checks verdicts, hover,
// zoom, click to a source line, classes, dark and narrow.
func TestReport(t *testing.T) {
	p := browsertest.Open(t, "file://")
	url := written(t, "a ring", observe(t, run.Spec{Topology: "dgx-h100", Algorithm: "ring_allreduce_chunked", NElem: 1 << 18}, ""))
	p.Size(1300, 900)
	p.Do(chromedp.Navigate(url))
	p.Until("document.body.dataset.ready === 'yes' && kernbench.timeline.stats.frames > 0")
	if title := browsertest.Value[string](p, "document.title"); title != "a ring – kernbench" {
		t.Errorf("the title is %q", title)
	}
	if first := browsertest.Value[string](p, "document.querySelector('section').id"); first != "verdicts" {
		t.Errorf("the page begins with %s", first)
	}
	if n := browsertest.Value[int](p, "document.querySelectorAll('#verdicts .verdicts li').length"); n < 4 {
		t.Errorf("%d verdicts", n)
	}

	// The element under a place comes from the model, and pixels confirm it.
	at := browsertest.Value[place](p, longest)
	want := browsertest.Value[string](p,
		"getComputedStyle(document.querySelector('.stack span[title^=\""+at.Reason+"\"]')).backgroundColor")
	if got := p.Pixel(at.X, at.Y); got != hex(want) {
		t.Errorf("%s is drawn as %s, and its key is %s", at.Reason, got, want)
	}
	p.Do(chromedp.MouseEvent("mouseMoved", at.X, at.Y))
	p.Until("!document.querySelector('.timeline .tip').hidden")
	if tip := browsertest.Value[string](p, "document.querySelector('.timeline .tip').textContent"); !strings.Contains(tip,
		at.Reason) || !strings.Contains(tip, at.Line) || !strings.Contains(tip, "route of the message") {
		t.Errorf("the tip of %+v says %q", at, tip)
	}

	// A click on a slice shows its line of the source.
	p.Do(chromedp.MouseClickXY(at.X, at.Y))
	p.Until("document.querySelector('.code.chosen')")
	if line := browsertest.Value[string](p, "document.querySelector('.code.chosen').dataset.line"); line != at.Line {
		t.Errorf("the line is %s, of the slice %s", line, at.Line)
	}
	if details := browsertest.Value[string](p, "document.querySelector('.details').textContent"); !strings.Contains(details, at.Reason) {
		t.Errorf("the details are %q", details)
	}
	p.Picture("run-light-wide")

	// Zoom by keys, by a double click and back.
	p.Do(chromedp.Focus(".timeline canvas"))
	whole := browsertest.Value[float64](p, "kernbench.timeline.view.to - kernbench.timeline.view.from")
	browsertest.Value[bool](p, `(() => { const c = kernbench.timeline.canvas; for (const key of ['+', '+', 'ArrowRight']) c.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })); return true; })()`)
	p.Until(fmt.Sprintf("Math.abs((kernbench.timeline.view.to - kernbench.timeline.view.from) / %g - 0.25) < 0.01", whole))
	browsertest.Value[bool](p, `kernbench.timeline.canvas.dispatchEvent(new KeyboardEvent('keydown', { key: '0', bubbles: true })) || true`)
	p.Until(fmt.Sprintf("kernbench.timeline.view.to - kernbench.timeline.view.from >= %g * 0.99", whole))

	// A class of ranks opens and shows all of them.
	rows := browsertest.Value[int](p, "kernbench.timeline.rows().filter((r) => r.type === 'lane').length")
	toggle := browsertest.Value[place](p, `(() => { const t = kernbench.timeline; const r = t.rows().find((r) => r.toggles); t.canvas.scrollIntoView({ block: 'center' }); const b = t.canvas.getBoundingClientRect(); return { x: b.left + 20, y: b.top + t.axisHeight + r.y + 8 }; })()`)
	p.Do(chromedp.MouseClickXY(toggle.X, toggle.Y))
	p.Until(fmt.Sprintf("kernbench.timeline.rows().filter((r) => r.type === 'lane').length === %d + 7", rows))

	// Dark: the page and the canvas change.
	light := browsertest.Value[string](p, "getComputedStyle(document.documentElement).backgroundColor")
	p.Do(chromedp.Click("button.theme"))
	p.Until("getComputedStyle(document.documentElement).backgroundColor !== '" + light + "'")
	p.Picture("run-dark-wide")
	p.Size(420, 800)
	p.Until("kernbench.timeline.canvas.clientWidth <= 420 && document.documentElement.scrollWidth <= 420")
	p.Picture("run-dark-narrow")
}

// cut lists what is not seen whole in a page that is wide enough for all of it. It lists cells that
// are narrower than their texts, and tables and pages that scroll.
const cut = `(() => {
	const all = [];
	const width = document.documentElement.clientWidth;
	if (document.documentElement.scrollWidth > width) all.push('the page is ' + document.documentElement.scrollWidth + ' wide');
	for (const e of document.querySelectorAll('td, th, dd, dt, h1, h2, h3, figcaption')) {
		if (e.clientWidth && e.scrollWidth > e.clientWidth + 1) all.push(e.tagName + ' ' + e.textContent);
	}
	for (const e of document.querySelectorAll('.table')) {
		if (width > 1000 && e.scrollWidth > e.clientWidth + 1) all.push('a table with ' + e.querySelector('th').textContent);
	}
	return all.join('; ');
})()`

// TestNothingIsCut: in wide and narrow windows, dark and light, texts are whole.
func TestNothingIsCut(t *testing.T) {
	a := observe(t, run.Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 8, NElem: 64}, "before")
	b := observe(t, run.Spec{Topology: "ahbm-cube", Algorithm: "recursive_doubling_allreduce", Ranks: 8, NElem: 64}, "after")
	far := observe(t, run.Spec{Topology: "leaf-spine-roce", Algorithm: "direct_all_to_all", Ranks: 16, NElem: 1024}, "")
	swept, err := perf.Run(context.Background(), perf.Spec{
		Base: run.Spec{Topology: "dgx-h100", Ranks: 8}, Collective: "all_reduce", Min: unit.KiB, Max: unit.MiB, Factor: 4, Iterations: 1,
		Algorithms: []string{"ring_allreduce_chunked", "recursive_doubling_allreduce", "hierarchical_pipelined_allreduce"}, Bound: true,
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	rounded, err := perf.Round(context.Background(), perf.RoundingSpec{Spec: perf.Spec{
		Base: run.Spec{Topology: "ahbm-cube", Ranks: 4}, Collective: "all_reduce", Algorithms: []string{"ring_allreduce_chunked"},
		Min: unit.KiB, Max: unit.KiB, Factor: 2, Iterations: 1, Memory: unit.GiB,
	}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	header := []fit.Remark{{Key: "source", Value: "public repository README of a library with a long name, section Single Node"}}
	scored := view.Scored(&calibrate.Score{Topology: "dgx-a100", Machine: "8 SIPs × 1 cube × 1 PE", Tables: []calibrate.TableScore{{
		File: "far/away/a100_8gpu_nvswitch_azure_allreduce.tsv", Collective: "all_reduce", Ranks: 8, Type: "f32", Header: header,
		Rows: []calibrate.ScoreRow{{Size: 8, Measured: 4 * unit.Microsecond, Simulated: 3 * unit.Microsecond, Error: -0.25,
			Algorithm: "double_tree_allreduce", Protocol: "ll", NCCL: &calibrate.Yardstick{Time: 5 * unit.Microsecond, Error: 0.25}}},
		Bands: []calibrate.ScoreBand{{Machine: calibrate.Deviation{Sizes: 1, Median: 0.25, Worst: -0.25, At: 8}}},
	}}})
	two := view.New("two runs", run.NewMadeBy("a test"))
	two.Runs = []*view.Run{a, b}
	one := view.New("an all-to-all", run.NewMadeBy("a test"))
	one.Runs = []*view.Run{far}
	p := browsertest.Open(t, "file://")
	for _, c := range []struct {
		name string
		doc  *view.Document
	}{{"two", two}, {"one", one}, {"sweep", view.Sweep(swept)}, {"rounding", view.Rounding(rounded)}, {"score", scored}} {
		p.Size(1300, 900)
		p.Do(chromedp.Navigate(file(t, c.doc)))
		p.Until("document.body.dataset.ready === 'yes'")
		p.Text("(() => { document.querySelectorAll('details').forEach((d) => { d.open = true; }); return ''; })()")
		for _, width := range []int64{1300, 420} {
			for range 2 {
				p.Size(width, 900)
				p.Until(fmt.Sprintf("window.innerWidth === %d", width))
				dark := p.Text("getComputedStyle(document.documentElement).getPropertyValue('--dark').trim()")
				if all := p.Text(cut); all != "" {
					t.Errorf("%s, %d wide, dark %s: %s", c.name, width, dark, all)
				}
				p.Picture(fmt.Sprintf("%s-%d-dark-%s", c.name, width, dark))
				p.Do(chromedp.Click("button.theme"))
			}
		}
	}
}

// hex turns rgb(1, 2, 3) into #010203.
func hex(rgb string) string {
	var r, g, b int
	if _, err := fmt.Sscanf(rgb, "rgb(%d, %d, %d)", &r, &g, &b); err != nil {
		return rgb
	}
	return fmt.Sprintf("#%02x%02x%02x", r, g, b)
}

// TestWhereBytesQueue: from the heat map to a link, its messages, the place in the time line and
// the line of the source, in four clicks.
func TestWhereBytesQueue(t *testing.T) {
	p := browsertest.Open(t, "file://")
	v := observe(t, run.Spec{Topology: "leaf-spine-roce", Algorithm: "direct_all_to_all", Ranks: 16, NElem: 16384}, "")
	url := written(t, "an all-to-all", v)
	p.Size(1300, 900)
	p.Do(chromedp.Navigate(url))
	p.Until("document.body.dataset.ready === 'yes' && kernbench.heatmaps[0].geometry()")
	// The hottest cell of the first link, found in the model.
	cell := browsertest.Value[place](p, `(() => {
		const h = kernbench.heatmaps[0];
		const w = kernbench.document.runs[0].links.links[0].waiting;
		const i = w.indexOf(Math.max(...w));
		h.canvas.scrollIntoView({ block: 'center' });
		const b = h.canvas.getBoundingClientRect();
		return { x: b.left + h.geometry().gutter + (i + 0.5) * h.geometry().cell, y: b.top + h.topHeight + h.linkHeight / 2 };
	})()`)
	p.Do(chromedp.MouseClickXY(cell.X, cell.Y))
	p.Until("document.querySelector('.waits').textContent")
	if rows := browsertest.Value[int](p, "document.querySelectorAll('.waits tr.choose').length"); rows == 0 {
		t.Fatalf("no messages at %+v: %s", cell, browsertest.Value[string](p, "document.querySelector('.waits').textContent"))
	}
	if head := browsertest.Value[string](p, "document.querySelector('.waits h3').textContent"); !strings.HasPrefix(head,
		v.Links.Links[0].Name+":") {
		t.Errorf("the list is of %q, the link is %s", head, v.Links.Links[0].Name)
	}
	p.Picture("links-light-wide")
	whole := browsertest.Value[float64](p, "kernbench.timeline.view.to - kernbench.timeline.view.from")
	p.Do(chromedp.Click(".waits tr.choose td:nth-child(2)"))
	p.Until(fmt.Sprintf("kernbench.timeline.view.to - kernbench.timeline.view.from < %g", whole))
	p.Do(chromedp.Click(".waits tr.choose button.line"))
	p.Until("document.querySelector('.code.chosen')")
	line := browsertest.Value[string](p, "document.querySelector('.waits tr.choose button.line').textContent")
	if got := browsertest.Value[string](p, "document.querySelector('.code.chosen').dataset.line"); got != line {
		t.Errorf("the line is %s, of the message %s", got, line)
	}
}

// TestTwoRuns: two runs on one axis, with their difference, add up.
func TestTwoRuns(t *testing.T) {
	p := browsertest.Open(t, "file://")
	a := observe(t, run.Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 8, NElem: 4096}, "before")
	b := observe(t, run.Spec{Topology: "ahbm-cube", Algorithm: "swing_allreduce", Ranks: 8, NElem: 4096}, "after")
	url := written(t, "two runs", a, b)
	p.Size(1300, 900)
	p.Do(chromedp.Navigate(url))
	p.Until("document.body.dataset.ready === 'yes' && kernbench.timeline.stats.frames > 0")
	if n := browsertest.Value[int](p, "kernbench.timeline.rows().filter((r) => r.type === 'path').length"); n != 2 {
		t.Errorf("%d critical paths", n)
	}
	if to := browsertest.Value[float64](p, "kernbench.timeline.view.to"); to != float64(max(a.Time, b.Time)) {
		t.Errorf("the axis ends at %v, the longer run at %d", to, max(a.Time, b.Time))
	}
	want := fmt.Sprintf("%.4g ns less", float64(a.Time-b.Time)/1000)
	if text := browsertest.Value[string](p, "document.querySelector('.change').textContent"); !strings.Contains(text, want) {
		t.Errorf("the difference is %q, not %s", text, want)
	}
	p.Picture("two-light-wide")
}

// TestFaultyPage: a fault is shown with its text and without a time line, and a damaged file has a
// message.
func TestFaultyPage(t *testing.T) {
	p := browsertest.Open(t, "file://")
	v, _, _, err := view.Observe(context.Background(),
		explain.Spec{Run: run.Spec{Algorithm: "ring_allreduce", Ranks: 8, Sets: []string{"defaults.n_slots=1"}}}, view.Options{})
	if err == nil || v == nil {
		t.Fatal("no deadlock")
	}
	url := written(t, "a deadlock", v)
	p.Size(1000, 700)
	p.Do(chromedp.Navigate(url))
	p.Until("document.body.dataset.ready === 'yes'")
	if text := browsertest.Value[string](p, "document.querySelector('.fault').textContent"); !strings.Contains(text, "deadlock") {
		t.Errorf("the fault is %q", text)
	}
	p.Until("document.querySelector('.badge.bad') && document.querySelector('#timeline .empty')")
	p.Picture("fault-light-wide")
	file := strings.TrimPrefix(url, "file://")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Replace(text, []byte("H4sI"), []byte("AAAA"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	p.Do(chromedp.Navigate(url))
	p.Until("document.body.dataset.ready === 'failed' && document.querySelector('.error')")
}

// TestManySpans pans a window of 100,000 spans: a frame takes less than the 33 ms that 30 frames a
// second leave. The fastest of 40 counts, since other work may share the computer.
func TestManySpans(t *testing.T) {
	p := browsertest.Open(t, "file://")
	v := observe(t, run.Spec{Topology: "dgx-h100", Algorithm: "ring_allreduce_chunked", NElem: 1 << 16}, "")
	const n = 12_500 // of each of 8 lanes
	each := int64(v.Timeline.Length) / n
	for _, l := range v.Timeline.Lanes {
		s := &view.Spans{}
		for i := range n {
			start := each
			if i == 0 {
				start = 0
			}
			s.Start, s.Length = append(s.Start, start), append(s.Length, each)
			s.Own, s.Of, s.Resource, s.Behind = append(s.Own, 1), append(s.Of, 1), append(s.Resource, 0), append(s.Behind, 0)
			s.Reason = append(s.Reason, int32(1+i%10))
		}
		l.Spans = s
	}
	url := written(t, "many", v)
	p.Size(1300, 900)
	p.Do(chromedp.Navigate(url))
	p.Until("document.body.dataset.ready === 'yes' && kernbench.timeline.stats.frames > 0")
	browsertest.Value[bool](p, `(() => { const t = kernbench.timeline; t.toggle(t.rows().find((r) => r.toggles)); return true; })()`)
	type figures struct{ Least, Ms, Seen, Drawn float64 }
	f := browsertest.Value[figures](p, `(() => {
		const t = kernbench.timeline;
		const whole = t.view.to - t.view.from;
		let ms = 0, least = Infinity, seen = 0, drawn = 0;
		for (let i = 0; i < 40; i++) {
			t.view.to = t.view.from + whole * (1 - i / 800);
			for (const r of t.rows()) r.run.timeline.width_ps = whole; // bins are wider than what is seen: spans are drawn
			const began = performance.now();
			t.draw();
			const took = performance.now() - began;
			ms += took;
			least = Math.min(least, took);
			seen = Math.max(seen, t.stats.seen);
			drawn = Math.max(drawn, t.stats.drawn);
		}
		return { ms: ms / 40, least, seen, drawn };
	})()`)
	if f.Least > 33 {
		t.Errorf("a frame takes %.1f ms", f.Least)
	}
	if f.Seen < 90_000 || f.Drawn > 40_000 {
		t.Errorf("a frame looks at %v spans and draws %v", f.Seen, f.Drawn)
	}
	t.Logf("%v spans in the window: %v are drawn, %.1f ms a frame, the fastest %.1f ms", f.Seen, f.Drawn, f.Ms, f.Least)
}
