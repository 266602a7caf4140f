package page_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kernbench/lab/explain"
	"kernbench/lab/run"
	"kernbench/lab/view"
	"kernbench/web/page"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var (
	inBrowser = flag.Bool("browser", false, "draw pages in a real browser: .ci/run browser")
	pictures  = flag.String("pictures", "", "`folder` for pictures of the pages that the tests draw")
)

// browser starts one browser for a test, and ends it with all its processes.
func browser(t *testing.T) context.Context {
	t.Helper()
	if !*inBrowser {
		t.Skip("add -browser: these tests start chromium")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no chromium is installed")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.Flag("force-device-scale-factor", "1"), chromedp.Flag("hide-scrollbars", true))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

// heard is what a page has said and asked for.
type heard struct {
	sync.Mutex
	errors, requests []string
}

func listen(t *testing.T, ctx context.Context) *heard {
	t.Helper()
	h := &heard{}
	if err := chromedp.Listen(ctx, func(ev any) {
		h.Lock()
		defer h.Unlock()
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			h.errors = append(h.errors, fmt.Sprint(e.ExceptionDetails))
		case *runtime.EventConsoleAPICalled:
			if e.Type == "error" || e.Type == "warning" {
				h.errors = append(h.errors, fmt.Sprint(e.Args))
			}
		case *network.EventRequestWillBeSent:
			h.requests = append(h.requests, e.Request.URL)
		}
	}); err != nil {
		t.Fatal(err)
	}
	return h
}

// quiet fails the test if the page has said an error, or asked for anything but itself.
func (h *heard) quiet(t *testing.T, own string) {
	t.Helper()
	h.Lock()
	defer h.Unlock()
	for _, e := range h.errors {
		t.Errorf("the page says: %s", e)
	}
	for _, r := range h.requests {
		if !strings.HasPrefix(r, own) && !strings.HasPrefix(r, "data:") && !strings.HasPrefix(r, "blob:") {
			t.Errorf("the page asks for %s", r)
		}
	}
}

// do performs actions.
func do(t *testing.T, ctx context.Context, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// value evaluates an expression.
func value[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits until an expression is true.
func until(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if value[bool](t, ctx, "Boolean("+expression+")") {
			return
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("after a minute it is still not true that %s", expression)
		}
	}
}

// picture keeps a picture of the page, if that is asked for.
func picture(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	if *pictures == "" {
		return
	}
	data, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(*pictures, name+".png"), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// pixel returns the colour of a place of the window.
func pixel(t *testing.T, ctx context.Context, x, y float64) string {
	t.Helper()
	data, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	p := image.Pt(int(x), int(y))
	if !p.In(img.Bounds()) {
		t.Fatalf("%v is not in the window %v", p, img.Bounds())
	}
	r, g, b, _ := img.At(p.X, p.Y).RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// written writes a page of runs to a file, and returns its URL.
func written(t *testing.T, name string, runs ...*view.Run) string {
	t.Helper()
	d := view.New(name, run.NewMadeBy("a test"))
	d.Runs = runs
	var b bytes.Buffer
	if err := page.Write(&b, page.About{Title: name}, d); err != nil {
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

// place is where the longest slice of the critical path is drawn, in the window. It is near the
// slice's end and its upper edge, since the label is drawn over the rest.
const place = `(() => {
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

type at struct {
	X, Y, Start, End float64
	Reason, Line     string
}

// TestReport draws the page of a run from a file, as a person would who got it by mail: verdicts,
// hover, zoom, click to a source line, classes, dark and narrow.
func TestReport(t *testing.T) {
	ctx := browser(t)
	url := written(t, "a ring", observe(t, run.Spec{Topology: "dgx-h100", Algorithm: "ring_allreduce_chunked", NElem: 1 << 18}, ""))
	h := listen(t, ctx)
	do(t, ctx, chromedp.EmulateViewport(1300, 900), chromedp.Navigate(url))
	until(t, ctx, "document.body.dataset.ready === 'yes' && kernbench.timeline.stats.frames > 0")
	if title := value[string](t, ctx, "document.title"); title != "a ring – kernbench" {
		t.Errorf("the title is %q", title)
	}
	if first := value[string](t, ctx, "document.querySelector('section').id"); first != "verdicts" {
		t.Errorf("the page begins with %s", first)
	}
	if n := value[int](t, ctx, "document.querySelectorAll('#verdicts .verdicts li').length"); n < 4 {
		t.Errorf("%d verdicts", n)
	}

	// What lies under a place comes from the model, and pixels confirm it.
	p := value[at](t, ctx, place)
	if got, want := pixel(t, ctx, p.X, p.Y), value[string](t, ctx,
		"getComputedStyle(document.querySelector('.stack span[title^=\""+p.Reason+"\"]')).backgroundColor"); got != hex(want) {
		t.Errorf("%s is drawn as %s, and its key is %s", p.Reason, got, want)
	}
	do(t, ctx, chromedp.MouseEvent("mouseMoved", p.X, p.Y))
	until(t, ctx, "!document.querySelector('.timeline .tip').hidden")
	if tip := value[string](t, ctx, "document.querySelector('.timeline .tip').textContent"); !strings.Contains(tip,
		p.Reason) || !strings.Contains(tip, p.Line) || !strings.Contains(tip, "journey of the message") {
		t.Errorf("the tip of %+v says %q", p, tip)
	}

	// A click on a slice shows its line of the source.
	do(t, ctx, chromedp.MouseClickXY(p.X, p.Y))
	until(t, ctx, "document.querySelector('.code.chosen')")
	if line := value[string](t, ctx, "document.querySelector('.code.chosen').dataset.line"); line != p.Line {
		t.Errorf("the line is %s, of the slice %s", line, p.Line)
	}
	if details := value[string](t, ctx, "document.querySelector('.details').textContent"); !strings.Contains(details, p.Reason) {
		t.Errorf("the details are %q", details)
	}
	picture(t, ctx, "run-light-wide")

	// Zoom by keys, by a double click and back.
	do(t, ctx, chromedp.Focus(".timeline canvas"))
	whole := value[float64](t, ctx, "kernbench.timeline.view.to - kernbench.timeline.view.from")
	value[bool](t, ctx,
		`(() => { const c = kernbench.timeline.canvas; for (const key of ['+', '+', 'ArrowRight']) c.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })); return true; })()`)
	until(t, ctx, fmt.Sprintf("Math.abs((kernbench.timeline.view.to - kernbench.timeline.view.from) / %g - 0.25) < 0.01", whole))
	value[bool](t, ctx, `kernbench.timeline.canvas.dispatchEvent(new KeyboardEvent('keydown', { key: '0', bubbles: true })) || true`)
	until(t, ctx, fmt.Sprintf("kernbench.timeline.view.to - kernbench.timeline.view.from >= %g * 0.99", whole))

	// A class of ranks opens and shows all of them.
	rows := value[int](t, ctx, "kernbench.timeline.rows().filter((r) => r.type === 'lane').length")
	toggle := value[at](t, ctx,
		`(() => { const t = kernbench.timeline; const r = t.rows().find((r) => r.toggles); t.canvas.scrollIntoView({ block: 'center' }); const b = t.canvas.getBoundingClientRect(); return { x: b.left + 20, y: b.top + t.axisHeight + r.y + 8 }; })()`)
	do(t, ctx, chromedp.MouseClickXY(toggle.X, toggle.Y))
	until(t, ctx, fmt.Sprintf("kernbench.timeline.rows().filter((r) => r.type === 'lane').length === %d + 7", rows))

	// Dark: the page and the canvas change.
	light := value[string](t, ctx, "getComputedStyle(document.documentElement).backgroundColor")
	do(t, ctx, chromedp.Click("button.theme"))
	until(t, ctx, "getComputedStyle(document.documentElement).backgroundColor !== '"+light+"'")
	picture(t, ctx, "run-dark-wide")
	do(t, ctx, chromedp.EmulateViewport(420, 800))
	until(t, ctx, "kernbench.timeline.canvas.clientWidth <= 420 && document.documentElement.scrollWidth <= 420")
	picture(t, ctx, "run-dark-narrow")
	h.quiet(t, "file://")
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
	ctx := browser(t)
	v := observe(t, run.Spec{Topology: "leaf-spine-roce", Algorithm: "direct_all_to_all", Ranks: 16, NElem: 16384}, "")
	url := written(t, "an all-to-all", v)
	h := listen(t, ctx)
	do(t, ctx, chromedp.EmulateViewport(1300, 900), chromedp.Navigate(url))
	until(t, ctx, "document.body.dataset.ready === 'yes' && kernbench.heatmaps[0].geometry()")
	// The hottest cell of the first link, found in the model.
	cell := value[at](t, ctx, `(() => {
		const h = kernbench.heatmaps[0];
		const w = kernbench.document.runs[0].links.links[0].waiting;
		const i = w.indexOf(Math.max(...w));
		h.canvas.scrollIntoView({ block: 'center' });
		const b = h.canvas.getBoundingClientRect();
		return { x: b.left + h.geometry().gutter + (i + 0.5) * h.geometry().cell, y: b.top + h.topHeight + h.linkHeight / 2 };
	})()`)
	do(t, ctx, chromedp.MouseClickXY(cell.X, cell.Y))
	until(t, ctx, "document.querySelector('.waits').textContent")
	if rows := value[int](t, ctx, "document.querySelectorAll('.waits tr.choose').length"); rows == 0 {
		t.Fatalf("no messages at %+v: %s", cell, value[string](t, ctx, "document.querySelector('.waits').textContent"))
	}
	if head := value[string](t, ctx, "document.querySelector('.waits h3').textContent"); !strings.HasPrefix(head,
		v.Links.Links[0].Name+":") {
		t.Errorf("the list is of %q, the link is %s", head, v.Links.Links[0].Name)
	}
	picture(t, ctx, "links-light-wide")
	whole := value[float64](t, ctx, "kernbench.timeline.view.to - kernbench.timeline.view.from")
	do(t, ctx, chromedp.Click(".waits tr.choose td:nth-child(2)"))
	until(t, ctx, fmt.Sprintf("kernbench.timeline.view.to - kernbench.timeline.view.from < %g", whole))
	do(t, ctx, chromedp.Click(".waits tr.choose button.line"))
	until(t, ctx, "document.querySelector('.code.chosen')")
	line := value[string](t, ctx, "document.querySelector('.waits tr.choose button.line').textContent")
	if got := value[string](t, ctx, "document.querySelector('.code.chosen').dataset.line"); got != line {
		t.Errorf("the line is %s, of the message %s", got, line)
	}
	h.quiet(t, "file://")
}

// TestTwoRuns: two runs on one axis, with their difference, add up.
func TestTwoRuns(t *testing.T) {
	ctx := browser(t)
	a := observe(t, run.Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 8, NElem: 4096}, "before")
	b := observe(t, run.Spec{Topology: "ahbm-cube", Algorithm: "swing_allreduce", Ranks: 8, NElem: 4096}, "after")
	url := written(t, "two runs", a, b)
	h := listen(t, ctx)
	do(t, ctx, chromedp.EmulateViewport(1300, 900), chromedp.Navigate(url))
	until(t, ctx, "document.body.dataset.ready === 'yes' && kernbench.timeline.stats.frames > 0")
	if n := value[int](t, ctx, "kernbench.timeline.rows().filter((r) => r.type === 'path').length"); n != 2 {
		t.Errorf("%d critical paths", n)
	}
	if to := value[float64](t, ctx, "kernbench.timeline.view.to"); to != float64(max(a.Time, b.Time)) {
		t.Errorf("the axis ends at %v, the longer run at %d", to, max(a.Time, b.Time))
	}
	want := fmt.Sprintf("%.4g ns less", float64(a.Time-b.Time)/1000)
	if text := value[string](t, ctx, "document.querySelector('.change').textContent"); !strings.Contains(text, want) {
		t.Errorf("the difference is %q, not %s", text, want)
	}
	picture(t, ctx, "two-light-wide")
	h.quiet(t, "file://")
}

// TestFaultyPage: a fault is shown with its text and without a time line, and a damaged file says
// so.
func TestFaultyPage(t *testing.T) {
	ctx := browser(t)
	v, _, _, err := view.Observe(context.Background(),
		explain.Spec{Run: run.Spec{Algorithm: "ring_allreduce", Ranks: 8, Sets: []string{"defaults.n_slots=1"}}}, view.Options{})
	if err == nil || v == nil {
		t.Fatal("no deadlock")
	}
	url := written(t, "a deadlock", v)
	h := listen(t, ctx)
	do(t, ctx, chromedp.EmulateViewport(1000, 700), chromedp.Navigate(url))
	until(t, ctx, "document.body.dataset.ready === 'yes'")
	if text := value[string](t, ctx, "document.querySelector('.fault').textContent"); !strings.Contains(text, "deadlock") {
		t.Errorf("the fault is %q", text)
	}
	until(t, ctx, "document.querySelector('.badge.bad') && document.querySelector('#timeline .empty')")
	picture(t, ctx, "fault-light-wide")
	h.quiet(t, "file://")
	file := strings.TrimPrefix(url, "file://")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Replace(text, []byte("H4sI"), []byte("AAAA"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate(url))
	until(t, ctx, "document.body.dataset.ready === 'failed' && document.querySelector('.error')")
}

// TestManySpans draws 100,000 spans of a window, and prints what a frame takes.
func TestManySpans(t *testing.T) {
	ctx := browser(t)
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
	do(t, ctx, chromedp.EmulateViewport(1300, 900), chromedp.Navigate(url))
	until(t, ctx, "document.body.dataset.ready === 'yes' && kernbench.timeline.stats.frames > 0")
	value[bool](t, ctx, `(() => { const t = kernbench.timeline; t.toggle(t.rows().find((r) => r.toggles)); return true; })()`)
	type figures struct{ Ms, Seen, Drawn float64 }
	f := value[figures](t, ctx, `(() => {
		const t = kernbench.timeline;
		const whole = t.view.to - t.view.from;
		let ms = 0, seen = 0, drawn = 0;
		for (let i = 0; i < 20; i++) {
			t.view.to = t.view.from + whole * (1 - i / 400);
			for (const r of t.rows()) r.run.timeline.width_ps = whole; // bins are wider than what is seen: spans are drawn
			const began = performance.now();
			t.draw();
			ms += performance.now() - began;
			seen = Math.max(seen, t.stats.seen);
			drawn = Math.max(drawn, t.stats.drawn);
		}
		return { ms: ms / 20, seen, drawn };
	})()`)
	if f.Seen < 90_000 || f.Drawn > 40_000 {
		t.Errorf("a frame looks at %v spans and draws %v", f.Seen, f.Drawn)
	}
	t.Logf("%v spans in the window: %v operations are drawn, %.1f ms a frame", f.Seen, f.Drawn, f.Ms)
}
