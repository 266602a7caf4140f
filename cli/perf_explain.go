package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kernbench/bench"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/lab/explain"
	"kernbench/lab/perf"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/lab/view"
	"kernbench/report"
	"kernbench/tl"
	"kernbench/unit"
)

// rowKeeper prints a sweep, and keeps the fastest row of a size.
type rowKeeper struct {
	perfWriter
	size unit.Bytes
	best *perf.Row

	sweep *perf.Sweep // once it has ended
}

// Begin refuses a size that will not be measured.
func (k *rowKeeper) Begin(s *perf.Sweep) error {
	if !slices.Contains(s.Sizes, k.size) {
		var sizes []string
		for _, size := range s.Sizes {
			sizes = append(sizes, size.String())
		}
		return fmt.Errorf("--explain %v: this size is not measured; the sizes are %s", k.size, strings.Join(sizes, ", "))
	}
	return k.perfWriter.Begin(s)
}

func (k *rowKeeper) Row(s *perf.Sweep, r *perf.Row) error {
	if p := r.OutOfPlace; r.Size == k.size && p != nil && p.Err == nil &&
		(k.best == nil || p.Time < k.best.OutOfPlace.Time) {
		best := *r
		k.best = &best
	}
	return k.perfWriter.Row(s, r)
}

func (k *rowKeeper) End(s *perf.Sweep) error {
	k.sweep = s
	return k.perfWriter.End(s)
}

// perfExplained measures, and then explains the fastest row of a size.
func (a *app) perfExplained(ctx context.Context, spec perf.Spec, size unit.Bytes, algorithm bool, shown *pageFlags, to *destination) error {
	k := &rowKeeper{perfWriter: newPerfWriter(a.out, "text", algorithm), size: size}
	if err := a.perf(ctx, spec, k); err != nil {
		return err
	}
	if k.best == nil {
		return fmt.Errorf("--explain %v: no row of this size has a time", size)
	}
	s, err := rowSpec(spec, k.best)
	if err != nil {
		return err
	}
	s.Command = a.commandLine()
	bar := newProgress(a.err)
	s.Progress = bar.report
	pictured, r, _, err := shown.observe(ctx, explain.Spec{Run: s, Root: max(0, k.best.Root)},
		fmt.Sprintf("%s at %v", k.best.Algorithm, size))
	bar.done()
	if err != nil {
		return interrupted(ctx, err)
	}
	if pictured != nil {
		d := view.Sweep(k.sweep)
		d.Runs = []*view.Run{pictured}
		if err := writePage(to, d); err != nil {
			return err
		}
	}
	fmt.Fprintln(a.out)
	return report.Explain(explainedRows)(a.out, r)
}

// rowSpec returns the run that a row of a sweep has measured, out of place.
func rowSpec(p perf.Spec, r *perf.Row) (run.Spec, error) {
	s := p.Base
	what, err := sweep.FindCollective(p.Collective)
	if err != nil {
		return s, err
	}
	if s.DType, err = dtype.Parse(r.Type); err != nil {
		return s, err
	}
	if what.Reduces {
		if s.Op, err = tl.ParseReduceOp(r.RedOp); err != nil {
			return s, err
		}
	}
	root := max(0, r.Root)
	_, s.NElem = sweep.Counts(what, collective.Call{World: r.Ranks, Type: s.DType, Root: root}, r.Size)
	s.Algorithm, s.HostProgram, s.Tuning, s.VerifyData = r.Algorithm, bench.Once(false, root), "", false
	if s.Devices == nil {
		s.Ranks = r.Ranks
	}
	return s, nil
}
