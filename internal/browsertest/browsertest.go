// Package browsertest opens pages in chromium for tests. It has the flag -browser, without which
// such tests are skipped, and -pictures. A page fails its test if it writes an error or a warning
// to the console, throws, or breaks its policy. It also fails if it sends a request to another
// server.
//
// It may import chromedp only. Only tests import it.
package browsertest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var (
	on       = flag.Bool("browser", false, "draw pages in a real browser: .ci/run browser")
	pictures = flag.String("pictures", "", "`folder` for pictures of the pages that the tests draw")
)

const (
	limit    = 5 * time.Minute // of a test
	patience = time.Minute     // of Until
)

// Page is one page of a browser that a test has for itself.
type Page struct {
	t   testing.TB
	ctx context.Context
	own string

	mu       sync.Mutex
	found    []string
	expected []string
	secrets  []string
}

// Open starts chromium with an empty page. The test is skipped without -browser, and where chromium
// is missing. Requests of the page have to begin with own, such as "file://". The browser ends with
// the test.
func Open(t testing.TB, own string) *Page {
	t.Helper()
	p := open(t, own)
	t.Cleanup(func() {
		for _, f := range p.problems() {
			t.Error(f)
		}
	})
	return p
}

func open(t testing.TB, own string) *Page {
	t.Helper()
	if !*on {
		t.Skip("add -browser: this test starts chromium")
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
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	p := &Page{t: t, ctx: ctx, own: own}
	if err := chromedp.Listen(ctx, p.listen); err != nil {
		t.Fatal(err)
	}
	return p
}

// listen keeps what no page of kernbench does.
func (p *Page) listen(ev any) {
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		p.keep("the page throws: %s", text(e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" || e.Type == "assert" {
			p.keep("the page writes to the console: %s: %s", e.Type, text(e.Args))
		}
	case *log.EventEntryAdded: // of the browser: what a policy has refused, what could not be loaded
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			p.keep("the browser writes to the console: %s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !slices.ContainsFunc([]string{p.own, "data:", "blob:", "about:"},
			func(begin string) bool { return strings.HasPrefix(u, begin) }) {
			p.keep("the page sends a request to %s", u)
		}
		p.mu.Lock()
		secret := slices.ContainsFunc(p.secrets, func(s string) bool { return strings.Contains(e.Request.URL, s) })
		p.mu.Unlock()
		if secret {
			p.keep("the page sends a secret in the address %s", e.Request.URL)
		}
	case *network.EventWebSocketCreated:
		p.keep("the page opens a socket to %s", e.URL)
	}
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}

func (p *Page) keep(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found = append(p.found, fmt.Sprintf(format, args...))
}

// Expect allows what the browser writes to the console if it has these words. A page that never
// writes them fails too.
func (p *Page) Expect(words string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = append(p.expected, words)
}

// Secret forbids a text in the address of a request. The part after # is not sent.
func (p *Page) Secret(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.secrets = append(p.secrets, text)
}

// problems returns what was found and not expected, and what was expected and not found.
func (p *Page) problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	seen := map[string]bool{}
	for _, f := range p.found {
		i := slices.IndexFunc(p.expected, func(words string) bool { return strings.Contains(f, words) })
		if i < 0 {
			all = append(all, f)
			continue
		}
		seen[p.expected[i]] = true
	}
	for _, words := range p.expected {
		if !seen[words] {
			all = append(all, fmt.Sprintf("the console lacks %q", words))
		}
	}
	return all
}

// Do performs actions.
func (p *Page) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// Size sets the size of the window.
func (p *Page) Size(width, height int64) {
	p.t.Helper()
	p.Do(chromedp.EmulateViewport(width, height))
}

// Value evaluates an expression in a page.
func Value[T any](p *Page, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// Text evaluates an expression, and returns its value as text.
func (p *Page) Text(expression string) string {
	p.t.Helper()
	return Value[string](p, "String("+expression+")")
}

// Until waits until an expression is true.
func (p *Page) Until(expression string) {
	p.t.Helper()
	for begun := time.Now(); !Value[bool](p, "Boolean("+expression+")"); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > patience {
			p.t.Fatalf("%s is not true after %v; the page shows %s", expression, patience,
				p.Text("document.body.innerText.slice(0, 500)"))
		}
	}
}

// Picture writes a picture of the whole page to the folder of -pictures, if there is one.
func (p *Page) Picture(name string) {
	p.t.Helper()
	if *pictures == "" {
		return
	}
	data, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(*pictures, name+".png"), data, 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// Pixel returns the colour of a place of the window, such as #0072b2.
func (p *Page) Pixel(x, y float64) string {
	p.t.Helper()
	data, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		p.t.Fatal(err)
	}
	at := image.Pt(int(x), int(y))
	if !at.In(img.Bounds()) {
		p.t.Fatalf("%v is not in the window %v", at, img.Bounds())
	}
	r, g, b, _ := img.At(at.X, at.Y).RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
