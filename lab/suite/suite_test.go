package suite_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"kernbench/lab/faulty"
	"kernbench/lab/suite"
)

var ctx = context.Background()

func TestTheWholeLibrary(t *testing.T) {
	var streamed []suite.Row
	sum, err := suite.Run(ctx, suite.Spec{
		Algorithms: []string{"hello_send", "ring_allreduce", "ring_allreduce_chunked", "mesh_allreduce", "tree_allreduce"},
		Ranks:      []int{1, 3, 4}, Row: func(r suite.Row) { streamed = append(streamed, r) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if !sum.OK() || len(sum.Rows) != 15 || len(streamed) != 15 || sum.Skipped != 1 {
		t.Fatalf("%+v", sum)
	}
	for _, r := range sum.Rows {
		if (r.Algorithm == "mesh_allreduce" && r.World == 3) != (r.Skipped != "") || r.OK != r.Cases {
			t.Fatalf("%+v", r)
		}
	}
}

// Every number of ranks has counts for a collective of blocks.
func TestBlocksDivide(t *testing.T) {
	sum, err := suite.Run(ctx, suite.Spec{Algorithms: []string{"window_all_to_all"}, Ranks: []int{1, 3, 11}})
	if err != nil {
		t.Fatal(err)
	}
	if !sum.OK() || sum.Skipped != 0 || sum.Rows[0].Cases != sum.Rows[2].Cases {
		t.Fatalf("%+v", sum)
	}
}

func TestAWrongAlgorithmFailsItsTest(t *testing.T) {
	sum, err := suite.Run(ctx, suite.Spec{Algorithms: []string{"lab_double"}, Ranks: []int{1, 3}})
	if err != nil {
		t.Fatal(err)
	}
	alone, three := sum.Rows[0], sum.Rows[1]
	if sum.OK() || alone.Failed != 0 || three.OK != 0 {
		t.Fatalf("%+v", sum)
	}
	if !strings.Contains(three.First, "more than once") ||
		!strings.Contains(three.Command, "kernbench run --bench ccl_hello --algorithm lab_double --ranks 3 --n-elem 1 ") {
		t.Fatalf("%+v", three)
	}
}

func TestAPanicInARowFailsItsTest(t *testing.T) {
	sum, err := suite.Run(ctx, suite.Spec{Algorithms: []string{"lab_bad_check", "ring_allreduce"}, Ranks: []int{2}})
	if err != nil || sum.OK() || sum.Rows[0].Failed != 1 ||
		!strings.Contains(sum.Rows[0].First, faulty.ErrCheck.Error()) || sum.Rows[1].OK == 0 {
		t.Fatalf("%+v, %v", sum, err)
	}
}

func TestTestsAreRefused(t *testing.T) {
	if _, err := suite.Run(ctx, suite.Spec{Algorithms: []string{"tree_alreduce"}}); err == nil ||
		!strings.Contains(err.Error(), "tree_allreduce") {
		t.Fatalf("got %v", err)
	}
	if _, err := suite.Run(ctx, suite.Spec{Ranks: []int{0}}); err == nil {
		t.Fatal("a world without ranks was tested")
	}
	sum, err := suite.Run(ctx, suite.Spec{Topology: "ahbm-cube", Algorithms: []string{"ring_allreduce"}, Ranks: []int{9}})
	if err != nil || sum.OK() || !strings.Contains(sum.Rows[0].Skipped, "the machine has 8 PEs") {
		t.Fatalf("%+v, %v", sum, err)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := suite.Run(stopped, suite.Spec{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

// A test of an algorithm over a window finds its races, even in runs with right results.
func TestTestsFindRaces(t *testing.T) {
	sum, err := suite.Run(ctx, suite.Spec{Algorithms: []string{faulty.Hasty.Name, faulty.Meets.Name,
		faulty.Undrained.Name}, Ranks: []int{1, 3}})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range sum.Rows {
		racy := row.Algorithm != faulty.Meets.Name && row.World > 1
		if racy != (row.Failed > 0) || row.Cases == 0 {
			t.Errorf("%s, %d ranks: %d of %d failed: %s", row.Algorithm, row.World, row.Failed, row.Cases, row.First)
		}
		if racy && row.Algorithm == faulty.Undrained.Name &&
			(!strings.Contains(row.First, "\nrace on "+faulty.Undrained.Name+".data") ||
				!strings.Contains(row.First, "missing: a pipe_barrier")) {
			t.Errorf("the hazard is not reported: %s", row.First)
		}
	}
}
