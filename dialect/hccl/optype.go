package hccl

import (
	"fmt"

	"kernbench/collective"
)

// OpType is the operation of a task, with the numbers of the HCCL enumeration.
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

// opTypes are the operations by number, with the collectives that they perform.
var opTypes = []struct {
	op   OpType
	what *collective.Collective // nil: none
}{
	{OpAllReduce, collective.AllReduce},
	{OpAllGather, collective.AllGather},
	{OpReduceScatter, collective.ReduceScatter},
	{OpAlltoAllV, collective.AllToAllV},
	{OpAlltoAll, collective.AllToAll},
	{OpBatchWrite, nil},
}

// collective returns the collective of tasks of a type, or nil.
func (o OpType) collective() *collective.Collective {
	for _, known := range opTypes {
		if known.op == o {
			return known.what
		}
	}
	return nil
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
func (o OpType) Reduces() bool {
	what := o.collective()
	return what != nil && what.Reduces
}

// String returns the name in algorithm strings.
func (o OpType) String() string {
	switch what := o.collective(); {
	case what != nil:
		return what.Task
	case o == OpBatchWrite:
		return "BatchWrite"
	}
	return fmt.Sprintf("HcclCMDType(%d)", uint8(o))
}

func opNames() []string {
	var names []string
	for _, o := range opTypes {
		names = append(names, o.op.String())
	}
	return names
}
