package cli

import (
	"errors"
	"fmt"
	"slices"

	"kernbench/lab/run"
	"kernbench/record/trace"
	"kernbench/unit"

	"github.com/spf13/pflag"
)

// traceFlags adds the flags of the trace of a run.
func traceFlags(f *pflag.FlagSet, s *run.Spec) {
	f.StringVar(&s.TraceFile, "trace", "",
		"write the events of the run to a `FILE`: .pftrace or .json (for ui.perfetto.dev), .txt (one line each), also with .gz")
	f.Var((*tracedRanks)(&s.TraceScope), "trace-ranks",
		fmt.Sprintf("ranks in the trace: 0-3, 0,2,5-7 or all (default all; with more than %d ranks, one of each class)", trace.ManyRanks))
	f.Var(&parsed[unit.Time]{to: &s.TraceScope.From, parse: unit.ParseTime, kind: "TIME"}, "trace-from",
		"simulated time at which the trace begins, such as 10us")
	f.Var(&parsed[unit.Time]{to: &s.TraceScope.To, parse: unit.ParseTime, kind: "TIME"}, "trace-to",
		"simulated time at which the trace ends")
	f.BoolVar(&s.TracePlain, "trace-plain", false, "write a .pftrace without annotations, of half the size")
}

// checkTrace returns an error for flags of a trace that contradict each other or change nothing.
func checkTrace(s *run.Spec) error {
	scope := &s.TraceScope
	switch {
	case s.TraceFile == "" && (scope.All || scope.Ranks != nil || scope.From > 0 || scope.To > 0 || s.TracePlain):
		return errors.New("--trace-ranks, --trace-from, --trace-to and --trace-plain select what the trace contains: give --trace FILE too")
	case s.TraceFile == "":
		return nil
	case scope.To > 0 && scope.To < scope.From:
		return fmt.Errorf("--trace-from %v --trace-to %v: the trace would end before it begins", scope.From, scope.To)
	case s.TracePlain && !trace.Annotates(s.TraceFile):
		return fmt.Errorf("--trace-plain: found the trace file %s, want a .pftrace: only these can be without annotations", s.TraceFile)
	}
	return trace.CheckFile(s.TraceFile)
}

// tracedRanks is a flag with a list of ranks, or all.
type tracedRanks trace.Scope

func (t *tracedRanks) Type() string { return "LIST" }

func (t *tracedRanks) String() string {
	if t.All {
		return "all"
	}
	return (*deviceList)(&t.Ranks).String()
}

func (t *tracedRanks) Set(s string) error {
	if s == "all" {
		t.All, t.Ranks = true, nil
		return nil
	}
	t.All = false
	if err := (*deviceList)(&t.Ranks).Set(s); err != nil {
		return err
	}
	slices.Sort(t.Ranks)
	return nil
}
