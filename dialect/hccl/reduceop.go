package hccl

import (
	"fmt"

	"kernbench/tl"
)

// ReduceOp is the operation of a task that combines contributions, with the numbers of the
// HCCL enumeration.
type ReduceOp uint8

// The reductions.
const (
	ReduceSum ReduceOp = iota
	ReduceProd
	ReduceMax
	ReduceMin
)

var reduceOps = [...]struct {
	name string
	tl   tl.ReduceOp
}{
	ReduceSum:  {"HCCL_REDUCE_SUM", tl.Sum},
	ReduceProd: {"HCCL_REDUCE_PROD", tl.Prod},
	ReduceMax:  {"HCCL_REDUCE_MAX", tl.Max},
	ReduceMin:  {"HCCL_REDUCE_MIN", tl.Min},
}

// Valid reports whether o has a name.
func (o ReduceOp) Valid() bool { return int(o) < len(reduceOps) }

// Supported reports whether tasks combine by o: by sum, max and min. Products have a number, but no
// task supports them.
func (o ReduceOp) Supported() bool { return o.Valid() && o != ReduceProd }

// TL returns the same operation of kernels, or the sum for an invalid operation.
func (o ReduceOp) TL() tl.ReduceOp {
	if !o.Valid() {
		return tl.Sum
	}
	return reduceOps[o].tl
}

// String returns the name in the HCCL enumeration.
func (o ReduceOp) String() string {
	if !o.Valid() {
		return fmt.Sprintf("HcclReduceOp(%d)", uint8(o))
	}
	return reduceOps[o].name
}
