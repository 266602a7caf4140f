package web

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kernbench/internal/browsertest"
	"kernbench/lab/explain"
	"kernbench/lab/run"
	"kernbench/lab/view"
	"kernbench/web/page"

	"github.com/chromedp/chromedp"
)

// TestViewer uses the viewer as a person does. It looks at a run, compares two, reads an error at
// the field, starts a run, and cancels one.
func TestViewer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := browsertest.Open(t, "http://"+l.Addr().String()+"/")
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
	served, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(served, l, "127.0.0.1:0") }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()

	p.Secret(s.token)
	p.Expect("422") // the form has mistakes
	p.Size(1300, 900)
	p.Do(chromedp.Navigate(s.Address(l.Addr())))
	p.Until("document.body.dataset.ready === 'yes' && document.body.dataset.shown === '0/ring_allreduce.html'")
	if hash := p.Text("location.href"); strings.Contains(hash, s.token) {
		t.Errorf("the address keeps the token: %s", hash)
	}
	// Two runs are compared.
	p.Do(chromedp.Click(`input[value="0/swing_allreduce.html"]`))
	p.Until("document.body.dataset.shown === '0/ring_allreduce.html 0/swing_allreduce.html' && document.querySelector('#difference .change')")
	if change := p.Text("document.querySelector('.change').textContent"); !strings.Contains(change, "less") {
		t.Errorf("the difference is %q", change)
	}
	p.Picture("viewer-light-wide")

	// A mistake is shown at its field.
	set := func(selector, value string) {
		t.Helper()
		p.Text(fmt.Sprintf("(() => { const e = document.querySelector(%q); e.value = %q; e.dispatchEvent(new Event('input', { bubbles: true })); return e.value; })()",
			selector, value))
	}
	p.Text("(() => { document.querySelectorAll('#panel details').forEach((d) => { d.open = true; }); return ''; })()")
	set("#field-algorithm", "ring_allreduce")
	set("#field-topology", "ahbm-cube")
	set("#field-ranks", "four")
	p.Do(chromedp.Click("button.add"))
	set(".setting .key", "defaults.n_slots")
	set(".setting .value", "many")
	p.Do(chromedp.Click("button.go"))
	p.Until(`document.querySelector('.wrong[data-field="ranks"]').textContent`)
	if wrong := p.Text(`document.querySelector('.wrong[data-field="ranks"]').textContent`); !strings.Contains(wrong,
		"want a number from 1 to 1024") {
		t.Errorf("the field says %q", wrong)
	}
	set("#field-ranks", "4")
	p.Do(chromedp.Click("button.go"))
	p.Until("document.querySelector('.setting .wrong').textContent")
	if doc := p.Text("document.querySelector('.setting .doc').textContent"); !strings.Contains(doc, "default") {
		t.Errorf("the schema's words are %q", doc)
	}
	p.Picture("form-light-wide")

	// A run with changed settings is started, and shown next to the others.
	set(".setting .value", "2")
	set("#field-n_elem", "4096")
	p.Do(chromedp.Click("button.go"))
	p.Until("document.querySelector('.newrun').dataset.state === 'done' && document.body.dataset.shown.includes('new-1')")
	if n := p.Text("kernbench.document.runs.length"); n != "3" {
		t.Errorf("%s runs are compared", n)
	}

	// Another one is cancelled.
	set("#field-topology", "")
	set("#field-ranks", "256")
	set("#field-n_elem", "1000000")
	p.Text("document.querySelector('.setting').remove()")
	p.Do(chromedp.Click("button.go"))
	p.Until("!document.querySelector('button.cancel').hidden && document.querySelector('.newrun').dataset.state === 'running'")
	p.Do(chromedp.Click("button.cancel"))
	p.Until("document.querySelector('.newrun').dataset.state === 'cancelled'")

	// Dark, then narrow: nothing is cut off.
	light := p.Text("getComputedStyle(document.documentElement).backgroundColor")
	p.Do(chromedp.Click("button.theme"))
	p.Until("getComputedStyle(document.documentElement).backgroundColor !== '" + light + "'")
	p.Picture("viewer-dark-wide")
	p.Size(420, 800)
	p.Until("window.innerWidth === 420 && document.documentElement.scrollWidth <= 420")
	p.Picture("viewer-dark-narrow")

}
