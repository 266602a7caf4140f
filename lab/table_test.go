package lab_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"kernbench/fault"
	"kernbench/lab"
)

func TestTheWholeLibrary(t *testing.T) {
	var streamed []lab.TestRow
	sum, err := lab.Test(ctx, lab.TestSpec{
		Algorithms: []string{"hello_send", "ring_allreduce", "ring_allreduce_chunked", "mesh_allreduce", "tree_allreduce"},
		Ranks:      []int{1, 3, 4}, Row: func(r lab.TestRow) { streamed = append(streamed, r) },
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

// Every number of ranks has counts that a collective of blocks can have.
func TestBlocksDivide(t *testing.T) {
	sum, err := lab.Test(ctx, lab.TestSpec{Algorithms: []string{"window_all_to_all"}, Ranks: []int{1, 3, 11}})
	if err != nil {
		t.Fatal(err)
	}
	if !sum.OK() || sum.Skipped != 0 || sum.Rows[0].Cases != sum.Rows[2].Cases {
		t.Fatalf("%+v", sum)
	}
}

func TestAWrongAlgorithmFailsItsTest(t *testing.T) {
	sum, err := lab.Test(ctx, lab.TestSpec{Algorithms: []string{"lab_double"}, Ranks: []int{1, 3}})
	if err != nil {
		t.Fatal(err)
	}
	alone, three := sum.Rows[0], sum.Rows[1]
	if sum.OK() || alone.Failed != 0 || three.OK != 0 {
		t.Fatalf("%+v", sum)
	}
	if !strings.Contains(three.First, "more than once") || !strings.Contains(three.Command, "kernbench run --bench ccl_hello --algorithm lab_double --ranks 3 --n-elem 1 ") {
		t.Fatalf("%+v", three)
	}
}

func TestAPanicInARowFailsItsTest(t *testing.T) {
	sum, err := lab.Test(ctx, lab.TestSpec{Algorithms: []string{"lab_bad_check", "ring_allreduce"}, Ranks: []int{2}})
	if err != nil || sum.OK() || sum.Rows[0].Failed != 1 || !strings.Contains(sum.Rows[0].First, errCheck.Error()) || sum.Rows[1].OK == 0 {
		t.Fatalf("%+v, %v", sum, err)
	}
}

func TestTestsAreRefused(t *testing.T) {
	if _, err := lab.Test(ctx, lab.TestSpec{Algorithms: []string{"tree_alreduce"}}); err == nil || !strings.Contains(err.Error(), "tree_allreduce") {
		t.Fatalf("got %v", err)
	}
	if _, err := lab.Test(ctx, lab.TestSpec{Ranks: []int{0}}); err == nil {
		t.Fatal("a world of nobody was tested")
	}
	sum, err := lab.Test(ctx, lab.TestSpec{Topology: "ahbm-cube", Algorithms: []string{"ring_allreduce"}, Ranks: []int{9}})
	if err != nil || sum.OK() || !strings.Contains(sum.Rows[0].Skipped, "the machine has 8 PEs") {
		t.Fatalf("%+v, %v", sum, err)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := lab.Test(stopped, lab.TestSpec{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

func TestCompare(t *testing.T) {
	var streamed int
	// The entry has a buffer_kind of its own, which must not hold against the comparison.
	rows, err := lab.Compare(ctx, lab.Spec{Algorithm: "ring_allreduce_hbm", Ranks: 8, NElem: 1024}, func(lab.CompareRow) { streamed++ })
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 6 || streamed != 6 {
		t.Fatalf("%d rows, %d streamed", len(rows), streamed)
	}
	took := map[string]int64{}
	for _, r := range rows {
		if r.Error != "" || !r.Result.OK() {
			t.Fatalf("%+v", r)
		}
		took[r.BufferKind+" "+r.Backpressure] = int64(r.Result.SimulatedTime)
	}
	if took["hbm sleep"] <= took["tcm sleep"] {
		t.Fatalf("slots in HBM are no slower than in TCM: %v", took)
	}
	if took["tcm poll"] == took["tcm sleep"] {
		t.Fatalf("polling takes to the picosecond as long as sleeping: %v", took)
	}
	if _, err := lab.Compare(ctx, lab.Spec{Bench: "gemm_single_pe"}, nil); err == nil {
		t.Fatal("a bench without rings was compared")
	}
}

// Algorithms of one collective are compared by time, those over windows with those over rings.
func TestCompareAlgorithms(t *testing.T) {
	names := []string{"ring_allreduce_chunked", "window_allreduce_twophase", "lab_double", "ring_allreduce_hbm"}
	var streamed []string
	rows, err := lab.CompareAlgorithms(ctx, lab.Spec{Ranks: 4, NElem: 4096, VerifyData: true}, names, func(r lab.CompareRow) { streamed = append(streamed, r.Algorithm) })
	if err != nil || !slices.Equal(streamed, names) {
		t.Fatalf("%v, %v", streamed, err)
	}
	for i, r := range rows {
		if r.Algorithm != names[i] || r.Err != nil || r.Result.Algorithm != names[i] || r.Result.OK() != (names[i] != "lab_double") {
			t.Errorf("%s: %+v", names[i], r)
		}
		if r.Result.SimulatedTime <= 0 || r.Result.Bench != "ccl_allreduce" || len(r.Result.Traffic) != 4 || r.Result.Traffic[0].Remote() == 0 {
			t.Errorf("%s: %+v", names[i], r.Result)
		}
	}
	if rows[0].Result.SimulatedTime == rows[1].Result.SimulatedTime {
		t.Error("two algorithms take to the picosecond as long")
	}
	rows, err = lab.CompareAlgorithms(ctx, lab.Spec{}, []string{"window_allgather", meets.Name}, nil)
	if err != nil || len(rows) != 2 || rows[1].Err != nil || rows[1].Result.Bench != "allgather_distributed" {
		t.Errorf("%+v, %v", rows, err)
	}
	for want, c := range map[string]struct {
		spec  lab.Spec
		names []string
	}{
		"at least two":                {lab.Spec{}, names[:1]},
		"one of them says what":       {lab.Spec{Algorithm: "lab_double"}, names},
		"window_allgather all_gather": {lab.Spec{}, []string{"ring_allreduce", "window_allgather"}},
		"unknown algorithm":           {lab.Spec{}, []string{"ring_allreduce", "ring_alreduce_chunke"}},
		"would change nothing":        {lab.Spec{Bench: "gemm_single_pe"}, names},
	} {
		if rows, err := lab.CompareAlgorithms(ctx, c.spec, c.names, nil); err == nil || !strings.Contains(err.Error(), want) || rows != nil {
			t.Errorf("%v, %v: want an error with %q", rows, err, want)
		}
	}
}

// No ccl.yaml knows an algorithm of somebody's own, such as one of kernbench new project.
func TestCompareWithoutEntry(t *testing.T) {
	rows, err := lab.Compare(ctx, lab.Spec{Algorithm: "lab_waits", Ranks: 3}, nil)
	if err != nil || len(rows) != 6 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, r := range rows {
		if d, ok := errors.AsType[*fault.Deadlock](r.Err); !ok || d.World != 3 || r.Error != r.Err.Error() {
			t.Errorf("%s %s: %v is no deadlock", r.BufferKind, r.Backpressure, r.Err)
		}
	}
}
