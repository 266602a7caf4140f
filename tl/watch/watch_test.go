package watch

import (
	"errors"
	"testing"

	"kernbench/fault"
	"kernbench/unit"
)

// issue does what a kernel does for an instruction at a line: Look only above NextLook.
func issue(w *Watch, k *Kernel, line string) error {
	if k.Calls++; k.Calls <= w.NextLook() {
		return nil
	}
	return w.Look(k, func() fault.Place { return fault.Place{Rank: k.Rank, Line: line} })
}

// A kernel answers each question once, with its next instruction.
func TestAsk(t *testing.T) {
	w, k := New(Limits{}), &Kernel{}
	for range 3 {
		before := w.Ask()
		for range 5 {
			if err := issue(w, k, "a.go:1"); err != nil {
				t.Fatal(err)
			}
		}
		if got := w.Answers() - before; got != 1 {
			t.Errorf("%d answers, want 1", got)
		}
	}
	if got := w.Stops(); len(got) != 0 {
		t.Errorf("stops %v, want none", got)
	}
}

// A kernel passes the limit of instructions with the first one above it. Near the limit it notes
// how many instructions it takes to come back to a line.
func TestLimitOfCalls(t *testing.T) {
	const limit = 30
	w, k, other := New(Limits{Calls: limit}), &Kernel{Rank: 2}, &Kernel{Rank: 1}
	lines := []string{"a.go:1", "a.go:2", "a.go:3"}
	for i := range limit {
		if err := issue(w, k, lines[i%3]); err != nil {
			t.Fatalf("instruction %d: %v", i+1, err)
		}
	}
	var f *fault.Limit
	if err := issue(w, k, lines[0]); !errors.As(err, &f) || f.Calls != limit || f.Rank != 2 {
		t.Fatalf("fault %v, want the limit of %d instructions", err, limit)
	}
	w.Ends(other, func() fault.Place { return fault.Place{Rank: 1, Line: "b.go:7"} })
	stops := w.Stops()
	if len(stops) != 2 || stops[0].Line != "b.go:7" || stops[1].Line != lines[0] || stops[1].Every != 3 || stops[1].Calls != limit+1 {
		t.Errorf("stops %+v", stops)
	}
}

// An instruction that begins after the limit of simulated time is a fault; one at the limit is
// none.
func TestLimitOfTime(t *testing.T) {
	now := unit.Time(0)
	w, k := New(Limits{Until: 100}), &Kernel{Now: func() (unit.Time, bool) { return now, true }}
	for _, now = range []unit.Time{0, 99, 100} {
		if err := issue(w, k, "a.go:1"); err != nil {
			t.Fatalf("at %v: %v", now, err)
		}
	}
	now = 101
	var f *fault.Limit
	if err := issue(w, k, "a.go:1"); !errors.As(err, &f) || f.Until != 100 {
		t.Errorf("fault %v, want the limit of time", err)
	}
}

// Kernels that end before the question are not listed, and the first exit is kept.
func TestEnds(t *testing.T) {
	w := New(Limits{})
	w.Ends(&Kernel{}, func() fault.Place { t.Error("the stack was walked"); return fault.Place{} })
	if w.Exited() != nil || len(w.Stops()) != 0 {
		t.Error("something is noted")
	}
	w.Exit(fault.Place{Rank: 3})
	w.Exit(fault.Place{Rank: 4})
	var e *fault.Exited
	if !errors.As(w.Exited(), &e) || e.Rank != 3 {
		t.Errorf("exited: %v, want rank 3", w.Exited())
	}
}
