package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/exec/sim"
	"kernbench/fault"
	"kernbench/lab/faulty"
	"kernbench/lab/run"
)

var yes, no = true, false

// gather returns the all-gather by one of the kernels over a window.
func gather(algorithm, executor string) run.Spec {
	return run.Spec{Bench: "allgather_distributed", Algorithm: algorithm, Executor: executor, Race: &yes}
}

// A race is found though the results are right, on both executors, with both lines.
func TestRaces(t *testing.T) {
	executors(t, func(t *testing.T, executor string) {
		for _, c := range []struct{ algorithm, missing string }{
			{faulty.Hasty.Name, "barrier between"}, {faulty.Undrained.Name, "a pipe_barrier of rank 0 between store at"},
		} {
			r, err := run.Run(ctx, gather(c.algorithm, executor))
			if err != nil {
				t.Fatal(err)
			}
			v := r.Verdict("race")
			if r.OK() || v.State != run.Failed || len(r.Hazards) == 0 || !strings.Contains(v.Detail, "hazard") {
				t.Fatalf("%s: %v: %+v", c.algorithm, v, r.Hazards)
			}
			h := &r.Hazards[0]
			for _, line := range []string{h.First.Line, h.Second.Line} {
				if !strings.Contains(line, "windows.go:") {
					t.Errorf("%s: no line of the kernel in %v", c.algorithm, h)
				}
			}
			if !strings.HasPrefix(h.Where, c.algorithm+".data of sip0.cube0.pe") || !strings.Contains(h.Missing, c.missing) {
				t.Errorf("%s: at %q, missing %q", c.algorithm, h.Where, h.Missing)
			}
			if r.Class == nil || r.Class.Name != "scheduled" {
				t.Errorf("%s: class %+v", c.algorithm, r.Class)
			}
		}
	})
}

// A lock that lets two ranks in has no hazard if no two ranks come at the same time. Another
// schedule shows the hazard. The verdict names that schedule, and a run of that schedule alone
// shows it, too.
func TestRacesInOtherSchedules(t *testing.T) {
	executors(t, func(t *testing.T, executor string) {
		s := run.Spec{Algorithm: faulty.TwoAtATime.Name, Executor: executor, Ranks: 3, NElem: 4, Race: &yes, Schedule: 0}
		r, err := run.Run(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		v := r.Verdict("race")
		if r.OK() || v.State != run.Failed || len(r.Hazards) == 0 {
			t.Fatalf("%v: %+v", v, r.Hazards)
		}
		_, after, ok := strings.Cut(v.Detail, "in --schedule ")
		if executor == mock.Name && !ok {
			t.Fatalf("%v, want the schedule that has them", v)
		}
		if !ok {
			return
		}
		if n, err := fmt.Sscanf(after, "%d;", &s.Schedule); n != 1 || err != nil {
			t.Fatalf("%v: %v", v, err)
		}
		if alone, err := run.Run(ctx, s); err != nil || alone.Verdict("race").State != run.Failed || len(alone.Hazards) != len(r.Hazards) {
			t.Errorf("schedule %d alone: %v, %+v", s.Schedule, err, alone.Hazards)
		}
	})
}

// A right lock is judged in other schedules too, and the verdict states in how many.
func TestNoRacesInOtherSchedules(t *testing.T) {
	executors(t, func(t *testing.T, executor string) {
		for name, want := range map[string]string{faulty.OneAtATime.Name: "none in 8 schedules", faulty.Hasty.Name: ""} {
			r, err := run.Run(ctx, run.Spec{Algorithm: name, Executor: executor, Ranks: 3, NElem: 4, Race: &yes})
			if err != nil {
				t.Fatal(err)
			}
			if v := r.Verdict("race"); (v.State == run.Checked) != (want != "") || !strings.Contains(v.Detail, want) {
				t.Errorf("%s: %v, want %q", name, v, want)
			}
		}
	})
}

// Atomics do not make a program scheduled if its kernels do not act on what they return. Those that
// do are found, and so is a hazard that a returned value hides in this schedule.
func TestAtomicsThatAreIgnored(t *testing.T) {
	executors(t, func(t *testing.T, executor string) {
		for _, c := range []struct {
			algorithm, class string
			tried            bool
			race             run.State
		}{
			{faulty.CountsIn.Name, "counting", true, run.Checked},
			{faulty.CountsInAndLooks.Name, "scheduled", false, run.Checked},
			{faulty.LastGoesOn.Name, "scheduled", executor == mock.Name, run.Failed},
			{faulty.Swaps.Name, "counting", true, run.Checked},
			{faulty.Locks.Name, "counting", true, run.Checked},
			{faulty.LocksAndCounts.Name, "scheduled", false, run.Checked},
			{faulty.SwapsIfItCan.Name, "scheduled", false, run.Checked},
			{faulty.TriesOnce.Name, "scheduled", false, run.Checked},
			{faulty.Meets.Name, "counting", false, run.Checked},
		} {
			s := gather(c.algorithm, executor)
			s.Schedules = 5
			r, err := run.Run(ctx, s)
			if err != nil {
				t.Fatal(err)
			}
			if r.Class == nil || r.Class.Name != c.class || (r.Class.Tried > 0) != c.tried || r.Verdict("race").State != c.race {
				t.Errorf("%s: class %+v, %v; want %+v", c.algorithm, r.Class, r.Verdict("race"), c)
			}
			if v := r.Verdict("schedules"); c.class == "counting" && v.State != run.Checked {
				t.Errorf("%s: the class is counting, and %v", c.algorithm, v)
			}
		}
	})
}

// The conclusions from one run depend on the operations of the program, not on the outcome of the
// run.
func TestClasses(t *testing.T) {
	executors(t, func(t *testing.T, executor string) {
		for _, c := range []struct {
			spec    run.Spec
			class   string
			depends []string // operations
		}{
			{run.Spec{Ranks: 8}, "directed", nil},
			{run.Spec{Bench: "gpt3_qkv", NElem: 64}, "directed", nil},
			{gather(faulty.Meets.Name, executor), "counting", nil},
			{run.Spec{Bench: "allreduce_distributed", Options: map[string]string{"mode": "bidirectional_ring"}}, "counting", nil},
			{run.Spec{Bench: "bounded_queue", Options: map[string]string{"items": "20", "item-elems": "4"}}, "counting", nil},
			{run.Spec{Bench: "low_latency_all_to_all"}, "scheduled", []string{"set"}},
			{run.Spec{Bench: "allreduce_distributed", Algorithm: faulty.Piles.Name, DType: dtype.F16}, "scheduled",
				[]string{"put_combine"}},
			{run.Spec{Bench: "intra_node_reduce_scatter",
				Options: map[string]string{"m": "16", "n": "8", "tile": "4x4", "calls": "3", "barrier": "true"}},
				"counting", nil},
		} {
			c.spec.Race, c.spec.Executor = &yes, executor
			r, err := run.Run(ctx, c.spec)
			if err != nil {
				t.Fatal(err)
			}
			if v := r.Verdict("race"); v.State != run.Checked || len(r.Hazards) > 0 {
				t.Errorf("%s %s: %v: %+v", c.spec.Bench, c.spec.Algorithm, v, r.Hazards)
			}
			var depends []string
			for _, d := range r.Class.Depends {
				if !slices.Contains(depends, d.Op) {
					depends = append(depends, d.Op)
				}
				if !strings.Contains(d.Line, ".go:") || d.Why == "" {
					t.Errorf("%s: %+v", c.spec.Bench, d)
				}
			}
			if r.Class.Name != c.class || !slices.Equal(depends, c.depends) {
				t.Errorf("%s %s: %s, %v; want %s, %v", c.spec.Bench, c.spec.Algorithm, r.Class.Name, depends, c.class, c.depends)
			}
			if asks := slices.ContainsFunc(r.Verdicts,
				func(v run.Verdict) bool { return v.Question == "schedules" }); asks != (c.class == "scheduled") {
				t.Errorf("%s: %v", c.spec.Bench, r.Verdicts)
			}
		}
	})
}

// Without a word mock looks for races and sim does not.
func TestWhoLooksForRaces(t *testing.T) {
	for _, c := range []struct {
		executor string
		race     *bool
		looked   bool
	}{{mock.Name, nil, true}, {mock.Name, &no, false}, {sim.Name, nil, false}, {sim.Name, &yes, true}} {
		s := gather(faulty.Hasty.Name, c.executor)
		s.Race = c.race
		r, err := run.Run(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		if v := r.Verdict("race"); (v.State == run.Failed) != c.looked || (r.Class != nil) != c.looked || !c.looked &&
			v.String() != "race: not checked: add --race" {
			t.Errorf("%s, %v: %v", c.executor, c.race, v)
		}
	}
}

// An order that hides what is missing is said to.
func TestSequentialHides(t *testing.T) {
	s := gather(faulty.Undrained.Name, mock.Name)
	s.Sets = []string{"fabric.memory_order=sequential"}
	r, err := run.Run(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	if v := r.Verdict("race"); v.State != run.Checked || r.MemoryOrder != "sequential" ||
		!strings.Contains(strings.Join(r.Notes, "\n"), "hides missing fences") {
		t.Errorf("%v, %s, %q", v, r.MemoryOrder, r.Notes)
	}
}

// For a run that hangs the hazards until then are reported.
func TestRaceOfAHang(t *testing.T) {
	executors(t, func(t *testing.T, executor string) {
		r, err := run.Run(ctx, gather(faulty.Forgets.Name, executor))
		if _, ok := errors.AsType[*fault.Deadlock](err); !ok {
			t.Fatalf("got %v", err)
		}
		if v := r.Verdict("race"); v.State != run.Failed || len(r.Hazards) == 0 {
			t.Errorf("%v: %+v", v, r.Hazards)
		}
		if r, err = run.Run(ctx, run.Spec{Algorithm: "lab_waits", Ranks: 3, Executor: executor, Race: &yes}); err == nil {
			t.Fatal("it should hang")
		}
		if v := r.Verdict("race"); v.State != run.NotChecked || !strings.Contains(v.Detail, "did not end") || r.Class != nil {
			t.Errorf("%v, class %+v", v, r.Class)
		}
	})
}

// A notification that comes after a wait which it could have ended is seen when the program is
// run again. Ctrl-C leaves the question open.
func TestNotificationsThatComeLater(t *testing.T) {
	s, again := gather(faulty.Anyone.Name, mock.Name), 0
	s.Progress = func(p run.Progress) {
		if p.Phase == "races" {
			again++
		}
	}
	r, err := run.Run(ctx, s)
	if err != nil || again == 0 || r.Verdict("race").State != run.Failed {
		t.Fatalf("%d passes more, %v: %v", again, err, r.Verdict("race"))
	}
	stopped, cancel := context.WithCancel(ctx)
	s.Progress = func(p run.Progress) {
		if p.Phase == "races" {
			cancel()
		}
	}
	r, err = run.Run(stopped, s)
	if !errors.Is(err, context.Canceled) || r.Verdict("race").State == run.Checked {
		t.Fatalf("%v: %v", err, r.Verdict("race"))
	}
}
