package oplog_test

import (
	"errors"
	"testing"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/record/oplog"
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
