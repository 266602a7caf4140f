package hccl

import "fmt"

// OpType is what a task does, with the numbers of the HCCL enumeration.
type OpType uint8

// The operations that have tasks.
const (
	OpAllReduce     OpType = 2
	OpAllGather     OpType = 6
	OpReduceScatter OpType = 7
	OpAlltoAllV     OpType = 8
	OpAlltoAll      OpType = 10
	OpBatchWrite    OpType = 18
)

var opTypes = []struct {
	op   OpType
	name string
}{
	{OpAllReduce, "AllReduce"},
	{OpAllGather, "AllGather"},
	{OpReduceScatter, "ReduceScatter"},
	{OpAlltoAllV, "AlltoAllV"},
	{OpAlltoAll, "AlltoAll"},
	{OpBatchWrite, "BatchWrite"},
}

// OpTypes lists the operations by number.
func OpTypes() []OpType {
	var all []OpType
	for _, o := range opTypes {
		all = append(all, o.op)
	}
	return all
}

// Valid reports whether there are tasks of this type.
func (o OpType) Valid() bool {
	for _, known := range opTypes {
		if known.op == o {
			return true
		}
	}
	return false
}

// Reduces reports whether tasks of this type combine contributions.
func (o OpType) Reduces() bool { return o == OpAllReduce || o == OpReduceScatter }

// String is the name in algorithm strings.
func (o OpType) String() string {
	for _, known := range opTypes {
		if known.op == o {
			return known.name
		}
	}
	return fmt.Sprintf("HcclCMDType(%d)", uint8(o))
}

func opNames() []string {
	var names []string
	for _, o := range opTypes {
		names = append(names, o.name)
	}
	return names
}
