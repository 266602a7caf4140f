package oplog_test

import (
	"errors"
	"testing"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/record/oplog"
)

func TestForget(t *testing.T) {
	l := oplog.New(oplog.Options{Inline: true})
	defer l.Close()
	a := mem.At(mem.HBM, 0, 0)
	if err := errors.Join(l.Map(a, dtype.U8, 8), l.Write(a, dtype.U8, make([]byte, 8)), l.Forget(a+2, dtype.U8, 3)); err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		_, err := l.Read(a+mem.Addr(i), dtype.U8, 1)
		if unwritten := errors.As(err, new(*fault.Unwritten)); unwritten != (i >= 2 && i < 5) {
			t.Errorf("element %d: %v", i, err)
		}
	}
	if err := l.Forget(a+6, dtype.U8, 3); err == nil {
		t.Error("what is not mapped can be forgotten")
	}
}
