package compare_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/lab/compare"
	"kernbench/lab/faulty"
	"kernbench/lab/limits"
	"kernbench/lab/run"
	"kernbench/unit"
)

var ctx = context.Background()

func TestCompare(t *testing.T) {
	var streamed int
	// The entry has a buffer_kind of its own, which the comparison must override.
	rows, err := compare.Settings(ctx, run.Spec{Algorithm: "ring_allreduce_hbm", Ranks: 8, NElem: 1024}, func(compare.Row) { streamed++ })
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
	if _, err := compare.Settings(ctx, run.Spec{Bench: "gemm_single_pe"}, nil); err == nil {
		t.Fatal("a bench without rings was compared")
	}
}

// Algorithms of one collective are compared by time, those over windows with those over rings.
func TestCompareAlgorithms(t *testing.T) {
	names := []string{"ring_allreduce_chunked", "window_allreduce_twophase", "lab_double", "ring_allreduce_hbm"}
	var streamed []string
	rows, err := compare.Algorithms(ctx, run.Spec{Ranks: 4, NElem: 4096, VerifyData: true}, names,
		func(r compare.Row) { streamed = append(streamed, r.Algorithm) })
	if err != nil || !slices.Equal(streamed, names) {
		t.Fatalf("%v, %v", streamed, err)
	}
	for i, r := range rows {
		if r.Algorithm != names[i] || r.Err != nil || r.Result.Algorithm != names[i] || r.Result.OK() != (names[i] != "lab_double") {
			t.Errorf("%s: %+v", names[i], r)
		}
		if r.Result.SimulatedTime <= 0 || r.Result.Bench != "ccl_allreduce" || len(r.Result.Traffic) != 4 ||
			r.Result.Traffic[0].Remote() == 0 {
			t.Errorf("%s: %+v", names[i], r.Result)
		}
	}
	if rows[0].Result.SimulatedTime == rows[1].Result.SimulatedTime {
		t.Error("two algorithms take to the picosecond as long")
	}
	rows, err = compare.Algorithms(ctx, run.Spec{}, []string{"window_allgather", faulty.Meets.Name}, nil)
	if err != nil || len(rows) != 2 || rows[1].Err != nil || rows[1].Result.Bench != "allgather_distributed" {
		t.Errorf("%+v, %v", rows, err)
	}
	for want, c := range map[string]struct {
		spec  run.Spec
		names []string
	}{
		"name algorithms":             {run.Spec{}, nil},
		"give one of the two":         {run.Spec{Algorithm: "lab_double"}, names},
		"window_allgather all_gather": {run.Spec{}, []string{"ring_allreduce", "window_allgather"}},
		"unknown algorithm":           {run.Spec{}, []string{"ring_allreduce", "ring_alreduce_chunke"}},
		"remove --algorithm":          {run.Spec{Bench: "gemm_single_pe"}, names},
	} {
		if rows, err := compare.Algorithms(ctx, c.spec, c.names, nil); err == nil || !strings.Contains(err.Error(), want) || rows != nil {
			t.Errorf("%v, %v: want an error with %q", rows, err, want)
		}
	}
}

// No ccl.yaml has an author's own algorithm, such as one of kernbench new project.
func TestCompareWithoutEntry(t *testing.T) {
	rows, err := compare.Settings(ctx, run.Spec{Algorithm: "lab_waits", Ranks: 3}, nil)
	if err != nil || len(rows) != 6 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, r := range rows {
		if d, ok := errors.AsType[*fault.Deadlock](r.Err); !ok || d.World != 3 || r.Error != r.Err.Error() {
			t.Errorf("%s %s: %v is no deadlock", r.BufferKind, r.Backpressure, r.Err)
		}
	}
}

// TestBound: the bound of a row is that of kernbench bound for its call, and no row is faster.
func TestBound(t *testing.T) {
	for _, s := range []run.Spec{
		{Ranks: 8},
		{Topology: "leaf-spine-roce", Ranks: 16},
	} {
		names := []string{"window_all_to_all", "direct_all_to_all"}
		rows, err := compare.Over(ctx, s, []int{256, 64}, func(ctx context.Context, s run.Spec) ([]compare.Row, error) {
			return compare.Algorithms(ctx, s, names, nil)
		})
		if err != nil || len(rows) != 4 {
			t.Fatal(len(rows), err)
		}
		rows[3].Err = errors.New("it did not end")
		if err := compare.Bound(ctx, s, rows); err != nil {
			t.Fatal(err)
		}
		for _, r := range rows[:3] {
			typ, err := dtype.Parse(r.Result.DType)
			if err != nil {
				t.Fatal(err)
			}
			base := s
			base.DType = typ
			size := unit.Bytes(r.Result.AlgBW*r.Result.SimulatedTime.Ns() + 0.5)
			l, err := limits.Run(ctx, limits.Spec{Base: base, Collective: "all_to_all", Min: size, Max: size, Factor: 2})
			if err != nil {
				t.Fatal(err)
			}
			if r.Bound <= 0 || r.Bound > r.Result.SimulatedTime || r.Bound != l.Rows[0].Hardware {
				t.Errorf("%s of %v: bound %v, of that size %v, time %v", r.Algorithm, size, r.Bound, l.Rows[0].Hardware,
					r.Result.SimulatedTime)
			}
		}
		if rows[3].Bound != 0 {
			t.Error("a row that did not end has a bound")
		}
	}
}
