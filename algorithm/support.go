package algorithm

import (
	"fmt"
	"slices"
	"strings"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/tl"
)

// Refuses returns why the algorithm cannot perform a call, or nil if it can. The reason is an
// operation or type that the row does not name, or a size that Check refuses.
func (a *Algorithm) Refuses(c collective.Call) error {
	if err := a.Supports(c.Type, c.Op); err != nil {
		return err
	}
	if a.Check == nil {
		return nil
	}
	return a.Check(c.World, c.Elems)
}

// Supports returns an error if the row names operations or types and these are not among them.
func (a *Algorithm) Supports(t dtype.Type, op tl.ReduceOp) error {
	if a.Ops != nil && !slices.Contains(a.Ops, op) {
		return fmt.Errorf("it supports the operation %s, not %v", names(a.Ops), op)
	}
	if a.Types != nil && !slices.Contains(a.Types, t) {
		return fmt.Errorf("it supports the type %s, not %v", names(a.Types), t)
	}
	return nil
}

// SomeCall returns a call of no elements with an operation and a type that the algorithm supports:
// sum and f32, if they are among them.
func (a *Algorithm) SomeCall(world int) collective.Call {
	c := collective.Call{World: world, Type: dtype.F32}
	if a.Types != nil && !slices.Contains(a.Types, c.Type) {
		c.Type = a.Types[0]
	}
	if a.Ops != nil && !slices.Contains(a.Ops, c.Op) {
		c.Op = a.Ops[0]
	}
	return c
}

// Limited reports whether there is a call that the algorithm refuses.
func (a *Algorithm) Limited() bool { return a.Check != nil || a.Ops != nil || a.Types != nil }

// supportable reports what is wrong with the operations and types of a row.
func (a *Algorithm) supportable(what *collective.Collective) error {
	switch {
	case a.Ops != nil && !what.Reduces:
		return fmt.Errorf("field Ops names operations, but %s combines nothing", what.Name)
	case a.Ops != nil && len(a.Ops) == 0, a.Types != nil && len(a.Types) == 0:
		return fmt.Errorf("field Ops or Types is empty: leave it nil if the kernel supports all")
	}
	for _, op := range a.Ops {
		if !slices.Contains(tl.ReduceOps(), op) {
			return fmt.Errorf("field Ops has %d, which is not an operation", op)
		}
	}
	for _, t := range a.Types {
		if !slices.Contains(dtype.Types(), t) {
			return fmt.Errorf("field Types has %d, which is not an element type", t)
		}
	}
	return nil
}

// names lists the names of operations or types.
func names[T fmt.Stringer](list []T) string {
	var all []string
	for _, x := range list {
		all = append(all, x.String())
	}
	return strings.Join(all, ", ")
}
