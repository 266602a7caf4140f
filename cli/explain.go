package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kernbench/fault"
	"kernbench/lab/explain"
	"kernbench/lab/plans"
	"kernbench/lab/run"
	"kernbench/report"
	"kernbench/unit"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// explaining holds the flags of an explanation.
type explaining struct {
	spec    explain.Spec
	top     int
	rank    rankFlag
	between between
	whatIf  string // "list", KEY=VALUE, or "" without the flag
	sets    []string
	against string
	files   []string

	tolerance tolerance
	call      planFlags // of a program of another tool
	format    string
	page      pageFlags
}

// aList is the value of --what-if if none is given. The help does not show it.
const aList = "list"

func (a *app) explainCommand() *cobra.Command {
	var x explaining
	var flagErr error
	cmd := &cobra.Command{
		Use:   "explain [BEFORE.json AFTER.json]",
		Short: "Explain where each picosecond of a run went",
		Long: `Explain where the simulated time of a run went. The critical path leads back from the end of the
run. Each of its picoseconds has one operation of one rank, one resource and one reason; together
they add up to the simulated time. docs/explain.md describes the reasons.

With two files from --format json, compare these two runs instead. --against runs a second time with
other flags, and compares.
` + exitCodes,
		Example: `  kernbench explain --algorithm ring_allreduce --ranks 8 --n-elem 65536
  kernbench explain --topology dgx-h100 --algorithm ring_allreduce_chunked --rank 3 --top 20
  kernbench explain --between 2us,5us --format json
  kernbench explain --algorithm ring_allreduce --ranks 8 --trace ring.pftrace
  kernbench explain --algorithm ring_allreduce --ranks 8 --what-if
  kernbench explain --algorithm ring_allreduce --ranks 8 --timeline ranks.svg --heat-map links.svg
  kernbench explain --algorithm swing_allreduce --ranks 8 --against "--algorithm ring_allreduce" --tolerance 5%`,
		Args: x.arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case flagErr != nil:
				return flagErr
			case (x.page.timeline.wanted() || x.page.heat.wanted()) && (x.against != "" || len(x.files) > 0):
				return errors.New("--timeline and --heat-map draw one run: leave them out of a comparison")
			case x.spec.Run.TraceFile != "" && (x.against != "" || len(x.files) > 0):
				return errors.New("--trace is for one run: leave it out of a comparison")
			}
			if err := errors.Join(checkTrace(&x.spec.Run), x.page.check()); err != nil {
				return err
			}
			if err := rejectToolPrograms("explain --program %s", x.spec.Run.Algorithm); err != nil {
				return err
			}
			if file := x.spec.Run.Program; file != "" && plans.Foreign(file) {
				s, err := x.call.spec(a, file, x.spec.Run.Topology, x.spec.Run.Sets, "bytes", "top", "rank", "what-if", "report")
				if err != nil {
					return err
				}
				return a.explainPlan(cmd.Context(), s, &x)
			}
			switch {
			case x.against != "":
				return a.compareWith(cmd, &x)
			case len(x.files) > 0:
				return a.compareFiles(&x)
			case x.tolerance.percent != nil:
				return errors.New("--tolerance is for two runs: name two files, or --against \"FLAGS\"")
			}
			if f := cmd.Flags(); f.Changed("bytes") || f.Changed("in-place") || f.Changed("depth") {
				return errNotToolProgram
			}
			return a.explain(cmd.Context(), &x)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	flagErr = x.flags(f)
	benchHelp(cmd, &x.spec.Run)
	return cmd
}

// flags returns all flags of the verb.
func (x *explaining) flags(f *pflag.FlagSet) error {
	x.call = planFlags{bytes: unit.MiB}
	machineFlags(f, &x.spec.Run)
	benchFlag(f, &x.spec.Run)
	workFlags(f, &x.spec.Run)
	f.StringVar(&x.spec.Run.Program, "program", "",
		"explain the program in `FILE`, also of another tool (instead of --bench and --algorithm)")
	x.call.addSize(f)
	f.VarP((*deviceList)(&x.spec.Run.Devices), "device", "d",
		"PEs of the ranks, by their numbers in the machine's rank order: 0-3 or 0,2,5-7 (instead of --ranks)")
	platformFlag(f, &x.spec.Run, "p")
	fidelityFlag(f, &x.spec.Run)
	limitFlags(f, &x.spec.Run.Limits)
	x.add(f)
	traceFlags(f, &x.spec.Run)
	f.StringVar(&x.against, "against", "", "compare with the same run with these `FLAGS` added, such as \"--set defaults.n_slots=2\"")
	f.Var(&x.tolerance, "tolerance", "exit with 1 if the run is slower than the other one by more than this, such as 5%")
	formatFlag(f, &x.format)
	x.page.add(f)
	x.page.addWindow(f)
	x.page.addFigures(f)
	return optionFlags(f, &x.spec.Run)
}

// add adds the flags that select the part of a run to explain.
func (x *explaining) add(f *pflag.FlagSet) {
	x.top = 10
	f.Var((*count)(&x.top), "top", "number of rows of each table")
	f.Var(&x.rank, "rank", "explain when this rank ended, instead of the whole run")
	f.StringVar(&x.whatIf, "what-if", "",
		"simulate again with one change at a time: changes derived from the critical path, or `KEY=VALUE`")
	f.Lookup("what-if").NoOptDefVal = aList
	f.Var(&x.between, "between", "explain this part of the simulated time only: `T1,T2` such as 2us,5us")
}

// explain performs a run and prints where its time went.
func (a *app) explain(ctx context.Context, x *explaining) error {
	to, err := x.page.begin()
	if err != nil {
		return err
	}
	defer to.discard()
	defer x.page.discardFigures()
	if err := x.page.beginFigures(); err != nil {
		return err
	}
	s := x.spec
	s.Rank, s.From, s.Until = x.rank.rank, x.between.from, x.between.until
	bar := newProgress(a.err)
	s.Run.Progress, s.Run.Command = bar.report, a.commandLine()
	w := x.changes()
	if x.whatIf != "" {
		if err := w.Check(s.Run); err != nil {
			return err
		}
	}
	pictured, r, res, err := x.page.observe(ctx, s, "")
	if pictured != nil && r == nil { // a fault
		err = errors.Join(err, a.writeRuns(to, res.MadeBy, pictured))
	}
	if err == nil && x.whatIf != "" {
		w.Progress = bar.report
		r.Changes, err = r.WhatIf(ctx, w)
		if err != nil {
			bar.done()
			return interrupted(ctx, errors.Join(show(a, x.format, r, report.Explain(x.top)), err))
		}
	}
	bar.done()
	if err == nil && pictured != nil {
		pictured.Changes = r.Changes
		err = errors.Join(a.writeRuns(to, r.MadeBy, pictured), x.page.writeFigures(pictured, r.MadeBy, r.Machine))
	}
	if err != nil {
		if res != nil && fault.Is(err) {
			err = errors.Join(err, errors.New("a run that ends with a fault has no critical path: kernbench run prints the details"))
		}
		return interrupted(ctx, err)
	}
	if err := show(a, x.format, r, report.Explain(x.top)); err != nil {
		return err
	}
	if !resultOK(res) {
		return errWrong
	}
	return nil
}

// arguments accepts settings after --what-if, whose value is optional, or two files.
func (x *explaining) arguments(cmd *cobra.Command, args []string) error {
	x.sets = nil
	if x.whatIf == "" && len(args) == 2 {
		x.files = args
		return nil
	}
	for _, arg := range args {
		if x.whatIf == "" {
			return fmt.Errorf("explain: found %q, want no argument, or two files that kernbench explain --format json wrote",
				strings.Join(args, " "))
		}
		if !strings.Contains(arg, "=") {
			return fmt.Errorf("explain --what-if: found %q, want a setting KEY=VALUE", arg)
		}
		x.sets = append(x.sets, arg)
	}
	return nil
}

// changes returns the changes to try.
func (x *explaining) changes() explain.WhatIf {
	w := explain.WhatIf{Sets: x.sets, Top: 5}
	if x.whatIf != aList {
		w.Sets = append([]string{x.whatIf}, w.Sets...)
	}
	w.List = len(w.Sets) == 0
	return w
}

func resultOK(res *run.Result) bool { return res == nil || res.OK() }

// between is a flag with two times.
type between struct{ from, until unit.Time }

func (b *between) Type() string { return "T1,T2" }

func (b *between) String() string {
	if b.until == 0 {
		return ""
	}
	return fmt.Sprintf("%v,%v", b.from, b.until)
}

func (b *between) Set(s string) error {
	first, second, _ := strings.Cut(s, ",")
	from, err1 := unit.ParseTime(strings.TrimSpace(first))
	until, err2 := unit.ParseTime(strings.TrimSpace(second))
	if err1 != nil || err2 != nil || from < 0 || until <= from {
		return fmt.Errorf("found %q, want two times, the later one second, such as 2us,5us", s)
	}
	b.from, b.until = from, until
	return nil
}
