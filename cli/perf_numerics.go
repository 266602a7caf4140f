package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"kernbench/check/numerics"
	"kernbench/lab/perf"
	"kernbench/lab/view"
	"kernbench/report"
	"kernbench/unit"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// numericsFlags are the flags of perf for rounding errors.
type numericsFlags struct {
	on     bool
	inputs []string
	all    bool
}

func (n *numericsFlags) add(f *pflag.FlagSet) {
	var names []string
	for _, s := range numerics.Sets() {
		names = append(names, s.Name)
	}
	f.BoolVar(&n.on, "numerics", false,
		"measure rounding instead of time: error in ulp against exact sums, its bound, overflow, stagnation, and whether bits depend on ranks and chunks")
	f.Var(&listed[string]{to: &n.inputs, all: func() { n.all = true }, parse: anyName, kind: "NAME,...|all"},
		"inputs", "inputs of the ranks, with --numerics: "+strings.Join(names, ", ")+" (default "+names[0]+")")
}

// spec returns the spec of the flags of perf. Without flags for sizes it has one size.
func (n *numericsFlags) spec(cmd *cobra.Command, s perf.Spec) (perf.RoundingSpec, error) {
	if s.Bound {
		return perf.RoundingSpec{}, errors.New("--bound and --numerics: give one of them")
	}
	const usual = 64 * unit.KiB
	f := cmd.Flags()
	switch least, most := f.Changed("minbytes"), f.Changed("maxbytes"); {
	case !least && !most:
		s.Min, s.Max = usual, usual
	case !most:
		s.Max = s.Min
	case !least:
		s.Min = s.Max
	}
	return perf.RoundingSpec{Spec: s, Inputs: n.inputs, AllInputs: n.all}, nil
}

// numericsWriter prints rounding errors in one of the formats.
type numericsWriter interface {
	Begin(*perf.Rounding) error
	Row(*perf.Rounding, *perf.RoundingRow) error
	End(*perf.Rounding) error
}

func newNumericsWriter(w io.Writer, format string) numericsWriter {
	switch format {
	case "json":
		return report.NumericsJSON{W: w}
	case "csv":
		return &report.NumericsCSV{W: w}
	}
	return &report.NumericsTable{W: w}
}

// perfNumerics measures rounding errors and prints row by row, until it ends or is interrupted. If
// a page is requested, it completes its file.
func (a *app) perfNumerics(ctx context.Context, spec perf.RoundingSpec, w numericsWriter, to *destination) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	bar := newProgress(a.err)
	spec.Progress, spec.Base.Command = bar.report, a.commandLine()
	var found *perf.Rounding
	print := func(err error) {
		if err != nil {
			stop(reported{err}) // without output there is nothing to measure
		}
	}
	n, err := perf.Round(ctx, spec, func(n *perf.Rounding) {
		found = n
		print(w.Begin(n))
	}, func(r *perf.RoundingRow) {
		bar.done()
		if ctx.Err() == nil || !is[reported](context.Cause(ctx)) {
			print(w.Row(found, r))
		}
	})
	bar.done()
	if failed, ok := errors.AsType[reported](context.Cause(ctx)); ok {
		return failed.error
	}
	if n != nil {
		if perr := w.End(n); perr != nil {
			return perr
		}
		if perr := writePage(to, view.Rounding(n)); perr != nil {
			return perr
		}
	}
	if err != nil {
		return interrupted(ctx, err)
	}
	return numericsOutcome(ctx, n)
}

// numericsOutcome returns what determines the exit status. It is the highest status of the runs
// that did not end, else a result that is wrong or farther off than its bound. The table has
// already printed it.
func numericsOutcome(ctx context.Context, n *perf.Rounding) error {
	var err error
	status, looked, bad := ExitOK, false, false
	for i := range n.Rows {
		r := &n.Rows[i]
		looked, bad = looked || r.RoundingFound != nil || r.Err != nil, bad || r.Bad()
		if r.Err == nil {
			continue
		}
		if e := exitStatus(ctx, r.Err); e > status {
			err, status = reported{r.Err}, e
		}
	}
	switch {
	case !looked && len(n.Rows) == 0:
		return fmt.Errorf("nothing was examined: %s", n.Notes[len(n.Notes)-1])
	case !looked:
		return fmt.Errorf("nothing was examined: %s", n.Rows[0].Note)
	case err == nil && bad:
		return errWrong
	}
	return err
}
