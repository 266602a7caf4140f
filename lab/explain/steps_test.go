package explain

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"kernbench/lab/run"
	"kernbench/record/cause"
	"kernbench/record/trace"
	"kernbench/unit"
)

// The steps of a trace follow one another, from the start of the run to its end or in the part that
// the trace has.
func TestSteps(t *testing.T) {
	for _, scope := range []trace.Scope{{}, {From: 100 * unit.Nanosecond, To: 300 * unit.Nanosecond}} {
		x := &explaining{log: cause.New()}
		job, err := run.Load(run.Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 8, NElem: 4096,
			Causes: x.log, TraceScope: scope})
		if err != nil {
			t.Fatal(err)
		}
		x.m, x.job = job.Machine, job
		res, err := job.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		at, end := scope.From, scope.To
		if end == 0 {
			end = res.SimulatedTime
		}
		for _, s := range x.steps() {
			if s.Start != at || s.End <= s.Start || s.Reason == "" || s.Operation == "" {
				t.Fatalf("%+v comes at %v", s, at)
			}
			at = s.End
		}
		if at != end {
			t.Errorf("the steps end at %v, and the run or its part at %v", at, end)
		}
	}
}

// numbered are the slices of a trace that have a step.
type numbered map[slice][]trace.Event

type slice struct {
	kind trace.Kind
	pe   int32
	step int64
}

func (n numbered) Emit(e *trace.Event) {
	k := slice{e.Kind, e.PE, e.Seq}
	n[k] = append(n[k], *e)
}

// A step is that of a trace. While the path follows a message of a send, the trace has a message of
// that number in flight. The own time of a send or receive is in a slice with that number.
func TestStepsAreThoseOfTheTrace(t *testing.T) {
	kinds := map[trace.Kind]bool{}
	for _, s := range []run.Spec{
		{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 8, NElem: 40000, Sets: []string{"defaults.n_slots=2"}},
		{Topology: "ahbm-cube", Algorithm: "bidirectional_ring_allreduce", Ranks: 8, NElem: 40000},
		{Topology: "dgx-h100", Algorithm: "ring_allreduce_chunked", Ranks: 8, NElem: 65536},
	} {
		seen := numbered{}
		x := &explaining{log: cause.New()}
		s.Causes, s.Events = x.log, seen
		job, err := run.Load(s)
		if err != nil {
			t.Fatal(err)
		}
		x.m, x.job = job.Machine, job
		if _, err := job.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		steps := map[slice]bool{}
		for _, v := range x.log.Runs() {
			pieces, _, err := x.chain(&v, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range pieces {
				o := x.log.Operation(p.Site)
				kind := trace.Message
				switch {
				case o.Call == "send" && p.at.Kind() == cause.Link && p.why == cause.Router:
				case o.Call == "send" && p.at.Kind() == cause.IPCQ:
					kind = trace.Send
				case o.Call == "recv" && p.at.Kind() == cause.IPCQ:
					kind = trace.Recv
				default:
					continue
				}
				k := slice{kind, o.PE, int64(p.Step) - 1}
				steps[k] = true
				if !slices.ContainsFunc(seen[k], func(e trace.Event) bool {
					return e.Start <= p.start && p.end <= e.End
				}) {
					t.Fatalf("%s: %s from %v to %v has step %d, and no such slice in the trace", s.Algorithm,
						x.operation(p.Site), p.start, p.end, k.step)
				}
			}
		}
		if len(steps) < 2 {
			t.Errorf("%s: the path has %d slices with steps", s.Algorithm, len(steps))
		}
		for k := range steps {
			kinds[k.kind] = true
		}
	}
	if len(kinds) != 3 {
		t.Errorf("the paths have slices of the kinds %v", kinds)
	}
}

// Runs that are tried beside the explained one leave its trace alone.
func TestTraceIsOfTheRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.pftrace")
	r, _, err := Run(context.Background(), Spec{Run: run.Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce",
		Ranks: 4, NElem: 64, TraceFile: file}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := r.WhatIf(context.Background(), WhatIf{Sets: []string{"pe.issue_ns=0"}, Top: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a changed run has written the trace")
	}
}
