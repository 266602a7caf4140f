package oplog_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/unit"
)

// TestBudget: data beyond the budget is refused before there is any memory for it, and memory that
// is given back counts no more.
func TestBudget(t *testing.T) {
	log := oplog.New(oplog.Options{Inline: true, Memory: 2*8000 + 16*1000})
	defer log.Close()
	at := func(pe int) mem.Addr { return mem.At(mem.HBM, pe, 0) }
	for pe := range 2 {
		if err := log.Map(at(pe), dtype.F32, 1000); err != nil {
			t.Fatal(err)
		}
	}
	large, ok := errors.AsType[*oplog.TooLarge](log.Map(at(2), dtype.F32, 1000))
	if !ok || large.Need != 2*12000+16*1000 {
		t.Fatalf("%+v, want a refusal", large)
	}
	if _, ok := errors.AsType[*oplog.TooLarge](log.Map(at(2), dtype.F32, 1<<61)); !ok {
		t.Error("a number of bytes that overflows is taken")
	}
	if err := errors.Join(log.Unmap(at(0)), log.Map(at(2), dtype.F32, 1000)); err != nil {
		t.Error(err)
	}
}

// The two numbers of the text differ, however near they are.
func TestTooLargeText(t *testing.T) {
	for _, tt := range []struct {
		need, budget unit.Bytes
		want         string
	}{
		{4*unit.GiB + 1, 4 * unit.GiB, "needs about 4.25 GiB of memory, more than the limit of 4 GiB"},
		{9*unit.GiB + 600*unit.MiB, 6*unit.GiB - 1, "needs about 9.75 GiB of memory, more than the limit of 5.75 GiB"},
		{100, 10, "needs about 100 B of memory, more than the limit of 10 B"},
		{math.MaxInt64, 5*unit.KiB + 100, "needs about 8589934591.75 GiB of memory, more than the limit of 5 KiB"},
	} {
		if err := (&oplog.TooLarge{Need: tt.need, Budget: tt.budget}); !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}
