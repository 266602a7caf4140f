package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"kernbench/lab/run"
	"kernbench/plot/scene"
	"kernbench/report"
	"kernbench/selfbench"

	"github.com/spf13/cobra"
)

// Default limits of time: of a row, and of an algorithm whose growth is measured.
const (
	limitOfRow    = 5 * time.Minute
	limitOfGrowth = 10 * time.Second
)

func (a *app) selfbenchCommand() *cobra.Command {
	spec := selfbench.Spec{Runs: 5, Limit: limitOfRow}
	var format, save, compare string
	var list, growth bool
	var figure plotFlag
	cmd := &cobra.Command{
		Use:   "selfbench",
		Short: "Measure the speed and memory use of kernbench itself",
		Long: `Measure how fast kernbench is on this computer: commands from start to exit, the event queue, a
message, building a machine, the memory of a PE. Each row is measured --runs times. The table has the
median and the target for two cores. A missed target is not an error.

With --growth, measure how the cost to simulate each algorithm grows with the number of ranks.
` + exitCodes,
		Example: `  kernbench selfbench --short
  kernbench selfbench --only 'ring-256*,start' --runs 3
  kernbench selfbench --save before.json
  kernbench selfbench --compare before.json
  kernbench selfbench --growth --only 'ring_*' --format markdown`,
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			spec.Command, spec.Version = a.commandLine(), run.Version()
			bar := newProgress(a.err)
			spec.Progress = func(p selfbench.Progress) {
				bar.report(run.Progress{Phase: p.Name, Done: int64(p.Done), Total: int64(p.Total)})
			}
			if list && figure.wanted() {
				return errors.New("--list measures nothing: leave --plot out")
			}
			if err := figure.begin(); err != nil {
				return err
			}
			defer figure.discard()
			switch {
			case growth && (list || save != "" || compare != ""):
				return errors.New("--growth has a table of its own: --list, --save and --compare are for the rows without it")
			case list:
				return show(a, format, selfbench.Names(spec.Short), report.SpeedRows)
			case growth:
				if !cmd.Flags().Changed("limit") {
					spec.Limit = limitOfGrowth
				}
				if !cmd.Flags().Changed("runs") {
					spec.Runs = 1
				}
				g, err := selfbench.Grow(cmd.Context(), spec)
				bar.done()
				if g != nil && len(g.Rows) > 0 {
					if perr := marked(a, format, g, report.Growth, report.GrowthMarkdown); perr != nil {
						return perr
					}
					if perr := figure.write(func() *scene.Picture { return report.GrowthFigure(g).Picture() }); perr != nil {
						return perr
					}
				}
				return interrupted(cmd.Context(), err)
			}
			return a.selfbench(cmd.Context(), spec, bar, format, save, compare, &figure)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Var(&listed[string]{to: &spec.Only, all: func() {}, parse: anyName, kind: "PATTERN,...|all"}, "only",
		"rows, by name or pattern such as 'ring-*' (--list); with --growth, algorithms")
	f.BoolVar(&spec.Short, "short", false, "use small sizes; takes seconds")
	f.Var((*count)(&spec.Runs), "runs", "runs of each row; the median counts (with --growth 1 run, and the minimum)")
	f.DurationVar(&spec.Limit, "limit", spec.Limit,
		"limit of `TIME` for all runs of a row (with --growth 10s of CPU time for all sizes of an algorithm)")
	f.BoolVar(&list, "list", false, "list the rows and their targets, and measure nothing")
	f.BoolVar(&growth, "growth", false,
		"fit exponents of time, messages and events of each algorithm over the number of ranks")
	f.StringVar(&save, "save", "", "also write the table to a `FILE`, for --compare")
	f.StringVar(&compare, "compare", "", "print the figures of a `FILE` from --save too, with the ratios")
	figure.add(f, "plot", "draw the medians, or with --growth the curves,")
	f.Var(newWord(&format, "text", "FORMAT", "text", "json", "markdown"), "format", "text, json or markdown")
	return cmd
}

// benchCommand returns the old name of the verb.
func (a *app) benchCommand() *cobra.Command {
	return &cobra.Command{
		Use: "bench", Hidden: true, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("bench is now kernbench selfbench, which measures kernbench itself; a bench is a host program: kernbench run --bench NAME")
		},
	}
}

// marked prints in one of three formats.
func marked[T any](a *app, format string, v T, text, markdown func(io.Writer, T) error) error {
	if format == "markdown" {
		text = markdown
	}
	return show(a, format, v, text)
}

// selfbench measures, prints each result when it is finished, and stores a complete table.
func (a *app) selfbench(ctx context.Context, spec selfbench.Spec, bar *progress, format, save, compare string, figure *plotFlag) error {
	var old *selfbench.Table
	if compare != "" {
		var err error
		if old, err = selfbench.Load(compare); err != nil {
			return err
		}
	}
	to, err := output("--save", save)
	if err != nil {
		return err
	}
	defer to.discard()
	t, err := selfbench.Measure(ctx, spec)
	bar.done()
	if t == nil {
		return interrupted(ctx, err)
	}
	if err == nil {
		if err := to.write(func(w io.Writer) error { return report.JSON(w, t) }); err != nil {
			return err
		}
	}
	if old != nil {
		t.Compare(compare, old)
	}
	if len(t.Rows) > 0 {
		if perr := marked(a, format, t, report.Speed, report.SpeedMarkdown); perr != nil {
			return perr
		}
		if perr := figure.write(func() *scene.Picture { return report.SpeedFigure(t).Picture() }); perr != nil {
			return perr
		}
	}
	if err != nil {
		if save != "" {
			err = fmt.Errorf("%w; %s is not written: the rest of its table is missing", err, save)
		}
		return interrupted(ctx, err)
	}
	return t.Err()
}
