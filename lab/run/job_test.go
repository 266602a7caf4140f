package run

import (
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/tl"
)

// Products make many jobs of one: each of them must leave the first as it was.
func TestJobsOfAJob(t *testing.T) {
	x, err := Load(Spec{Topology: "ahbm-cube", Algorithm: "ring_allreduce", Ranks: 3})
	if err != nil {
		t.Fatal(err)
	}
	was := *x
	one := x.OneCall(collective.Call{World: 3, Type: dtype.F32, Op: tl.Max}, false)
	if one.NElem != 1 || one.DType != dtype.F32 || one.Op != tl.Max || one.BenchProgram() == x.BenchProgram() {
		t.Errorf("one call: %d x %v, %v by %s", one.NElem, one.DType, one.Op, one.BenchProgram().Name)
	}
	mock := one.On(exec.Default(exec.Checking))
	if mock.Row().Can(exec.Clock) || mock.Executor != mock.Row().Name || mock.AtFidelity() != "" {
		t.Errorf("on %s: %s at %q", mock.Row().Name, mock.Executor, mock.AtFidelity())
	}
	if !x.Verified(true).VerifyData {
		t.Error("a job that checks data does not")
	}
	tree, err := x.Using("tree_allreduce", []string{"protocol=ll"})
	if err != nil || tree.Algorithm != "tree_allreduce" || tree.Protocol() != "ll" || x.Protocol() == "ll" {
		t.Errorf("tree_allreduce with protocol ll: %s with %s, %v; before %s", tree.Algorithm, tree.Protocol(), err, x.Protocol())
	}
	if _, err := x.Using("tree_allreduce", []string{"n_slots=0"}); err == nil {
		t.Error("n_slots=0 is no error")
	}
	if len(x.Participants()) != 3 || x.World() != 3 {
		t.Errorf("participants %v of a world of %d", x.Participants(), x.World())
	}
	if was.Algorithm != x.Algorithm || was.NElem != x.NElem || was.VerifyData != x.VerifyData ||
		was.program != x.program || was.row != x.row || was.Entries != x.Entries {
		t.Errorf("the job has changed: %+v", x)
	}
}
