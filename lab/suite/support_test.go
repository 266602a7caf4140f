package suite_test

import (
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/lab/run"
	"kernbench/lab/suite"
	"kernbench/tl"

	"github.com/google/go-cmp/cmp"
)

// adds is a ring that adds for every operation. Its row declares that.
var adds = algorithm.Register(algorithm.Algorithm{
	Name: "lab_adds", Collective: "all_reduce", Topology: "ring_1d", Ops: []tl.ReduceOp{tl.Sum, tl.Avg},
	Kernel: func(c *tl.Context, a tl.Args) {
		mine := a.Shard(c.Rank())
		acc := c.Load(mine)
		current := acc
		for range c.WorldSize() - 1 {
			c.Send(tl.East, current)
			current = c.Recv(tl.West, acc.Shape(), acc.DType())
			acc = c.Add(acc, current)
		}
		c.Store(mine, c.Finish(a.Op, acc, c.WorldSize()))
	},
})

// A kernel that adds is right for the operations of its row, and a run with another operation is
// refused.
func TestDeclaredOperations(t *testing.T) {
	sum, err := suite.Run(ctx, suite.Spec{Algorithms: []string{adds.Name}, Ranks: []int{1, 3}})
	// 7 counts for sums of f16, and 9 types × 2 operations without that pair.
	if err != nil || !sum.OK() || sum.Cases != 2*(7+9*2-1) {
		t.Errorf("%+v, %v", sum, err)
	}
	_, err = run.Run(ctx, run.Spec{Algorithm: adds.Name, Ranks: 3, Op: tl.Max})
	if err == nil || !strings.Contains(err.Error(), "algorithm lab_adds: it supports the operation sum, avg, not max") {
		t.Errorf("got %v", err)
	}
	sum, err = suite.Run(ctx, suite.Spec{Algorithms: []string{adds.Name}, Ranks: []int{3}, Ops: []tl.ReduceOp{tl.Max}})
	if err != nil || sum.Cases != 0 || sum.Skipped != 1 || !strings.Contains(sum.Rows[0].Skipped, "none of the operations") {
		t.Errorf("%+v, %v", sum, err)
	}
}

// Only the names in a spec are tested, on a machine that is large enough.
func TestChosenCases(t *testing.T) {
	s := suite.Spec{
		Algorithms: []string{"ring_allreduce"}, Ranks: []int{2, 260},
		Ops: []tl.ReduceOp{tl.Sum, tl.Max}, Types: []dtype.Type{dtype.F32}, Counts: []int{1, 9},
	}
	sum, err := suite.Run(ctx, s)
	if err != nil || !sum.OK() || sum.Cases != 2*2*2 {
		t.Errorf("%+v, %v", sum, err)
	}
	s.Sets = []string{"system.sips.count=2"} // chosen by the user, and unchanged
	if sum, err = suite.Run(ctx, s); err != nil || sum.Cases != 2*2 || !strings.Contains(sum.Rows[1].Skipped, "the machine has 256 PEs") {
		t.Errorf("%+v, %v", sum, err)
	}
	if _, err := suite.Run(ctx, suite.Spec{Counts: []int{0}}); err == nil || !strings.Contains(err.Error(), "0 elements") {
		t.Errorf("got %v", err)
	}
}

// Types that a switch of the machine does not reduce are left out with the reason, and do not fail.
// A run with one of them is refused on each executor before it begins.
func TestTypesOfSwitches(t *testing.T) {
	const only = "the switch reduces f32, i32 only (switch.reduce.types)"
	s := suite.Spec{Algorithms: []string{"nvls_allreduce"}, Ranks: []int{1, 4}, Topology: "dgx-h100",
		Sets: []string{"system.switch.reduce.types=[f32, i32]"}}
	sum, err := suite.Run(ctx, s)
	// 7 counts for one type and operation, and the other 7 pairs of 2 types × 4 operations.
	if err != nil || !sum.OK() || sum.Rows[1].Cases != 7+2*4-1 {
		t.Fatalf("%+v, %v", sum, err)
	}
	left := []suite.LeftOut{{Types: []dtype.Type{dtype.F16, dtype.BF16, dtype.F64, dtype.I64}, Reason: only}}
	if d := cmp.Diff(left, sum.Rows[1].LeftOut); d != "" || sum.Rows[0].LeftOut != nil {
		t.Errorf("%s, %+v", d, sum.Rows[0])
	}
	s.Ranks, s.Types = []int{4}, []dtype.Type{dtype.F16}
	sum, err = suite.Run(ctx, s)
	if err != nil || sum.Cases != 0 || !strings.HasSuffix(sum.Rows[0].Skipped, only) {
		t.Errorf("%+v, %v", sum, err)
	}
	for _, x := range []string{"mock", "sim"} {
		for _, typ := range []dtype.Type{dtype.F16, dtype.F32} {
			for _, op := range []tl.ReduceOp{tl.Sum, tl.Prod} {
				want := ""
				switch {
				case op == tl.Prod:
					want = "algorithm nvls_allreduce: it supports the operation sum, max, min, avg, not prod"
				case typ == dtype.F16:
					want = "algorithm nvls_allreduce: 4 ranks of f16: " + only +
						": use f32, i32, or an algorithm that does not reduce in switches"
				}
				_, err := run.Run(ctx, run.Spec{Algorithm: "nvls_allreduce", Ranks: 4, DType: typ, Op: op, Topology: s.Topology,
					Sets: s.Sets, Executor: x, VerifyData: true})
				if want == "" && err != nil || want != "" && (err == nil || !strings.HasSuffix(err.Error(), want)) {
					t.Errorf("%s, %v, %v: %v, want %q", x, typ, op, err, want)
				}
			}
		}
	}
}

// A switch reduces partial sums of another type than the elements.
func TestTypesOfPartialSums(t *testing.T) {
	sets := []string{"system.switch.reduce.types=[f32]", "defaults.accumulate=f32"}
	for _, op := range []tl.ReduceOp{tl.Sum, tl.Max} {
		_, err := run.Run(ctx, run.Spec{Algorithm: "nvls_allreduce", Ranks: 4, DType: dtype.F16, Op: op, Topology: "dgx-h100", Sets: sets,
			VerifyData: true})
		if (err != nil) != (op == tl.Max) { // which has no partial sums
			t.Errorf("%v: %v", op, err)
		}
	}
}
