package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"kernbench/dtype"
	"kernbench/lab/perf"
	"kernbench/plot/scene"
	"kernbench/report"
	"kernbench/tl"
	"kernbench/unit"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// perfWriter prints a sweep in one of the formats.
type perfWriter interface {
	Begin(*perf.Sweep) error
	Row(*perf.Sweep, *perf.Row) error
	End(*perf.Sweep) error
}

func newPerfWriter(w io.Writer, format string, algorithm bool) perfWriter {
	switch format {
	case "json":
		return report.PerfJSON{W: w}
	case "csv":
		return &report.PerfCSV{W: w}
	}
	return &report.PerfTable{W: w, Algorithm: algorithm}
}

// perfWriters print a sweep in several ways.
type perfWriters []perfWriter

func (all perfWriters) each(print func(perfWriter) error) error {
	for _, w := range all {
		if err := print(w); err != nil {
			return err
		}
	}
	return nil
}

func (all perfWriters) Begin(s *perf.Sweep) error {
	return all.each(func(w perfWriter) error { return w.Begin(s) })
}

func (all perfWriters) Row(s *perf.Sweep, r *perf.Row) error {
	return all.each(func(w perfWriter) error { return w.Row(s, r) })
}

func (all perfWriters) End(s *perf.Sweep) error {
	return all.each(func(w perfWriter) error { return w.End(s) })
}

// savedPerf completes the file of -J when the sweep has ended.
type savedPerf struct {
	*report.PerfNCCL
	file *destination
}

func (p *savedPerf) End(s *perf.Sweep) error {
	return p.file.write(func(w io.Writer) error {
		p.W = w
		return p.PerfNCCL.End(s)
	})
}

// plottedPerf draws a sweep when it has ended.
type plottedPerf struct{ figure *plotFlag }

// Begin refuses a figure of a sweep without times.
func (p *plottedPerf) Begin(s *perf.Sweep) error {
	if !s.Timed {
		return fmt.Errorf("--plot: the executor %s has no clock: there are no times to draw", s.Executor)
	}
	return nil
}

// Row draws nothing yet.
func (p *plottedPerf) Row(*perf.Sweep, *perf.Row) error { return nil }

func (p *plottedPerf) End(s *perf.Sweep) error {
	return p.figure.write(func() *scene.Picture { return report.PerfFigure(s).Picture() })
}

// without returns args without the first occurrence of each of some words.
func without(args []string, words ...string) []string {
	args = slices.Clone(args)
	for _, w := range words {
		if i := slices.Index(args, w); i >= 0 {
			args = slices.Delete(args, i, i+1)
		}
	}
	return args
}

func (a *app) perfCommand() *cobra.Command {
	spec := perf.Spec{Min: 8, Max: 128 * unit.MiB, Factor: 2, Iterations: 20, Warmup: 1, Memory: 2 * unit.GiB}
	var format string
	var algorithm, check bool
	var program string
	var call planFlags
	var theirs ncclFlags
	var rounding numericsFlags
	var prof profiles
	var explained unit.Bytes
	var figure plotFlag
	var shown pageFlags
	cmd := &cobra.Command{
		Use:   "perf COLLECTIVE|--program FILE",
		Short: "Time a collective at every size, as a table in the format of nccl-tests",
		Long: `Time a collective at every size from -b to -e. Flags, columns and bandwidths are those of nccl-tests.
COLLECTIVE is a name of kernbench (kernbench list collectives) or of nccl-tests: all_reduce, alltoall,
sendrecv, all_gather_perf, ...

Time is simulated and the same in each iteration and each run, so -n and -w change nothing.
` + exitCodes,
		Example: `  kernbench perf all_reduce --ranks 8 -b 1K -e 1M
  kernbench perf all_gather --ranks 8 -b 64K -e 64K --algorithm all
  kernbench perf all_reduce --ranks 8 -b 64K -e 1M -f 4 --vary n_slots=2,4,8 --format csv
  kernbench perf all_reduce --ranks 64 -d bf16 --numerics --algorithm all --vary accumulate=same,f32
  kernbench perf all_reduce --ranks 8 -b 1K -e 4M --algorithm all --plot all_reduce.svg
  kernbench perf all_reduce --ranks 8,16,32,64 -b 1M -e 1M --algorithm ring_allreduce,tree_allreduce --plot ranks.svg`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 && (len(args) > 0 || program == "") {
				return fmt.Errorf("%s: found %d arguments, want one collective (kernbench list collectives)", verbOf(cmd), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if program != "" {
				if len(args) > 0 {
					return fmt.Errorf("%s and --program: the file %s defines what is performed", args[0], program)
				}
				if cmd.Flags().Changed("stepbytes") && !cmd.Flags().Changed("stepfactor") {
					spec.Factor = 1
				}
				s, err := call.spec(a, program, spec.Base.Topology, spec.Base.Sets, "minbytes", "maxbytes",
					"stepfactor", "stepbytes", "report")
				if err != nil {
					return err
				}
				if figure.wanted() {
					return errors.New("--plot draws a collective: leave --program out")
				}
				return a.perfPlan(cmd.Context(), s, spec, &shown, format)
			}
			if f := cmd.Flags(); f.Changed("in-place") || f.Changed("depth") {
				return errors.New("--in-place and --depth: these flags are for a program of another tool (--program)")
			}
			spec.Collective, spec.Check = args[0], check
			if err := theirs.apply(cmd.Flags(), &spec.Base.Ranks); err != nil {
				return err
			}
			if len(spec.Ranks) == 1 {
				spec.Base.Ranks, spec.Ranks = spec.Ranks[0], nil
			}
			if len(spec.Ranks) > 1 && (rounding.on || explained > 0 || theirs.json != "") {
				return errors.New("--ranks: want one number of ranks with --numerics, --explain or -J")
			}
			if cmd.Flags().Changed("stepbytes") && !cmd.Flags().Changed("stepfactor") {
				spec.Factor = 0
			}
			switch {
			case figure.wanted() && (rounding.on || explained > 0):
				return errors.New("--plot draws times over sizes or ranks: leave --numerics and --explain out")
			case rounding.on && theirs.json != "":
				return errors.New("-J and --numerics: the JSON of nccl-tests has no fields for rounding errors: use --format json")
			case rounding.on:
				s, err := rounding.spec(cmd, spec)
				if err != nil {
					return err
				}
				to, err := shown.begin()
				if err != nil {
					return err
				}
				defer to.discard()
				return a.profiled(&prof, func() error { return a.perfNumerics(cmd.Context(), s, newNumericsWriter(a.out, format), to) })
			case cmd.Flags().Changed("inputs"):
				return errors.New("--inputs has an effect with --numerics only: add it")
			}
			to, err := shown.begin()
			if err != nil {
				return err
			}
			defer to.discard()
			spec.Bound = spec.Bound || shown.file != ""
			if size := explained; size > 0 {
				if format != "text" || theirs.json != "" || len(spec.Vary) > 0 {
					return errors.New("--explain prints text for the configured settings: leave --format, -J and --vary out, or use kernbench explain")
				}
				return a.profiled(&prof, func() error { return a.perfExplained(cmd.Context(), spec, size, algorithm, &shown, to) })
			}
			if err := figure.begin(); err != nil {
				return err
			}
			defer figure.discard()
			spec.Bound = spec.Bound || figure.wanted()
			w := newPerfWriter(a.out, format, algorithm)
			if figure.wanted() {
				w = perfWriters{&plottedPerf{&figure}, w}
			}
			if to != nil {
				w = perfWriters{&pagedPerf{to: to}, w}
			}
			if theirs.json == "" {
				return a.profiled(&prof, func() error { return a.perf(cmd.Context(), spec, w) })
			}
			file, err := output("-J", theirs.json)
			if err != nil {
				return err
			}
			defer file.discard()
			second := &savedPerf{theirs.writer(nil, without(a.args, "perf", args[0])), file}
			return a.profiled(&prof, func() error { return a.perf(cmd.Context(), spec, perfWriters{second, w}) })
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&program, "program", "", "time the program of another tool in `FILE` (kernbench import --help), instead of a collective")
	call.add(f)
	sweepFlags(f, &spec)
	check = true
	f.VarP((*checks)(&check), "check", "c",
		"check every result by provenance and by value: 0 or 1 (`N` iterations of nccl-tests count as 1)")
	theirs.add(f)
	f.Var(&size{&spec.Memory}, "mem", "check results up to this total of inputs and outputs of all ranks; time only above it")
	f.Var(&listed[string]{to: &spec.Algorithms, all: func() { spec.AllAlgorithms = true }, parse: anyName, kind: "NAME,...|all|auto"},
		"algorithm",
		"algorithms or entries of ccl.yaml (kernbench list algorithms), files with programs of other tools (kernbench import --help), all that support these ranks and sizes, or auto: for each size the choice of --tuning, or without a table the fastest (default: defaults.algorithm of ccl.yaml if it performs this collective, else that of the bench)")
	f.BoolVar(&algorithm, "algo", false, "print the column of algorithms, even with only one algorithm")
	f.BoolVar(&spec.Bound, "bound", false,
		"print columns with the lower bounds of each row, as configured and of the hardware, the ratio to each, and what sets them")
	f.Var(&size{&explained}, "explain", "explain the time of the fastest row of this size (see kernbench explain)")
	f.Var(&size{&spec.MeasureTo}, "measure-to",
		"largest size that is simulated; larger ones are extrapolated from the last two and marked (default: no limit; 64MiB with auto)")
	shown.add(f)
	figure.add(f, "plot", "draw time, algbw and busbw over sizes, with the bound and the crossovers,")
	rounding.add(f)
	f.Var((*numbersFlag)(&spec.Ranks), "ranks",
		"number of ranks, on the first PEs of the machine, or several numbers such as 8,16,32 (default: from ccl.yaml, else all PEs)")
	machineFlags(f, &spec.Base)
	tuningFlag(f, &spec.Base)
	f.Var((*variations)(&spec.Vary), "vary",
		"`KEY=V1,V2,...` measures with each value of a key of --set, or of a setting such as n_slots (repeatable)")
	platformFlag(f, &spec.Base, "")
	fidelityFlag(f, &spec.Base)
	seedFlag(f, &spec.Base)
	limitFlags(f, &spec.Base.Limits)
	f.Var(newWord(&format, "text", "FORMAT", "text", "json", "csv"), "format", "text, json or csv")
	prof.add(f)
	return cmd
}

// sizeFlags adds the flags for sizes and types, with the names of nccl-tests.
func sizeFlags(f *pflag.FlagSet, s *perf.Spec) {
	f.VarP(&size{&s.Min}, "minbytes", "b", "smallest size")
	f.VarP(&size{&s.Max}, "maxbytes", "e", "largest size")
	f.IntVarP(&s.Factor, "stepfactor", "f", s.Factor, "`FACTOR` between sizes")
	f.VarP(&size{&s.Step}, "stepbytes", "i", "step between sizes, instead of a factor")
	f.VarP(&listed[dtype.Type]{to: &s.Types, all: func() { s.Types = dtype.Types() }, parse: dtype.Parse, kind: "TYPE,...|all"},
		"datatype", "d", "element types: "+join(dtype.Types())+" (default f32)")
}

// sweepFlags adds the flags of nccl-tests, with its names.
func sweepFlags(f *pflag.FlagSet, s *perf.Spec) {
	sizeFlags(f, s)
	f.VarP(&listed[tl.ReduceOp]{to: &s.Ops, all: func() { s.Ops = tl.ReduceOps() }, parse: tl.ParseReduceOp, kind: "OP,...|all"},
		"op", "o", "reductions: "+join(tl.ReduceOps())+" (default sum)")
	f.VarP(&rootList{&s.Roots, &s.AllRoots}, "root", "r", "roots, for rooted collectives (default 0)")
	f.VarP((*count)(&s.Iterations), "iters", "n", "iterations; accepted and ignored")
	f.IntVarP(&s.Warmup, "warmup_iters", "w", s.Warmup, "`N` warm-up iterations; accepted and ignored")
}

// perf measures and prints row by row, until it ends or is interrupted.
func (a *app) perf(ctx context.Context, spec perf.Spec, w perfWriter) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	spec.Base.CalledAs = calledAs()
	bar := newProgress(a.err)
	spec.Progress, spec.Base.Command = bar.report, a.commandLine()
	var sweep *perf.Sweep
	print := func(err error) {
		if err != nil {
			stop(reported{err}) // without output there is nothing to measure
		}
	}
	s, err := perf.Run(ctx, spec, func(s *perf.Sweep) {
		sweep = s
		print(w.Begin(s))
	}, func(r *perf.Row) {
		bar.done()
		if ctx.Err() == nil || !is[reported](context.Cause(ctx)) {
			print(w.Row(sweep, r))
		}
	})
	bar.done()
	if failed, ok := errors.AsType[reported](context.Cause(ctx)); ok {
		return failed.error
	}
	if s != nil {
		if perr := w.End(s); perr != nil {
			return perr
		}
	}
	if err != nil {
		return interrupted(ctx, err)
	}
	return perfOutcome(ctx, s)
}

// perfOutcome returns what determines the exit status: the highest status of the runs that did not
// end, else a wrong result. The table has already printed it.
func perfOutcome(ctx context.Context, s *perf.Sweep) error {
	var err error
	status, measured := ExitOK, false
	for i := range s.Rows {
		for _, p := range s.Rows[i].Placements() {
			measured = true
			if p.Err == nil || s.All && perf.TooLarge(p.Err) {
				continue // the row has the reason, and its other placement was measured
			}
			if e := exitStatus(ctx, p.Err); e > status {
				err, status = reported{p.Err}, e
			}
		}
	}
	switch {
	case !measured && len(s.Rows) == 0:
		return fmt.Errorf("nothing was measured: %s", s.Notes[len(s.Notes)-1])
	case !measured:
		return fmt.Errorf("nothing was measured: %s", s.Rows[0].Note)
	case err == nil && s.Wrong > 0:
		return errWrong
	}
	return err
}

// size is a flag with a number of bytes; 0 means not given.
type size struct{ to *unit.Bytes }

func (s *size) Type() string { return "SIZE" }

func (s *size) String() string {
	if s.to == nil || *s.to == 0 {
		return ""
	}
	return strings.ReplaceAll(s.to.String(), " ", "")
}

func (s *size) Set(text string) error {
	n, err := unit.ParseBytes(text)
	if err == nil {
		*s.to = n
	}
	return err
}
