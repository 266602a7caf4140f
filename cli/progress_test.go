package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"kernbench/lab/run"
	"kernbench/unit"
)

// A pipe, a file and a buffer are no terminals, and get no bar.
func TestProgressIsSilentInAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, p := range []*progress{newProgress(w), newProgress(&b)} {
		p.from = p.from.Add(-time.Hour)
		p.report(run.Progress{Phase: "simulate", Done: 1, Total: 2})
		p.done()
	}
	w.Close()
	if n, _ := r.Read(make([]byte, 1)); n > 0 || b.Len() > 0 {
		t.Error("a bar was drawn where no terminal is")
	}
}

// On a terminal the bar appears after some time.
func TestProgressDraws(t *testing.T) {
	var b bytes.Buffer
	p := &progress{w: &b, from: time.Now()}
	p.report(run.Progress{Phase: "simulate", Done: 1, Total: 2})
	if b.Len() > 0 {
		t.Errorf("a run that has just begun drew %q", b.String())
	}
	p.from = p.from.Add(-time.Hour)
	p.report(run.Progress{Phase: "simulate", Done: 1, Total: 2})
	if !bytes.Contains(b.Bytes(), []byte("simulate")) || !bytes.Contains(b.Bytes(), []byte("50%")) {
		t.Errorf("drew %q, want the phase and 50%%", b.String())
	}
	p.report(run.Progress{Phase: "explain", Done: 0, Total: 0}) // the total is not known: a spinner
	p.done()
}

// In a ring all ranks end at nearly the same time. Until then the simulated time must move.
func TestProgressMovesBeforeRanksEnd(t *testing.T) {
	var b bytes.Buffer
	p := &progress{w: &b, from: time.Now().Add(-time.Hour)}
	p.report(run.Progress{Phase: "simulate", Total: 8, Simulated: 1500 * unit.Nanosecond})
	bar := p.bar
	for _, c := range []struct {
		done int64
		at   unit.Time
		want string
		same bool // the bar does not change, and is drawn once
	}{
		{0, 2500 * unit.Nanosecond, "simulate: at 2.5 µs", true},
		{2, 3500 * unit.Nanosecond, "25%", false},
	} {
		time.Sleep(110 * time.Millisecond) // longer than the bar waits between two pictures
		b.Reset()
		p.report(run.Progress{Phase: "simulate", Done: c.done, Total: 8, Simulated: c.at})
		if !strings.Contains(b.String(), c.want) || (p.bar == bar) != c.same {
			t.Errorf("drew %q, want %q", &b, c.want)
		}
	}
	p.done()
}
