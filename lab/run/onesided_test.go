package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/fault"
	"kernbench/lab/faulty"
	"kernbench/lab/run"
)

// The bytes and signals of the collectives over windows equal closed forms: N elements of 4 bytes
// and P ranks.
func TestTrafficOfModes(t *testing.T) {
	const bytes = 4 * 256
	executors(t, func(t *testing.T, executor string) {
		for _, p := range []int{2, 4, 8} {
			for mode, want := range map[string]struct {
				remote, notifies int // per rank, of all
			}{
				"onephase":           {(p - 1) * bytes, p * (p - 1)},
				"twophase":           {2 * (p - 1) * bytes / p, 2 * p * (p - 1)},
				"ring":               {2 * (p - 1) * bytes / p, 2 * p * (p - 1)},
				"bidirectional_ring": {2 * (p - 1) * bytes / p, (1 + min(1, p-2)) * p * (2*p - 1)},
			} {
				r := right(t, run.Spec{Bench: "allreduce_distributed", Ranks: p,
					Options: map[string]string{"mode": mode}, Executor: executor})
				if len(r.Traffic) != p {
					t.Fatalf("%s: traffic of %d ranks, not of %d", mode, len(r.Traffic), p)
				}
				notifies, waits := 0, 0
				for i, x := range r.Traffic {
					if x.Rank != i || x.Remote() != int64(want.remote) {
						t.Errorf("%s, %d ranks: rank %d moves %d bytes, want %d", mode, p, x.Rank, x.Remote(), want.remote)
					}
					notifies, waits = notifies+int(x.Notifies), waits+int(x.Waits)
				}
				if notifies != want.notifies || waits != notifies {
					t.Errorf("%s, %d ranks: %d notifies and %d waits, want %d", mode, p, notifies, waits, want.notifies)
				}
			}
		}
	})
}

// A program that races comes out differently, and each outcome can be had again.
func TestSchedulesShowARace(t *testing.T) {
	s := run.Spec{Bench: "allgather_distributed", Algorithm: faulty.Hasty.Name, Schedules: 20, Executor: mock.Name}
	r, err := run.Run(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	v := r.Verdict("schedules")
	if r.OK() || v.State != run.Failed || r.Schedules.Done != 20 || len(r.Schedules.Outcomes) < 2 {
		t.Fatalf("%v: %+v", v, r.Schedules)
	}
	total := 0
	for _, o := range r.Schedules.Outcomes {
		total += o.Runs
		again, err := run.Run(ctx, run.Spec{Bench: s.Bench, Algorithm: s.Algorithm, Schedules: 1,
			Schedule: o.Schedule, Executor: mock.Name})
		if err != nil {
			t.Fatal(err)
		}
		if got := again.Schedules.Outcomes[0]; got.Digest != o.Digest || got.Wrong != o.Wrong {
			t.Errorf("schedule %d came to %+v, and again to %+v", o.Schedule, o, got)
		}
		if want := fmt.Sprintf("--schedule %d", o.Schedule); o.Schedule > 0 && o.Repeat != want {
			t.Errorf("repeat with %q, want %q", o.Repeat, want)
		}
	}
	if total != 21 {
		t.Errorf("%d runs have an outcome, not 21", total)
	}
}

// What is right is right with all schedules, bit by bit; the report is the same each time.
func TestSchedulesOfWhatIsRight(t *testing.T) {
	executors(t, func(t *testing.T, executor string) {
		for _, s := range []run.Spec{
			{Bench: "allgather_distributed", Algorithm: faulty.Meets.Name},
			{Bench: "allreduce_distributed", Options: map[string]string{"mode": "bidirectional_ring"}},
			{Bench: "bounded_queue", Options: map[string]string{"items": "9", "slots": "2", "item-elems": "8"}},
			{Bench: "low_latency_all_to_all", Options: map[string]string{"calls": "5"}},
			{Bench: "intra_node_reduce_scatter",
				Options: map[string]string{"m": "32", "n": "8", "tile": "4x4", "calls": "2", "barrier": "true"}},
			{Ranks: 5},
		} {
			s.Executor, s.Schedules = executor, 8
			var texts []string
			for range 2 {
				r := right(t, s)
				if v := r.Verdict("schedules"); v.State != run.Checked || len(r.Schedules.Outcomes) != 1 ||
					r.Schedules.Outcomes[0].Runs != 9 {
					t.Fatalf("%s: %v: %+v", s.Bench, v, r.Schedules)
				}
				text, err := json.Marshal(r.Schedules)
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, string(text))
			}
			if texts[0] != texts[1] {
				t.Errorf("%s: %s, then %s", s.Bench, texts[0], texts[1])
			}
		}
	})
}

// Sums that round in the order of arrival differ, and are right.
func TestSchedulesThatRound(t *testing.T) {
	r := right(t, run.Spec{Bench: "allreduce_distributed", Algorithm: faulty.Piles.Name, Ranks: 7, DType: dtype.BF16,
		Seed: 1, Schedules: 10, Executor: mock.Name})
	v := r.Verdict("schedules")
	if len(r.Schedules.Outcomes) < 2 || v.State != run.Checked || !strings.Contains(v.Detail, "all within their bounds") {
		t.Fatalf("%v: %+v", v, r.Schedules)
	}
}

// A hang is one outcome, whenever it comes.
func TestSchedulesThatHang(t *testing.T) {
	executors(t, func(t *testing.T, executor string) {
		r, err := run.Run(ctx, run.Spec{Bench: "allgather_distributed", Algorithm: faulty.Forgets.Name, Schedules: 5, Executor: executor})
		var d *fault.Deadlock
		if !errors.As(err, &d) {
			t.Fatalf("got %v", err)
		}
		if v := r.Verdict("schedules"); v.State != run.Failed || len(r.Schedules.Outcomes) != 1 || r.Schedules.Outcomes[0].Runs != 6 {
			t.Fatalf("%v: %+v", v, r.Schedules)
		}
	})
}

// Ctrl-C leaves what was found until then.
func TestInterruptedSchedules(t *testing.T) {
	stopped, cancel := context.WithCancel(ctx)
	r, err := run.Run(stopped, run.Spec{Bench: "allgather_distributed", Schedules: 1000, Progress: func(p run.Progress) {
		if p.Phase == "schedules" && p.Done == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || r == nil || r.Schedules == nil || r.Schedules.Done != 3 || r.Schedules.Asked != 1000 {
		t.Fatalf("%+v, %v", r, err)
	}
	if v := r.Verdict("schedules"); v.State != run.NotChecked ||
		!strings.HasPrefix(v.Detail, "interrupted: 3 of 1000 more schedules came to the same result") {
		t.Errorf("%v", v)
	}
}
