package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"kernbench/frontend"
	"kernbench/frontend/plan"
	"kernbench/frontend/timing"
	"kernbench/lab/perf"
	"kernbench/lab/plans"
	"kernbench/lab/run"
	"kernbench/report"
	"kernbench/unit"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// planFlags are the flags of a verb that describe the call of a program of another tool.
type planFlags struct {
	bytes   unit.Bytes
	inPlace bool
	depth   int
	set     *pflag.FlagSet
}

func (p *planFlags) add(f *pflag.FlagSet) {
	p.set = f
	f.BoolVar(&p.inPlace, "in-place", false, "call a program of another tool in place (default: out of place if the program allows it)")
	f.Var((*count)(&p.depth), "depth", "messages that a channel of a program of another tool holds (default: by protocol)")
}

// addSize also adds the size of one call.
func (p *planFlags) addSize(f *pflag.FlagSet) {
	f.Var(&size{&p.bytes}, "bytes", "`SIZE` of a call of a program of another tool: bytes of the input or output of a rank, whichever is larger")
	p.add(f)
}

var errNotToolProgram = errors.New("--bytes, --in-place and --depth: these flags are for a program of another tool (--program); a bench takes --n-elem")

// rejectFiles refuses files where an algorithm is expected. Its error names the command for
// programs of kernbench. If toolPrograms is set, programs of other tools may stand there.
func rejectFiles(toolPrograms bool, names ...string) error {
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil || info.IsDir() || !strings.ContainsAny(name, "./") || toolPrograms && plans.InPlaceOfAlgorithm(name) {
			continue
		}
		return fmt.Errorf("%s: found a file, want the name of an algorithm; kernbench run --program %[1]s runs a program of kernbench", name)
	}
	return nil
}

// rejectToolPrograms refuses algorithms that are programs of other tools. Its error names the
// command for them.
func rejectToolPrograms(instead string, names ...string) error {
	for _, name := range names {
		if plans.InPlaceOfAlgorithm(name) {
			return fmt.Errorf("%s is a program of another tool: kernbench %s", name, fmt.Sprintf(instead, name))
		}
	}
	return nil
}

// spec returns the spec of a program. It refuses flags of the verb that would have no effect.
func (p *planFlags) spec(a *app, file, topology string, sets []string, others ...string) (plans.Spec, error) {
	s := plans.Spec{File: file, Topology: topology, Sets: sets, Command: a.commandLine()}
	if p.set.Changed("in-place") {
		s.InPlace = &p.inPlace
	}
	s.Options.Depth = p.depth
	known := append([]string{"program", "topology", "set", "format", "in-place", "depth"}, others...)
	var err error
	p.set.Visit(func(f *pflag.Flag) {
		if err == nil && !slices.Contains(known, f.Name) {
			err = fmt.Errorf("--%s: %s is a program of another tool, and this flag would have no effect", f.Name, file)
		}
	})
	return s, err
}

// load reads a program, and the size of its call from the flags or the files.
func (p *planFlags) load(s plans.Spec) (*plans.Loaded, unit.Bytes, error) {
	l, err := plans.Load(s)
	if err != nil {
		return nil, 0, err
	}
	if only, is := l.Only(); is && !p.set.Changed("bytes") {
		return l, only, nil
	}
	return l, p.bytes, nil
}

// runPlan times one call of a program of another tool.
func (a *app) runPlan(ctx context.Context, s plans.Spec, call *planFlags, shown *pageFlags, format string) error {
	to, err := shown.begin()
	if err != nil {
		return err
	}
	defer to.discard()
	l, bytes, err := call.load(s)
	if err != nil {
		return err
	}
	r, err := l.Time(ctx, bytes)
	if err != nil {
		return interrupted(ctx, err)
	}
	if err := show(a, format, r, report.Plan); err != nil {
		return err
	}
	if err := writeProgram(to, l.Verdict, r); err != nil {
		return err
	}
	return verdictError([]*frontend.Verdict{l.Verdict})
}

// explainPlan explains the time of a call of a program of another tool.
func (a *app) explainPlan(ctx context.Context, s plans.Spec, x *explaining) error {
	to, err := x.page.begin()
	if err != nil {
		return err
	}
	defer to.discard()
	s.Detail = &timing.Detail{Rows: x.top, Rank: plan.None}
	if x.rank.rank != nil {
		s.Detail.Rank = *x.rank.rank
	}
	l, bytes, err := x.call.load(s)
	if err != nil {
		return err
	}
	r, err := l.Time(ctx, bytes)
	if err != nil {
		return interrupted(ctx, err)
	}
	if x.whatIf != "" && r.Deadlock == nil {
		if r.Changes, err = l.WhatIf(ctx, r, x.changes().Sets); err != nil {
			return interrupted(ctx, fmt.Errorf("--what-if: %w", err))
		}
	}
	if err := show(a, x.format, r, report.ExplainedPlan(x.top)); err != nil {
		return err
	}
	if err := writeProgram(to, l.Verdict, r); err != nil {
		return err
	}
	return verdictError([]*frontend.Verdict{l.Verdict})
}

// perfPlan times a program of another tool for several sizes of call.
func (a *app) perfPlan(ctx context.Context, s plans.Spec, sweep perf.Spec, shown *pageFlags, format string) error {
	to, err := shown.begin()
	if err != nil {
		return err
	}
	defer to.discard()
	l, err := plans.Load(s)
	if err != nil {
		return err
	}
	var sizes []unit.Bytes
	for b := max(sweep.Min, 1); b <= sweep.Max; {
		sizes = append(sizes, b)
		next := b*unit.Bytes(max(sweep.Factor, 0)) + sweep.Step
		if next <= b {
			break
		}
		b = next
	}
	if len(sizes) == 0 {
		return fmt.Errorf("-b %v is more than -e %v", sweep.Min, sweep.Max)
	}
	bar := newProgress(a.err)
	rows := []*plans.Result{}
	left, first := 0, error(nil) // sizes that the program does not support
	for i, b := range sizes {
		if err = ctx.Err(); err != nil {
			break
		}
		bar.report(run.Progress{Phase: "simulate", Done: int64(i), Total: int64(len(sizes))})
		r, terr := l.Time(ctx, b)
		if no, is := errors.AsType[*plans.SizeError](terr); is {
			if left++; left == 1 {
				first = no
			}
			continue
		}
		if err = terr; err != nil {
			break
		}
		rows = append(rows, r)
	}
	bar.done()
	if err == nil && len(rows) == 0 {
		return first
	}
	text := report.PlanSweep
	if format == "csv" {
		text = report.PlanCSV
	}
	if perr := show(a, format, rows, text); perr != nil {
		return perr
	}
	if err != nil {
		return interrupted(ctx, err)
	}
	if warning := l.Crowded(); warning != "" {
		fmt.Fprintf(a.err, "warning: %s\n", warning)
	}
	if left > 0 {
		fmt.Fprintf(a.err, "%d sizes are left out: %v\n", left, first)
	}
	if err := writeProgram(to, l.Verdict, rows...); err != nil {
		return err
	}
	return verdictError([]*frontend.Verdict{l.Verdict})
}

// testPrograms judges programs of other tools, as import does. It uses only the machine's number of
// multiprocessors.
func (a *app) testPrograms(cmd *cobra.Command, names []string, topology string, sets []string, format string) error {
	known := []string{"program", "topology", "set", "format"}
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && !slices.Contains(known, f.Name) {
			err = fmt.Errorf("--%s and --program: a program of another tool is judged on symbols, and this flag would have no effect", f.Name)
		}
	})
	if err != nil {
		return err
	}
	var o frontend.Options
	if o.SMs, err = plans.Multiprocessors(topology, sets); err != nil {
		return err
	}
	return a.judgePrograms(cmd.Context(), names, o, format, false)
}
