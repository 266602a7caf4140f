package suite_test

import (
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/lab/run"
	"kernbench/lab/suite"
	"kernbench/tl"
)

// adds is a ring that always adds, whatever the operation. Its row declares that.
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
