package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"kernbench/dtype"
	"kernbench/lab/repair"
	"kernbench/lab/run"
	"kernbench/lab/suite"
	"kernbench/report"
	"kernbench/tl"

	"github.com/spf13/cobra"
)

func (a *app) testCommand() *cobra.Command {
	var machine run.Spec // for its flags
	var spec suite.Spec
	var format string
	var programs []string
	var search time.Duration
	cmd := &cobra.Command{
		Use:   "test ALGORITHM...|all|--program FILE",
		Short: "Test algorithms over ranks, sizes, types and operations",
		Long: `Run algorithms on the mock executor over world sizes, element counts, types and operations. Check the
result of every rank: each contribution exactly once, and the right values. Operations and types that
an algorithm does not support are skipped. The default machine has as many SIPs as a world needs.
With --program, --topology names the machine whose multiprocessors bound the thread blocks of a rank.
` + exitCodes,
		Example: "  kernbench test all\n  kernbench test ring_allreduce --ranks 2,3,8-10\n  kernbench test ring_allreduce --ranks 300 --op sum,max --dtype f32 --n-elem 1,1000",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && len(programs) == 0 {
				return fmt.Errorf("%s: name an algorithm (kernbench list algorithms), or all", verbOf(cmd))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(programs) > 0 {
				if len(args) > 0 {
					return fmt.Errorf("%s and --program: both choose what is tested; give one of them", args[0])
				}
				return a.testPrograms(cmd, programs, machine.Topology, machine.Sets, format)
			}
			if err := rejectToolPrograms("test --program %s", args...); err != nil {
				return err
			}
			if len(args) > 1 || args[0] != "all" {
				spec.Algorithms = args
			}
			spec.Topology, spec.CCL, spec.Sets, spec.Seed = machine.Topology, machine.CCL, machine.Sets, machine.Seed
			spec.CalledAs = calledAs()
			bar := newProgress(a.err)
			spec.Progress = bar.report
			sum, err := suite.Run(cmd.Context(), spec)
			bar.done()
			if sum != nil {
				if perr := a.showTests(cmd.Context(), sum, format, search); perr != nil {
					return perr
				}
			}
			switch {
			case err != nil:
				return interrupted(cmd.Context(), err)
			case sum.Cases == 0:
				return fmt.Errorf("nothing was tested: no algorithm supports these world sizes and types")
			case !sum.OK():
				return errWrong
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&programs, "program", nil, "check the program of another tool in `FILE`, as kernbench import does (repeatable)")
	f.Var((*rankList)(&spec.Ranks), "ranks", "world sizes, such as 1,2,5-8 (default "+(*rankList)(&suite.Ranks).String()+")")
	f.Var((*countList)(&spec.Counts), "n-elem",
		"elements per rank, such as 1,100-102 (default: critical counts from 1 to 4097)")
	f.Var(&listed[tl.ReduceOp]{to: &spec.Ops, all: func() { spec.Ops = nil }, parse: tl.ParseReduceOp, kind: "OP,...|all"},
		"op", "reductions: "+join(tl.ReduceOps())+" (default all that the algorithm supports)")
	f.Var(&listed[dtype.Type]{to: &spec.Types, all: func() { spec.Types = nil }, parse: dtype.Parse, kind: "TYPE,...|all"},
		"dtype", "element types: "+join(dtype.Types())+" (default all that the algorithm supports)")
	f.BoolVar(&spec.Exhaustive, "exhaustive", false, "test every type with every operation at every count, not a covering set")
	f.DurationVar(&search, "repair", 10*time.Second, "wall time for the search of repairs for deadlocks, after the report; 0: no search")
	machineFlags(f, &machine)
	seedFlag(f, &machine)
	limitFlags(f, &spec.Limits)
	formatFlag(f, &format)
	return cmd
}

// showTests prints the result of a test, and a repair of the first deadlock of each algorithm. All
// searches share one time limit. The text is printed before they begin.
func (a *app) showTests(ctx context.Context, sum *suite.Summary, format string, search time.Duration) error {
	if format != "json" {
		if err := show(a, format, sum, report.Tests); err != nil {
			return err
		}
	}
	end, searched := time.Now().Add(search), map[string]bool{}
	for i := range sum.Rows {
		r := &sum.Rows[i]
		if ctx.Err() != nil || search <= 0 {
			break
		}
		if !repair.Applies(r.Fault) || searched[r.Algorithm] {
			continue
		}
		searched[r.Algorithm] = true
		r.Repairs = repair.Search(ctx, r.Spec, r.Fault, time.Until(end)) // without time left it returns a note
		if format != "json" {
			fmt.Fprintf(a.out, "\n%s, %d ranks\n", r.Algorithm, r.World)
			if err := report.Repairs(a.out, r.Repairs); err != nil {
				return err
			}
		}
	}
	if format == "json" {
		return show(a, format, sum, report.Tests)
	}
	return nil
}

// rankList is a flag with numbers and ranges of them.
type rankList []int

func (l *rankList) Type() string { return "LIST" }

func (l *rankList) String() string {
	s := make([]string, len(*l))
	for i, n := range *l {
		s[i] = strconv.Itoa(n)
	}
	return strings.Join(s, ",")
}

func (l *rankList) Set(s string) error {
	const most = 1000 // world sizes of one test
	list, err := parseList(s, 1, most)
	switch {
	case errors.Is(err, errTooMany):
		return fmt.Errorf("more than %d world sizes", most)
	case err != nil:
		return fmt.Errorf("%w, want numbers from 1 to %d and ranges of them, such as 1,2,5-8", err, math.MaxInt32)
	}
	*l = list
	return nil
}

// countList is a flag with numbers of elements and ranges of them.
type countList []int

func (l *countList) Type() string { return "LIST" }

func (l *countList) String() string { return (*rankList)(l).String() }

func (l *countList) Set(s string) error {
	const most = 1000 // counts of one test
	list, err := parseList(s, 1, most)
	switch {
	case errors.Is(err, errTooMany):
		return fmt.Errorf("more than %d counts", most)
	case err != nil:
		return fmt.Errorf("%w, want numbers from 1 to %d and ranges of them, such as 1,2,5-8", err, math.MaxInt32)
	}
	*l = list
	return nil
}

var errTooMany = errors.New("too many")

// parseList reads numbers of at least lowest, and ranges of them: 0,2,5-7.
func parseList(s string, lowest int64, most int) ([]int, error) {
	var list []int
	for part := range strings.SplitSeq(s, ",") {
		lo, hi, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			hi = lo
		}
		first, err := strconv.ParseInt(lo, 10, 32)
		last, err2 := strconv.ParseInt(hi, 10, 32)
		if err != nil || err2 != nil || first < lowest || last < first {
			return nil, fmt.Errorf("found %q", part)
		}
		if last-first >= int64(most) || len(list) >= most {
			return nil, errTooMany
		}
		for n := first; n <= last; n++ {
			list = append(list, int(n))
		}
	}
	return list, nil
}
