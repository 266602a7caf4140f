package tl

import "fmt"

// ReduceOp is the operation by which a collective combines contributions.
type ReduceOp uint8

// The reduction operations. Avg is Sum with one division by the world size at the end.
const (
	Sum ReduceOp = iota
	Prod
	Max
	Min
	Avg
)

var reduceOpNames = [...]string{Sum: "sum", Prod: "prod", Max: "max", Min: "min", Avg: "avg"}

// ReduceOps lists all operations in their order.
func ReduceOps() []ReduceOp { return []ReduceOp{Sum, Prod, Max, Min, Avg} }

func (o ReduceOp) String() string {
	if int(o) < len(reduceOpNames) {
		return reduceOpNames[o]
	}
	return fmt.Sprintf("reduceop(%d)", uint8(o))
}

// ParseReduceOp returns the inverse of String.
func ParseReduceOp(s string) (ReduceOp, error) {
	for i, n := range reduceOpNames {
		if n == s {
			return ReduceOp(i), nil
		}
	}
	return 0, fmt.Errorf("unknown reduction %q: want one of sum, prod, max, min, avg", s)
}
