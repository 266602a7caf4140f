package cli

import (
	"io"
	"os"
	"time"

	"kernbench/lab"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a bar on a terminal, and silence anywhere else. Short runs show none.
type progress struct {
	w     io.Writer // nil where there is no terminal
	from  time.Time
	phase string
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

func (p *progress) report(s lab.Progress) {
	if p.w == nil || time.Since(p.from) < patience {
		return
	}
	total := s.Total
	if total <= 0 {
		total = -1 // a spinner
	}
	if p.bar == nil || p.phase != s.Phase {
		p.done()
		p.phase = s.Phase
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(s.Phase), progressbar.OptionSetWidth(30),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true))
	}
	if p.bar.GetMax64() != total {
		p.bar.ChangeMax64(total)
	}
	p.bar.Set64(s.Done) // what a bar cannot show is no reason to stop a run
}

func (p *progress) done() {
	if p.bar != nil {
		p.bar.Clear()
		p.bar = nil
	}
}
