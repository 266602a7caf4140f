package cli

import (
	"context"
	"errors"
	"slices"

	"kernbench/lab/compare"
	"kernbench/lab/plans"
	"kernbench/lab/run"
	"kernbench/plot/scene"
	"kernbench/report"

	"github.com/spf13/cobra"
)

func (a *app) compareCommand() *cobra.Command {
	var spec run.Spec
	var format string
	var figure plotFlag
	var elems numbersFlag
	cmd := &cobra.Command{
		Use:   "compare [ALGORITHM ALGORITHM...]",
		Short: "Time several algorithms, or one with each buffer_kind and backpressure",
		Long: `Run a bench once with each of the named algorithms. Without names, run it once for each buffer_kind
(the memory of the ring slots) with each backpressure (how a sender waits for a slot).

An argument can also be a file with a program of another tool (kernbench import --help). Its time
comes from the model of thread blocks, for a call with the same number of bytes.
` + exitCodes,
		Example: `  kernbench compare ring_allreduce_chunked window_allreduce_twophase --ranks 8 --n-elem 1024
  kernbench compare --algorithm ring_allreduce --ranks 8 --n-elem 1024
  kernbench compare ring_allreduce tree_allreduce --ranks 8 --n-elem 256,4096,65536 --plot compared.svg
  kernbench compare custom.xml ring_allreduce_chunked --topology dgx-h100 --ranks 8 --n-elem 65536`,
		RunE: func(cmd *cobra.Command, algorithms []string) error {
			if len(algorithms) == 1 {
				return errors.New("compare: name at least two algorithms")
			}
			if err := rejectFiles(true, algorithms...); err != nil {
				return err
			}
			if err := figure.begin(); err != nil {
				return err
			}
			defer figure.discard()
			bar := newProgress(a.err)
			spec.Progress, spec.Command = bar.report, a.commandLine()
			each := compare.Settings
			if slices.ContainsFunc(algorithms, plans.InPlaceOfAlgorithm) {
				each = func(ctx context.Context, s run.Spec, _ func(compare.Row)) ([]compare.Row, error) {
					return a.compareWithFiles(ctx, cmd, s, algorithms)
				}
			} else if len(algorithms) > 0 {
				each = func(ctx context.Context, s run.Spec, row func(compare.Row)) ([]compare.Row, error) {
					return compare.Algorithms(ctx, s, algorithms, row)
				}
			}
			rows, err := compare.Over(cmd.Context(), spec, elems,
				func(ctx context.Context, s run.Spec) ([]compare.Row, error) { return each(ctx, s, nil) })
			bar.done()
			if figure.wanted() && err == nil {
				err = compare.Bound(cmd.Context(), spec, rows)
			}
			if common := commonError(rows); common != nil {
				return common
			}
			if len(rows) > 0 {
				if perr := show(a, format, rows, report.Comparison); perr != nil {
					return perr
				}
				if perr := figure.write(func() *scene.Picture {
					return report.ComparisonFigure(rows, run.NewMadeBy(a.commandLine())).Picture()
				}); perr != nil {
					return perr
				}
			}
			if err != nil {
				return interrupted(cmd.Context(), err)
			}
			return worst(cmd.Context(), rows)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	machineFlags(f, &spec)
	benchFlag(f, &spec)
	workFlags(f, &spec)
	n := f.Lookup("n-elem")
	n.Value, n.Usage = &elems,
		"elements per rank, or several numbers in turn, such as 256,4096,65536 (default: from the bench or ccl.yaml)"
	figure.add(f, "plot", "draw time, algbw and busbw, with the bound, over sizes if there are several,")
	limitFlags(f, &spec.Limits)
	verifyFlag(f, &spec)
	fidelityFlag(f, &spec)
	formatFlag(f, &format)
	return cmd
}

// commonError returns the error that prevented every run: a mistake of the command line, which is
// printed once and not in each row.
func commonError(rows []compare.Row) error {
	if len(rows) == 0 || rows[0].Error == "" {
		return nil
	}
	for _, r := range rows {
		if r.Error != rows[0].Error || r.Result != nil && r.Result.WorldSize > 0 {
			return nil
		}
	}
	return rows[0].Err
}

// worst returns what determines the exit status of a table: the highest status of the runs that did
// not end, else a wrong result. The table has already printed it.
func worst(ctx context.Context, rows []compare.Row) error {
	var err error
	status := ExitOK
	for _, r := range rows {
		e := r.Err
		if e == nil && r.Program != nil && !r.Program.OK || e == nil && r.Program == nil && !r.Result.OK() {
			e = errWrong
		}
		if e == nil {
			continue
		}
		if s := exitStatus(ctx, e); s > status {
			err, status = reported{e}, s
		}
	}
	return err
}
