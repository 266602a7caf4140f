package hccl

import (
	"fmt"
	"strings"

	"kernbench/conf"
	"kernbench/dtype"
)

// DataType is the type of the elements of a task, with the numbers of the HCCL enumeration.
type DataType uint8

// The data types. There is no number 13.
const (
	Int8    DataType = 0
	Int16   DataType = 1
	Int32   DataType = 2
	FP16    DataType = 3
	FP32    DataType = 4
	Int64   DataType = 5
	Uint64  DataType = 6
	Uint8   DataType = 7
	Uint16  DataType = 8
	Uint32  DataType = 9
	FP64    DataType = 10
	BFP16   DataType = 11
	Int128  DataType = 12
	HiF8    DataType = 14
	FP8E4M3 DataType = 15
	FP8E5M2 DataType = 16
	FP8E8M0 DataType = 17
)

const dataTypePrefix = "HCCL_DATA_TYPE_"

// dataTypes describes each type, by number. Types without arithmetic here are copied as the bits of
// a type of the same size.
var dataTypes = [...]struct {
	name    string
	size    int
	carrier dtype.Type // Invalid: none
	reduces bool
}{
	Int8:    {"INT8", 1, dtype.I8, true},
	Int16:   {"INT16", 2, dtype.I16, true},
	Int32:   {"INT32", 4, dtype.I32, true},
	FP16:    {"FP16", 2, dtype.F16, true},
	FP32:    {"FP32", 4, dtype.F32, true},
	Int64:   {"INT64", 8, dtype.I64, false},
	Uint64:  {"UINT64", 8, dtype.I64, false},
	Uint8:   {"UINT8", 1, dtype.U8, false},
	Uint16:  {"UINT16", 2, dtype.I16, false},
	Uint32:  {"UINT32", 4, dtype.I32, false},
	FP64:    {"FP64", 8, dtype.F64, false},
	BFP16:   {"BFP16", 2, dtype.BF16, true},
	Int128:  {"INT128", 16, dtype.Invalid, false},
	HiF8:    {"HIF8", 1, dtype.U8, false},
	FP8E4M3: {"FP8E4M3", 1, dtype.U8, false},
	FP8E5M2: {"FP8E5M2", 1, dtype.U8, false},
	FP8E8M0: {"FP8E8M0", 1, dtype.U8, false},
}

// DataTypes lists every data type by number.
func DataTypes() []DataType {
	var all []DataType
	for i := range dataTypes {
		if t := DataType(i); t.Valid() {
			all = append(all, t)
		}
	}
	return all
}

// Valid reports whether t is one of DataTypes.
func (t DataType) Valid() bool { return int(t) < len(dataTypes) && dataTypes[t].name != "" }

// Size returns the bytes of one element, 0 for a type that is not valid.
func (t DataType) Size() int {
	if !t.Valid() {
		return 0
	}
	return dataTypes[t].size
}

// Reducible reports whether tasks that combine contributions take elements of this type.
// Tasks that only copy take any.
func (t DataType) Reducible() bool { return t.Valid() && dataTypes[t].reduces }

// Carrier returns the type of the elements of tensors that hold values of t. It has the same size:
// i16 for the bits of Uint16, u8 for types of eight bits. INT128 has none.
func (t DataType) Carrier() (dtype.Type, bool) {
	if !t.Valid() || dataTypes[t].carrier == dtype.Invalid {
		return dtype.Invalid, false
	}
	return dataTypes[t].carrier, true
}

// String returns the name in the HCCL enumeration.
func (t DataType) String() string {
	if !t.Valid() {
		return fmt.Sprintf("HcclDataType(%d)", uint8(t))
	}
	return dataTypePrefix + dataTypes[t].name
}

// reducibleNames returns the types that Reducible accepts, for messages.
func reducibleNames() string {
	var names []string
	for _, t := range DataTypes() {
		if t.Reducible() {
			names = append(names, t.String())
		}
	}
	return strings.Join(names, ", ")
}

// known lists some words, and the nearest to word if any.
func known(word string, words []string) string {
	all := "want one of " + strings.Join(words, ", ")
	if near := conf.Nearest(word, words); near != "" {
		return fmt.Sprintf("%s; did you mean %q?", all, near)
	}
	return all
}

// quoted returns s in quotes for a message, shortened if it is long.
func quoted(s string) string {
	const most = 160
	if len(s) > most {
		return fmt.Sprintf("%q... (%d bytes)", s[:most], len(s))
	}
	return fmt.Sprintf("%q", s)
}
