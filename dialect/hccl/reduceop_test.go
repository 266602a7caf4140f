package hccl

import (
	"testing"

	"kernbench/tl"
)

func TestReduceOpsAreThoseOfTheEnumeration(t *testing.T) {
	for _, want := range []struct {
		op        ReduceOp
		number    uint8
		name      string
		tl        tl.ReduceOp
		valid     bool
		supported bool
	}{
		{ReduceSum, 0, "HCCL_REDUCE_SUM", tl.Sum, true, true},
		{ReduceProd, 1, "HCCL_REDUCE_PROD", tl.Prod, true, false},
		{ReduceMax, 2, "HCCL_REDUCE_MAX", tl.Max, true, true},
		{ReduceMin, 3, "HCCL_REDUCE_MIN", tl.Min, true, true},
		{4, 4, "HcclReduceOp(4)", tl.Sum, false, false},
		{255, 255, "HcclReduceOp(255)", tl.Sum, false, false},
	} {
		if uint8(want.op) != want.number || want.op.String() != want.name || want.op.TL() != want.tl ||
			want.op.Valid() != want.valid || want.op.Supported() != want.supported {
			t.Errorf("operation %d is %v, %v, valid %v, supported %v; want %+v",
				uint8(want.op), want.op, want.op.TL(), want.op.Valid(), want.op.Supported(), want)
		}
	}
}
