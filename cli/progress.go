package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"kernbench/lab/run"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a bar on a terminal, and silence anywhere else. Short runs show none.
type progress struct {
	w     io.Writer // nil where there is no terminal
	from  time.Time
	phase string
	total int64
	bar   *progressbar.ProgressBar
}

// patience is how long a run may take before it shows that it is alive.
const patience = 400 * time.Millisecond

func newProgress(w io.Writer) *progress {
	p := &progress{from: time.Now()}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.w = w
	}
	return p
}

func (p *progress) report(s run.Progress) {
	if p.w == nil || time.Since(p.from) < patience {
		return
	}
	// Ranks end together as a rule: until the first has, a bar would say nothing for all of
	// the run, and only the simulated time moves.
	total, text := s.Total, s.Phase
	if s.Simulated > 0 && s.Done == 0 {
		total, text = 0, fmt.Sprintf("%s: at %.1f µs", s.Phase, s.Simulated.Ns()/1e3)
	}
	if total <= 0 {
		total = -1 // a spinner
	}
	if p.bar == nil || p.phase != s.Phase || p.total != total {
		p.done()
		p.phase, p.total = s.Phase, total
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(text), progressbar.OptionSetWidth(30),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true),
			progressbar.OptionSetSpinnerChangeInterval(0)) // else a spinner draws from a goroutine of its own
	}
	if total < 0 {
		p.bar.Describe(text)
	}
	p.bar.Set64(s.Done) // what a bar cannot show is no reason to stop a run
}

func (p *progress) done() {
	if p.bar != nil {
		p.bar.Clear()
		p.bar = nil
	}
}
