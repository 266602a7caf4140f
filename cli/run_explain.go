package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"kernbench/fault"
	"kernbench/lab/explain"
	"kernbench/lab/run"
	"kernbench/record/trace"
	"kernbench/report"

	"github.com/spf13/pflag"
)

// explainFlag adds the flag that explains the time of a run.
type explainFlag struct{ on bool }

func (e *explainFlag) add(f *pflag.FlagSet) {
	f.BoolVar(&e.on, "explain", false, "explain the simulated time, by a second simulation (see kernbench explain)")
}

// explainedRows is the number of rows of each table when a run is explained after its result.
const explainedRows = 5

// runExplained performs a run and explains its time. It prints both, or the result only, and writes
// a page if one is requested.
func (a *app) runExplained(ctx context.Context, spec run.Spec, format string, search time.Duration, print bool, shown *pageFlags) error {
	if spec.Schedules > 0 || spec.Schedule > 0 {
		return errors.New("--explain and --report: delays of a random schedule cannot be explained: leave --seeds and --schedule out")
	}
	to, err := shown.begin()
	if err != nil {
		return err
	}
	defer to.discard()
	bar := newProgress(a.err)
	spec.Progress, spec.Command = bar.report, a.commandLine()
	first := spec
	first.CCLTrace, first.Pointers, first.Output, first.VerifyData = nil, nil, nil, false
	if !trace.Annotates(spec.TraceFile) { // otherwise the trace has a track of the critical path
		first.TraceFile = ""
	}
	pictured, r, _, err := shown.observe(ctx, explain.Spec{Run: first}, "")
	bar.done()
	if err != nil && !fault.Is(err) {
		return interrupted(ctx, err)
	}
	if r == nil { // a fault, which the report of the run explains
		if err := a.writeRuns(to, run.NewMadeBy(""), pictured); err != nil {
			return err
		}
		return a.run(ctx, spec, format, search)
	}
	if first.TraceFile != "" {
		spec.TraceFile = "" // it is already written
	}
	res, err := run.Run(ctx, spec)
	bar.done()
	if res != nil && pictured != nil && ctx.Err() == nil {
		pictured.SetResult(res)
		err = errors.Join(err, a.writeRuns(to, r.MadeBy, pictured))
	}
	if err != nil || !res.OK() {
		if res != nil && (err == nil || res.Launches > 0 || fault.Is(err)) {
			err = errors.Join(err, show(a, format, res, report.Text))
		}
		if err == nil {
			return errWrong
		}
		return interrupted(ctx, err)
	}
	if !print {
		return show(a, format, res, report.Text)
	}
	return show(a, format, report.Explained{Result: res, Explanation: r}, func(w io.Writer, both report.Explained) error {
		if err := report.Text(w, both.Result); err != nil {
			return err
		}
		fmt.Fprintln(w)
		return report.Explain(explainedRows)(w, both.Explanation)
	})
}
