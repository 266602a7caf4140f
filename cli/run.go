package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"kernbench/fault"
	"kernbench/lab/plans"
	"kernbench/lab/repair"
	"kernbench/lab/run"
	"kernbench/report"
	"kernbench/unit"

	"github.com/spf13/cobra"
)

// traceVariable is the environment variable that enables a line per send and receive.
const traceVariable = "KERNBENCH_CCL_TRACE"

func (a *app) runCommand() *cobra.Command {
	var spec run.Spec
	var format string
	var pointers bool
	var why explainFlag
	var shown pageFlags
	var search time.Duration
	var prof profiles
	var flagErr error
	call := planFlags{bytes: unit.MiB}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run a bench: print its simulated time and check its results",
		Long: `Run a bench on the simulated machine, or without a clock on the mock executor.

` + traceVariable + `=1 in the environment prints a line for each send and receive of a kernel:
[ccl t=346.4 send] sip0.cube0.pe1 dir=E nbytes=64 seq=0 (t in ns, none with mock; on stderr with --format json).
` + exitCodes,
		Example: `  kernbench run --bench ccl_allreduce --verify-data
  kernbench run --algorithm ring_allreduce --ranks 8 --n-elem 1024 --trace ring.pftrace
  kernbench run --topology ahbm-cube --set defaults.n_slots=2 --format json`,
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flagErr != nil {
				return flagErr
			}
			if err := errors.Join(checkTrace(&spec), shown.check()); err != nil {
				return err
			}
			if on := os.Getenv(traceVariable); on != "" && on != "0" {
				spec.CCLTrace = a.out
				if format == "json" {
					spec.CCLTrace = a.err
				}
			}
			if pointers {
				spec.Pointers = a.err
			}
			if err := rejectToolPrograms("run --program %s", spec.Algorithm); err != nil {
				return err
			}
			if spec.Program != "" && plans.Foreign(spec.Program) {
				if spec.CCLTrace != nil {
					fmt.Fprintf(a.err, "kernbench: %s has no effect: %s is a program of another tool\n",
						traceVariable, spec.Program)
				}
				s, err := call.spec(a, spec.Program, spec.Topology, spec.Sets, "bytes", "report")
				if err != nil {
					return err
				}
				return a.runPlan(cmd.Context(), s, &call, &shown, format)
			}
			if f := cmd.Flags(); f.Changed("bytes") || f.Changed("in-place") || f.Changed("depth") {
				return errNotToolProgram
			}
			if why.on || shown.file != "" {
				return a.profiled(&prof, func() error {
					return a.runExplained(cmd.Context(), spec, format, search, why.on, &shown)
				})
			}
			return a.profiled(&prof, func() error { return a.run(cmd.Context(), spec, format, search) })
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	machineFlags(f, &spec)
	benchFlag(f, &spec)
	workFlags(f, &spec)
	f.StringVar(&spec.Program, "program", "",
		"run the program in `FILE`: text or JSON of kernbench program, or of another tool (kernbench import --help); instead of --bench and --algorithm")
	f.VarP((*deviceList)(&spec.Devices), "device", "d",
		"PEs of the ranks, by their numbers in the machine's rank order: 0-3 or 0,2,5-7 (instead of --ranks)")
	verifyFlag(f, &spec)
	f.VarPF(maybe{&spec.Race}, "race", "",
		"look for races and other hazards, and print what this run proves about other schedules ("+racing()+")").NoOptDefVal = "true"
	f.Var((*count)(&spec.Schedules), "seeds",
		"compare with `N` runs under random schedules, numbered 1 to N (implies --verify-data)")
	f.Var((*seed)(&spec.Schedule), "schedule", "number of the random schedule of this run, as --seeds counts them (default: the executor's own order)")
	platformFlag(f, &spec, "p")
	fidelityFlag(f, &spec)
	f.Var(&size{&spec.Memory}, "mem",
		"largest estimated memory for the data of a verified run (default: the free memory of this computer)")
	limitFlags(f, &spec.Limits)
	call.addSize(f)
	formatFlag(f, &format)
	why.add(f)
	shown.add(f)
	shown.addWindow(f)
	f.BoolVar(&pointers, "pointers", false, "print the four pointers of every IPCQ ring after each launch, to stderr")
	traceFlags(f, &spec)
	f.BoolVar(&spec.Use, "links", false, "print the use of links, engines and rings, and add the use of links to a .pftrace")
	f.DurationVar(&search, "repair", 10*time.Second, "wall time for the search of a repair for a deadlock, after the report; 0: no search")
	prof.add(f)
	flagErr = optionFlags(f, &spec)
	benchHelp(cmd, &spec)
	return cmd
}

// run performs one run and prints its result, or the part that was complete.
func (a *app) run(ctx context.Context, spec run.Spec, format string, search time.Duration) error {
	bar := newProgress(a.err)
	spec.Progress, spec.Command = bar.report, a.commandLine()
	r, err := run.Run(ctx, spec)
	bar.done()
	repairs := search > 0 && r != nil && ctx.Err() == nil && repair.Applies(err)
	if repairs && format == "json" {
		r.Repairs = repair.Search(ctx, spec, err, search)
	}
	if r != nil && (err == nil || r.Launches > 0 || fault.Is(err)) {
		if perr := show(a, format, r, report.Text); perr != nil {
			return errors.Join(err, perr)
		}
	}
	switch {
	case repairs && format != "json":
		fmt.Fprintf(a.err, "kernbench: %v\n", err) // before the search, which takes some time
		return reported{errors.Join(err, report.Repairs(a.err, repair.Search(ctx, spec, err, search)))}
	case err != nil:
		return interrupted(ctx, err)
	case !r.OK():
		return errWrong
	}
	return nil
}

// interrupted returns an error whose text begins with "interrupted", if a signal caused err.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return &interruption{err}
	}
	return err
}

// interruption is an error that a signal caused.
type interruption struct{ cause error }

func (e *interruption) Error() string {
	text := strings.TrimSuffix(e.cause.Error(), context.Canceled.Error())
	if text = strings.TrimSuffix(text, ": "); text == "" {
		return "interrupted"
	}
	return "interrupted: " + text
}

func (e *interruption) Unwrap() error { return e.cause }
