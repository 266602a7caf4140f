package oplog_test

import (
	"errors"
	"runtime"
	"testing"

	"kernbench/dtype"
	"kernbench/record/oplog"
)

// Memory that is never used costs nothing, however large it is.
func TestMemoryIsMadeWhenUsed(t *testing.T) {
	l := oplog.New(oplog.Options{Inline: true})
	defer l.Close()
	allocated := func(f func() error) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := f(); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	const size = 4 << 20
	if n := allocated(func() error {
		return errors.Join(l.Map(at(0), dtype.U8, size), l.Forget(at(0), dtype.U8, size), l.Map(at(1), dtype.U8, size))
	}); n > size/4 {
		t.Errorf("%d bytes for memory that is never used", n)
	}
	if n := allocated(func() error { return l.Write(at(0)+5, dtype.U8, []byte{1}) }); n < size || n > 2*size {
		t.Errorf("%d bytes for %d that are used", n, size)
	}
	if err := l.Map(at(1)+size-1, dtype.U8, 1); err == nil {
		t.Error("memory that was not used yet can be mapped twice")
	}
}
