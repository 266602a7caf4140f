package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"kernbench/lab/run"

	"golang.org/x/term"
)

// progress shows a bar on a terminal, and nothing elsewhere. Short runs show no bar.
type progress struct {
	w     io.Writer // nil where there is no terminal
	width int       // characters of a line of the terminal; 0: unknown
	from  time.Time
	phase string
	total int64
	bar   *bar
}

// patience is the time of a run before the bar appears.
const patience = 400 * time.Millisecond

func newProgress(w io.Writer) *progress {
	p := &progress{from: time.Now()}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.w = w
		p.width, _, _ = term.GetSize(int(f.Fd()))
	}
	return p
}

func (p *progress) report(s run.Progress) {
	now := time.Now()
	if p.w == nil || now.Sub(p.from) < patience {
		return
	}
	// Ranks usually end together. Until the first rank has ended, a bar would show nothing, and
	// only the simulated time moves.
	total, text := max(0, s.Total), s.Phase
	if s.Simulated > 0 && s.Done == 0 {
		total, text = 0, fmt.Sprintf("%s: at %.1f µs", s.Phase, s.Simulated.Ns()/1e3)
	}
	if p.bar == nil || p.phase != s.Phase || p.total != total {
		p.done()
		p.phase, p.total = s.Phase, total
		p.bar = &bar{w: p.w, width: p.width, total: total, from: now}
	}
	p.bar.draw(text, s.Done, now)
}

func (p *progress) done() {
	if p.bar != nil {
		p.bar.clear()
		p.bar = nil
	}
}
