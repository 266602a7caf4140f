package cli

import (
	"bytes"
	"os"
	"testing"
	"time"

	"kernbench/lab"
)

// A pipe, a file and a buffer are no terminals: nothing may get into them.
func TestProgressIsSilentInAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, p := range []*progress{newProgress(w), newProgress(&b)} {
		p.from = p.from.Add(-time.Hour)
		p.report(lab.Progress{Phase: "simulate", Done: 1, Total: 2})
		p.done()
	}
	w.Close()
	if n, _ := r.Read(make([]byte, 1)); n > 0 || b.Len() > 0 {
		t.Error("a bar was drawn where no terminal is")
	}
}

// On a terminal it draws, once a run has taken a while.
func TestProgressDraws(t *testing.T) {
	var b bytes.Buffer
	p := &progress{w: &b, from: time.Now()}
	p.report(lab.Progress{Phase: "simulate", Done: 1, Total: 2})
	if b.Len() > 0 {
		t.Errorf("a run that has just begun drew %q", b.String())
	}
	p.from = p.from.Add(-time.Hour)
	p.report(lab.Progress{Phase: "simulate", Done: 1, Total: 2})
	if !bytes.Contains(b.Bytes(), []byte("simulate")) || !bytes.Contains(b.Bytes(), []byte("50%")) {
		t.Errorf("drew %q, want the phase and 50%%", b.String())
	}
	p.report(lab.Progress{Phase: "explain", Done: 0, Total: 0}) // nobody knows how long: a spinner
	p.done()
}
