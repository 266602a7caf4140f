package web

import (
	"context"
	"flag"
	"fmt"
	"net"
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

// TestViewer goes through the viewer as a person does: it looks at a run, compares two, is told of
// a mistake at the field, starts a run, and cancels one.
func TestViewer(t *testing.T) {
	if !*inBrowser {
		t.Skip("add -browser: this test starts chromium")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium is installed")
	}
	folder := t.TempDir()
	for _, name := range []string{"ring_allreduce", "swing_allreduce"} {
		v, r, _, err := view.Observe(context.Background(),
			explain.Spec{Run: run.Spec{Topology: "ahbm-cube", Algorithm: name, Ranks: 8, NElem: 4096}}, view.Options{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		d := view.New(name, r.MadeBy)
		d.Runs = []*view.Run{v}
		f, err := os.Create(filepath.Join(folder, name+".html"))
		if err != nil {
			t.Fatal(err)
		}
		if err := page.Write(f, page.About{Title: name}, d); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(Options{Names: []string{folder}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(served, l, "127.0.0.1:0") }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()

	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.Flag("hide-scrollbars", true))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	var mu sync.Mutex
	var said, asked []string
	if err := chromedp.Listen(ctx, func(ev any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			said = append(said, fmt.Sprint(e.ExceptionDetails))
		case *runtime.EventConsoleAPICalled:
			if e.Type == "error" || e.Type == "warning" {
				for _, a := range e.Args {
					said = append(said, fmt.Sprintf("%s: %s %s", e.Type, a.Value, a.Description))
				}
			}
		case *network.EventRequestWillBeSent:
			asked = append(asked, e.Request.URL)
		}
	}); err != nil {
		t.Fatal(err)
	}
	do := func(actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		if err := chromedp.Do(ctx, actions...); err != nil {
			t.Fatal(err)
		}
	}
	text := func(expression string) string {
		t.Helper()
		v, err := chromedp.Run(ctx, chromedp.Evaluate[string]("String("+expression+")"))
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		return v
	}
	until := func(expression string) {
		t.Helper()
		for begun := time.Now(); text("Boolean("+expression+")") != "true"; time.Sleep(20 * time.Millisecond) {
			if time.Since(begun) > time.Minute {
				t.Fatalf("after a minute it is still not true that %s; the page says %s", expression,
					text("document.body.innerText.slice(0, 500)"))
			}
		}
	}
	picture := func(name string) {
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

	do(chromedp.EmulateViewport(1300, 900), chromedp.Navigate(s.Address(l.Addr())))
	until("document.body.dataset.ready === 'yes' && document.body.dataset.shown === '0/ring_allreduce.html'")
	if hash := text("location.href"); strings.Contains(hash, s.token) {
		t.Errorf("the address keeps the token: %s", hash)
	}
	// Two runs are compared.
	do(chromedp.Click(`input[value="0/swing_allreduce.html"]`))
	until("document.body.dataset.shown === '0/ring_allreduce.html 0/swing_allreduce.html' && document.querySelector('#difference .change')")
	if change := text("document.querySelector('.change').textContent"); !strings.Contains(change, "less") {
		t.Errorf("the difference is %q", change)
	}
	picture("viewer-light-wide")

	// A mistake is told at its field.
	set := func(selector, value string) {
		t.Helper()
		text(fmt.Sprintf("(() => { const e = document.querySelector(%q); e.value = %q; e.dispatchEvent(new Event('input', { bubbles: true })); return e.value; })()",
			selector, value))
	}
	text("(() => { document.querySelectorAll('#panel details').forEach((d) => { d.open = true; }); return ''; })()")
	set("#field-algorithm", "ring_allreduce")
	set("#field-topology", "ahbm-cube")
	set("#field-ranks", "four")
	do(chromedp.Click("button.add"))
	set(".setting .key", "defaults.n_slots")
	set(".setting .value", "many")
	do(chromedp.Click("button.go"))
	until(`document.querySelector('.wrong[data-field="ranks"]').textContent`)
	if wrong := text(`document.querySelector('.wrong[data-field="ranks"]').textContent`); !strings.Contains(wrong,
		"a number from 1 to 1024 is expected") {
		t.Errorf("the field says %q", wrong)
	}
	set("#field-ranks", "4")
	do(chromedp.Click("button.go"))
	until("document.querySelector('.setting .wrong').textContent")
	if doc := text("document.querySelector('.setting .doc').textContent"); !strings.Contains(doc, "default") {
		t.Errorf("the schema's words are %q", doc)
	}
	picture("form-light-wide")

	// A run with changed settings is started, and shown beside the others.
	set(".setting .value", "2")
	set("#field-n_elem", "4096")
	do(chromedp.Click("button.go"))
	until("document.querySelector('.newrun').dataset.state === 'done' && document.body.dataset.shown.includes('new-1')")
	if n := text("kernbench.document.runs.length"); n != "3" {
		t.Errorf("%s runs are compared", n)
	}

	// Another one is cancelled.
	set("#field-topology", "")
	set("#field-ranks", "256")
	set("#field-n_elem", "1000000")
	text("document.querySelector('.setting').remove()")
	do(chromedp.Click("button.go"))
	until("!document.querySelector('button.cancel').hidden && document.querySelector('.newrun').dataset.state === 'running'")
	do(chromedp.Click("button.cancel"))
	until("document.querySelector('.newrun').dataset.state === 'cancelled'")

	// Dark, then narrow: nothing is cut off.
	light := text("getComputedStyle(document.documentElement).backgroundColor")
	do(chromedp.Click("button.theme"))
	until("getComputedStyle(document.documentElement).backgroundColor !== '" + light + "'")
	picture("viewer-dark-wide")
	do(chromedp.EmulateViewport(420, 800))
	until("window.innerWidth === 420 && document.documentElement.scrollWidth <= 420")
	picture("viewer-dark-narrow")

	mu.Lock()
	defer mu.Unlock()
	for _, e := range said {
		t.Errorf("the page says: %s", e)
	}
	for _, a := range asked {
		if strings.Contains(a, s.token) && !strings.Contains(a, "#") ||
			!strings.HasPrefix(a, "http://"+l.Addr().String()+"/") && !strings.HasPrefix(a, "data:") {
			t.Errorf("the page asks for %s", a)
		}
	}
}
