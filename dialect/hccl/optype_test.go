package hccl

import (
	"slices"
	"testing"
)

func TestOpTypesAreThoseOfTheEnumeration(t *testing.T) {
	var all []OpType
	for _, want := range []struct {
		op      OpType
		number  uint8
		name    string
		reduces bool
	}{
		{OpAllReduce, 2, "AllReduce", true},
		{OpAllGather, 6, "AllGather", false},
		{OpReduceScatter, 7, "ReduceScatter", true},
		{OpAlltoAllV, 8, "AlltoAllV", false},
		{OpAlltoAll, 10, "AlltoAll", false},
		{OpBatchWrite, 18, "BatchWrite", false},
	} {
		all = append(all, want.op)
		if uint8(want.op) != want.number || want.op.String() != want.name || want.op.Reduces() != want.reduces || !want.op.Valid() {
			t.Errorf("operation %d is %v, reduces %v, valid %v; want %+v", uint8(want.op), want.op, want.op.Reduces(),
				want.op.Valid(), want)
		}
	}
	if got := OpTypes(); !slices.Equal(got, all) {
		t.Errorf("OpTypes() = %v, want %v", got, all)
	}
	for _, none := range []OpType{0, 1, 20, 255} {
		if none.Valid() || none.Reduces() {
			t.Errorf("%v: valid %v, reduces %v", none, none.Valid(), none.Reduces())
		}
	}
	if got, want := OpType(20).String(), "HcclCMDType(20)"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}
