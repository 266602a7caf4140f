package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/fault"
	"kernbench/lab/faulty"
	"kernbench/lab/run"
	"kernbench/tl"
)

// The report of a wrong result names the ranks that are missing, those that count twice, and the
// source line.
func TestWrongResults(t *testing.T) {
	executors(t, func(t *testing.T, executor string) {
		t.Run("13 of 256 contributions lost", func(t *testing.T) {
			r, err := run.Run(ctx, run.Spec{Algorithm: "lab_lossy", NElem: 4, VerifyData: true, Executor: executor})
			if err != nil {
				t.Fatal(err)
			}
			if r.OK() || r.RanksFailed != 256 || len(r.Failures) != run.MaxFailures {
				t.Fatalf("%d ranks fail, %d are described", r.RanksFailed, len(r.Failures))
			}
			if notes := strings.Join(r.Notes, "\n"); strings.Contains(notes, "another order") {
				t.Fatalf("the order of additions is blamed: %s", notes)
			}
			f := r.Failures[0]
			want := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13} // the last that would have come round to rank 0
			if f.Rank != 0 || f.PE != "sip0.cube0.pe0" || f.Question != "provenance" ||
				!slices.Equal(f.Missing, want) || len(f.Duplicated) != 0 {
				t.Fatalf("%+v", f)
			}
		})
		t.Run("contributions twice", func(t *testing.T) {
			r, err := run.Run(ctx, run.Spec{Algorithm: "lab_double", Ranks: 4, Op: tl.Max, VerifyData: true, Executor: executor})
			if err != nil {
				t.Fatal(err)
			}
			// The values are right: a maximum does not notice. Provenance does.
			if r.OK() || r.Verdict("values").State != run.Checked || r.Verdict("provenance").State != run.Failed ||
				len(r.Failures[0].Duplicated) == 0 {
				t.Fatalf("%+v", r)
			}
		})
		t.Run("an operation that no sum means", func(t *testing.T) {
			r, err := run.Run(ctx, run.Spec{Algorithm: "lab_halved", Ranks: 2, VerifyData: true, Executor: executor})
			if err != nil {
				t.Fatal(err)
			}
			if r.OK() || !strings.Contains(r.Failures[0].Reason, "faulty.go:") {
				t.Fatalf("no line is named: %+v", r.Failures)
			}
		})
		t.Run("overflow", func(t *testing.T) {
			r, err := run.Run(ctx, run.Spec{Algorithm: "lab_overflow", Ranks: 2, VerifyData: true, Executor: executor})
			if err != nil {
				t.Fatal(err)
			}
			if v := r.Verdict("values"); v.State != run.Failed || !strings.Contains(v.Detail, "overflow") ||
				!strings.Contains(v.Detail, "faulty.go:") {
				t.Fatalf("%v", v)
			}
		})
		t.Run("rank is SIP", func(t *testing.T) {
			r, err := run.Run(ctx, run.Spec{
				Algorithm: "lab_double", Topology: "ahbm-6sip-torus", Sets: []string{"defaults.rank_level=sip"},
				VerifyData: true, Executor: executor,
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.OK() || r.WorldSize != 6 || r.RanksOK+r.RanksFailed != 6 {
				t.Fatalf("%+v", r)
			}
			for _, f := range r.Failures { // of all groups, each of which has labels of its own
				for i, rank := range f.Duplicated {
					if rank < 0 || rank >= 6 || f.Times[i] < 2 {
						t.Fatalf("rank %d is no SIP, or not there %d times", rank, f.Times[i])
					}
				}
				if first := fmt.Sprintf("counted more than once: ranks %d", f.Duplicated[0]); !strings.HasPrefix(f.Reason, first) {
					t.Fatalf("%q, want %q...", f.Reason, first)
				}
			}
		})
	})
}

// Faults come out as their types, with the line of the kernel.
func TestFaults(t *testing.T) {
	executors(t, func(t *testing.T, executor string) {
		t.Run("deadlock", func(t *testing.T) {
			r, err := run.Run(ctx, run.Spec{Algorithm: "lab_waits", Ranks: 3, Executor: executor})
			var d *fault.Deadlock
			if !errors.As(err, &d) || len(d.Blocked) != 1 || d.Blocked[0].Rank != 1 || !strings.Contains(d.Blocked[0].Line, "faulty.go:") {
				t.Fatalf("got %v", err)
			}
			if r.OK() || r.Verdict("deadlock").State != run.Failed || r.Fault == "" || r.WorldSize != 3 {
				t.Fatalf("%+v", r)
			}
		})
		t.Run("never received", func(t *testing.T) {
			r, err := run.Run(ctx, run.Spec{Algorithm: "lab_twice", Ranks: 3, Executor: executor, Schedules: 3})
			var u *fault.Unreceived
			if !errors.As(err, &u) || u.From != 2 || !strings.Contains(u.Sent, "send(E) at faulty/faulty.go:") ||
				!strings.Contains(u.Last, "recv(W) #0 at faulty/faulty.go:") {
				t.Fatalf("got %v", err)
			}
			if len(r.Schedules.Outcomes) != 1 { // lines are no part of what a schedule comes to
				t.Fatalf("%+v", r.Schedules)
			}
		})
		t.Run("panic", func(t *testing.T) {
			_, err := run.Run(ctx, run.Spec{Algorithm: "lab_panics", Ranks: 3, VerifyData: true, Executor: executor})
			var p *fault.Panic
			if !errors.As(err, &p) || !strings.Contains(p.Stack, "faulty.go") {
				t.Fatalf("got %v", err)
			}
		})
		t.Run("streams", func(t *testing.T) {
			r, err := run.Run(ctx, run.Spec{Bench: "lab_test_waits_for_itself", Devices: []int{5, 9}, Executor: executor, Race: &yes})
			if _, ok := errors.AsType[*fault.Deadlock](err); !ok {
				t.Fatalf("got %v", err)
			}
			if v := r.Verdict("deadlock"); v.State != run.Failed || v.Detail != "1 of 1 streams cannot go on" ||
				r.WorldSize != 2 || r.Class != nil {
				t.Fatalf("%v, %+v", v, r)
			}
		})
		t.Run("one slot", func(t *testing.T) {
			_, err := run.Run(ctx, run.Spec{Algorithm: "ring_allreduce", Ranks: 4,
				Sets: []string{"defaults.n_slots=1"}, Executor: executor})
			var d *fault.Deadlock
			if !errors.As(err, &d) || len(d.Cycle) != 4 || !strings.Contains(d.Advice, "n_slots: 2") {
				t.Fatalf("got %v", err)
			}
		})
	})
}

// If a wrong run is right when it is repeated, it stays wrong, and the report mentions the
// difference.
func TestWhatTheFirstRunFoundStands(t *testing.T) {
	executors(t, func(t *testing.T, executor string) {
		for _, op := range []tl.ReduceOp{tl.Sum, tl.Max} {
			faulty.FickleRuns.Store(0)
			faulty.FickleFirst.Store(1)
			if executor == "sim" && op == tl.Max {
				faulty.FickleFirst.Store(2) // the kernel is recorded, and then simulated by events
			}
			r, err := run.Run(ctx, run.Spec{Algorithm: "lab_fickle", Ranks: 1, Op: op, VerifyData: true, Executor: executor})
			var d *fault.Deadlock
			if hung := errors.As(err, &d); hung != (op == tl.Max) || !hung && err != nil {
				t.Fatalf("%v: %v", op, err)
			}
			if r == nil || r.OK() || err == nil && r.RanksFailed != 1 ||
				!slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "differently") }) {
				t.Fatalf("%v: %+v", op, r)
			}
		}
	})
}

// Ctrl-C while a failure is being explained leaves the failure.
func TestInterruptedExplanation(t *testing.T) {
	stopped, cancel := context.WithCancel(ctx)
	r, err := run.Run(stopped, run.Spec{Algorithm: "lab_double", Ranks: 64, VerifyData: true, Progress: func(p run.Progress) {
		if p.Phase == "explain" {
			cancel()
		}
	}})
	if err != nil || r.OK() || r.RanksFailed != 64 || len(r.Notes) > 1 || stopped.Err() == nil {
		t.Fatalf("%+v, %v", r, err)
	}
}

// A rank that is wrong in any of the groups side by side is counted, and once.
func TestRanksThatFailInDifferentGroups(t *testing.T) {
	r, err := run.Run(ctx, run.Spec{Algorithm: "lab_spread", NElem: 2, VerifyData: true, Sets: []string{
		"system.sips.count=16", "sip.cube_mesh.w=1", "sip.cube_mesh.h=1", "defaults.rank_level=sip",
	}})
	if err != nil || r.WorldSize != 16 || r.RanksFailed != 16 || r.RanksOK != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
}
