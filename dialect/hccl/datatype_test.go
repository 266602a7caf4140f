package hccl

import (
	"strings"
	"testing"

	"kernbench/dtype"
)

func TestDataTypesAreThoseOfTheEnumeration(t *testing.T) {
	tests := []struct {
		t       DataType
		number  uint8
		name    string
		size    int
		carrier dtype.Type
		reduces bool
	}{
		{Int8, 0, "HCCL_DATA_TYPE_INT8", 1, dtype.I8, true},
		{Int16, 1, "HCCL_DATA_TYPE_INT16", 2, dtype.I16, true},
		{Int32, 2, "HCCL_DATA_TYPE_INT32", 4, dtype.I32, true},
		{FP16, 3, "HCCL_DATA_TYPE_FP16", 2, dtype.F16, true},
		{FP32, 4, "HCCL_DATA_TYPE_FP32", 4, dtype.F32, true},
		{Int64, 5, "HCCL_DATA_TYPE_INT64", 8, dtype.I64, false},
		{Uint64, 6, "HCCL_DATA_TYPE_UINT64", 8, dtype.I64, false},
		{Uint8, 7, "HCCL_DATA_TYPE_UINT8", 1, dtype.U8, false},
		{Uint16, 8, "HCCL_DATA_TYPE_UINT16", 2, dtype.I16, false},
		{Uint32, 9, "HCCL_DATA_TYPE_UINT32", 4, dtype.I32, false},
		{FP64, 10, "HCCL_DATA_TYPE_FP64", 8, dtype.F64, false},
		{BFP16, 11, "HCCL_DATA_TYPE_BFP16", 2, dtype.BF16, true},
		{Int128, 12, "HCCL_DATA_TYPE_INT128", 16, dtype.Invalid, false},
		{HiF8, 14, "HCCL_DATA_TYPE_HIF8", 1, dtype.U8, false},
		{FP8E4M3, 15, "HCCL_DATA_TYPE_FP8E4M3", 1, dtype.U8, false},
		{FP8E5M2, 16, "HCCL_DATA_TYPE_FP8E5M2", 1, dtype.U8, false},
		{FP8E8M0, 17, "HCCL_DATA_TYPE_FP8E8M0", 1, dtype.U8, false},
	}
	if got := DataTypes(); len(got) != len(tests) {
		t.Fatalf("DataTypes() = %v, want %d", got, len(tests))
	}
	for i, want := range tests {
		carrier, ok := want.t.Carrier()
		if uint8(want.t) != want.number || DataTypes()[i] != want.t || want.t.String() != want.name || want.t.Size() != want.size ||
			carrier != want.carrier || ok != (want.carrier != dtype.Invalid) || want.t.Reducible() != want.reduces || !want.t.Valid() {
			t.Errorf("type %d is %v of %d bytes in %v (%v), reducible %v, valid %v; want %+v",
				uint8(want.t), want.t, want.t.Size(), carrier, ok, want.t.Reducible(), want.t.Valid(), want)
		}
		if ok && carrier.Size() != want.size {
			t.Errorf("%v of %d bytes is carried by %v of %d", want.t, want.size, carrier, carrier.Size())
		}
		if want.reduces != strings.Contains(reducibleNames(), want.name) {
			t.Errorf("%v in %q: want %v", want.t, reducibleNames(), want.reduces)
		}
	}
}

func TestNumbersWithoutDataType(t *testing.T) {
	for _, number := range []DataType{13, 18, 255} {
		_, carried := number.Carrier()
		if number.Valid() || number.Size() != 0 || number.Reducible() || carried {
			t.Errorf("%v: valid %v, %d bytes, reducible %v, carried %v", number, number.Valid(), number.Size(), number.Reducible(), carried)
		}
	}
	if got, want := DataType(13).String(), "HcclDataType(13)"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}
