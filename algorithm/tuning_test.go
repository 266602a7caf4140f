package algorithm

import (
	"errors"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/unit"
)

func tuning() *Tuning {
	rows := []TuningRow{{From: 0, Use: "small"}, {From: 100, Use: "middle"}, {From: 5000, Use: "large"}}
	return &Tuning{File: "t.yaml", Tables: []TuningTable{
		{Topology: "ahbm", Machine: "m1", Collective: "all_reduce", Ranks: 8, Type: dtype.F32, Rows: rows},
		{Topology: "ahbm", Machine: "m1", Collective: "all_reduce", Ranks: 8, Type: dtype.I8, Rows: rows},
		{Topology: "ahbm", Machine: "m1", Collective: "all_gather", Ranks: 4, Type: dtype.F32, Rows: rows},
		{Topology: "dgx", Machine: "m2", Collective: "broadcast", Ranks: 8, Type: dtype.F32, Rows: rows},
	}}
}

func TestTuningFindsTheRow(t *testing.T) {
	table, err := tuning().For("m1", "all_reduce", 8, dtype.F32)
	if err != nil {
		t.Fatal(err)
	}
	for size, want := range map[unit.Bytes]string{0: "small", 99: "small", 100: "middle", 4999: "middle", 5000: "large", 1 << 40: "large"} {
		if got := table.At(size).Use; got != want {
			t.Errorf("%v: %s, want %s", size, got, want)
		}
	}
}

func TestTuningUsesTheNearestType(t *testing.T) {
	for typ, want := range map[dtype.Type]dtype.Type{
		dtype.F32: dtype.F32, dtype.I32: dtype.F32, dtype.F64: dtype.F32, dtype.I8: dtype.I8, dtype.U8: dtype.I8, dtype.F16: dtype.I8,
	} {
		if table, err := tuning().For("m1", "all_reduce", 8, typ); err != nil || table.Type != want {
			t.Errorf("%v: %v, %v, want %v", typ, table, err, want)
		}
	}
}

func TestTuningReportsMissingTables(t *testing.T) {
	for _, c := range []struct {
		name, machine string
		ranks         int
		tuning        *Tuning
		want          string
	}{
		{"no table", "m1", 8, nil, "there is no tuning table; make one with: kernbench tune all_reduce --ranks 8 --table FILE"},
		{"other ranks", "m1", 4, tuning(), "t.yaml has tables for all_reduce of 8 ranks, all_gather of 4 ranks; make one"},
		{"another machine", "m3", 8, tuning(), "t.yaml was measured on another machine (ahbm, dgx; fingerprint of this one: m3)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.tuning.For(c.machine, "all_reduce", c.ranks, dtype.F32)
			if _, ok := errors.AsType[*Untuned](err); !ok || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
	if got := strings.Join(tuning().Collectives("m1"), " "); got != "all_reduce all_gather" {
		t.Errorf("collectives: %s", got)
	}
}
