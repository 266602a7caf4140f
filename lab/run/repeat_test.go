package run_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"kernbench/algorithm"
	"kernbench/exec/mock"
	"kernbench/exec/sim"
	_ "kernbench/lab/faulty"
	"kernbench/lab/run"
	"kernbench/tl"
)

// runs counts the kernels of rank 0 that lab_changes has begun: what a random number would do, at
// will.
var runs atomic.Int64

// changing is a ring all-reduce that in every second execution does what odd does.
func changing(name string, odd func(c *tl.Context, a tl.Args, acc tl.Tensor) tl.Tensor) {
	algorithm.Register(algorithm.Algorithm{
		Name: name, Collective: "all_reduce", Topology: "ring_1d",
		Kernel: func(c *tl.Context, a tl.Args) {
			mine := a.Shard(c.Rank())
			acc := c.Load(mine)
			current := acc
			for range c.WorldSize() - 1 {
				c.Send(tl.East, current)
				current = c.Recv(tl.West, acc.Shape(), a.DType)
				acc = c.Combine(a.Op, acc, current)
			}
			if c.Rank() == 0 && runs.Add(1)%2 == 1 {
				acc = odd(c, a, acc)
			}
			c.Store(mine, c.Finish(a.Op, acc, c.WorldSize()))
		},
	})
}

func init() {
	changing("lab_changes_time", func(c *tl.Context, a tl.Args, acc tl.Tensor) tl.Tensor {
		return c.Add(acc, c.Full(acc.Shape(), a.DType, 0))
	})
	changing("lab_changes_traffic", func(c *tl.Context, a tl.Args, acc tl.Tensor) tl.Tensor {
		c.Load(a.Shard(1)) // of another PE
		return acc
	})
	changing("lab_changes_result", func(c *tl.Context, a tl.Args, acc tl.Tensor) tl.Tensor {
		return c.Scale(0, acc, float64(runs.Load())) // plus a number
	})
	changing("lab_changes_end", func(c *tl.Context, a tl.Args, acc tl.Tensor) tl.Tensor {
		panic("one time in two")
	})
}

// A kernel that is no function of its arguments is reported wherever a run is repeated, and then no
// other schedule proves anything.
func TestChangingKernels(t *testing.T) {
	const note = "the run came out differently when it was repeated with the same schedule"
	noted := func(r *run.Result, what string) bool {
		return slices.ContainsFunc(r.Notes, func(n string) bool { return strings.HasPrefix(n, note) && strings.Contains(n, what) })
	}
	for _, tt := range []struct {
		name, executor, what string
	}{
		{"lab_changes_time", sim.Name, "launch 1 took "},
		{"lab_changes_traffic", mock.Name, "launch 1 moved "},
		{"lab_changes_result", mock.Name, "different results"},
		{"lab_changes_result", sim.Name, ""},
		{"lab_changes_end", mock.Name, "one time in two"},
		{"lab_changes_end", sim.Name, ""},
	} {
		runs.Store(0)
		// Event-driven, a kernel runs once in each pass.
		spec := run.Spec{Algorithm: tt.name, Ranks: 3, NElem: 8, Schedules: 2, Executor: tt.executor}
		if tt.executor == sim.Name {
			spec.Sets = []string{"defaults.buffer_kind=hbm"}
		}
		r, _ := run.Run(ctx, spec)
		if !noted(r, tt.what) || r.Class != nil || r.OK() {
			t.Errorf("%s on %s: notes %q, class %v", tt.name, tt.executor, r.Notes, r.Class)
		}
		if v := r.Verdict("schedules"); v.State != run.Failed {
			t.Errorf("%s on %s: %v", tt.name, tt.executor, v)
		}
		if v := r.Verdict("race"); v.State == run.Checked {
			t.Errorf("%s on %s: %v", tt.name, tt.executor, v)
		}
	}

	// A result that is right the second time is reported as before; what is wrong twice, but
	// differently, too.
	runs.Store(0)
	r, err := run.Run(ctx, run.Spec{Algorithm: "lab_changes_result", Ranks: 3, NElem: 8, VerifyData: true, Executor: mock.Name})
	if err != nil || r.OK() || !noted(r, "different results") {
		t.Errorf("%v, notes %q", err, r.Notes)
	}
	// Hazards that a repetition has not are still hazards.
	runs.Store(0)
	r, err = run.Run(ctx, run.Spec{Algorithm: "lab_changes_traffic", Ranks: 3, NElem: 8, Executor: mock.Name, Race: &yes})
	if v := r.Verdict("race"); err != nil || v.State != run.Failed || len(r.Hazards) == 0 || !noted(r, "") {
		t.Errorf("%v, %v, hazards %v, notes %q", err, v, r.Hazards, r.Notes)
	}
	// A kernel that is a function of its arguments is not accused, right or wrong.
	for _, executor := range []string{mock.Name, sim.Name} {
		for _, name := range []string{"ring_allreduce", "lab_double", "lab_twice", "lab_panics", "lab_waits", "lab_overflow"} {
			r, _ := run.Run(ctx, run.Spec{Algorithm: name, Ranks: 3, NElem: 8, Schedules: 2, Executor: executor, Race: &yes})
			if noted(r, "") {
				t.Errorf("%s on %s: notes %q", name, executor, r.Notes)
			}
			if o := r.Schedules.Outcomes[0]; name == "lab_panics" && strings.Contains(o.What, "goroutine") { // whose stacks differ
				t.Errorf("%s on %s: %+v", name, executor, o)
			}
		}
	}
}
