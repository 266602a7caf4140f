package race

import (
	"context"
	"strings"

	"kernbench/exec/mock"
	"kernbench/tl"
)

// Run is mock.Run for kernels over symmetric memory: a hazard ends the test too. What it
// returns lies in the ranks' shards afterwards.
func Run(t mock.TB, k tl.Kernel, cfg mock.Config) [][]float64 {
	t.Helper()
	out, rep, err := Try(k, cfg)
	switch {
	case err != nil:
		t.Fatalf("%v", err)
	case rep.Total > 0:
		var text strings.Builder
		for i := range rep.Hazards {
			text.WriteString("\n" + rep.Hazards[i].String())
		}
		t.Fatalf("%d hazards:%s", rep.Total, text.String())
	case rep.Unsettled:
		t.Fatalf("no hazards found, but the program could not be judged to its end: its notifications come in ever other orders")
	}
	return out
}

// Try runs a kernel on the mock executor, as often as the judge asks for, and returns what
// lies in the ranks' shards and the last report. The configuration's History is not used. An
// error is a fault of the kernel; the report is then on what came before.
func Try(k tl.Kernel, cfg mock.Config) ([][]float64, *Report, error) {
	d := New(Options{Order: cfg.Order})
	for {
		cfg.History = d.Log()
		o, err := mock.Observe(context.Background(), k, cfg)
		rep := d.Report()
		if err != nil {
			return nil, rep, err
		}
		if !rep.Again {
			return o.Outputs, rep, nil
		}
		d = d.Next()
	}
}
