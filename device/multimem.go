package device

import (
	"fmt"
	"strings"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/machine"
)

// CanMultimem returns an error if an algorithm needs switches, which join ranks on some PEs, that
// the machine does not have.
func CanMultimem(m *machine.Machine, a *algorithm.Algorithm, pes []int32) error {
	return joined(m, a, pes, m.CanMultimem)
}

// joined calls check for each group of PEs that switches must join, until there is an error.
func joined(m *machine.Machine, a *algorithm.Algorithm, pes []int32, check func(pes []int32) error) error {
	if !a.Multimem || len(pes) < 2 {
		return nil
	}
	if a.Groups == nil {
		return check(pes)
	}
	for _, ranks := range a.Groups(len(pes), levels(m, pes)) {
		group := make([]int32, len(ranks))
		for i, r := range ranks {
			group[i] = pes[r]
		}
		if len(group) < 2 {
			continue
		}
		if err := check(group); err != nil {
			return err
		}
	}
	return nil
}

// Combines returns an error that names the switch of a plan that does not reduce the partial sums
// of a call, and what it reduces. It is nil if all do, or if no switch has to.
func (p *Plan) Combines(c collective.Call) error {
	what, err := collective.Lookup(p.Algorithm.Collective)
	if err != nil || !what.Reduces || !p.Algorithm.Multimem {
		return err
	}
	t := c.Type
	if acc := p.accumulation(what, c); acc != nil {
		t = acc.typ
	}
	return joined(p.machine, p.Algorithm, p.PEs, func(pes []int32) error {
		x, err := p.machine.Multimem(pes)
		if err != nil {
			return err
		}
		return x.CheckReduce(t.String())
	})
}

// Refuses returns why the plan cannot perform a call, or nil if it can. The algorithm refuses it,
// or switches of the machine do not reduce its type.
func (p *Plan) Refuses(c collective.Call) error {
	if err := p.Algorithm.Refuses(c); err != nil {
		return err
	}
	err := p.Combines(c)
	if err == nil {
		return nil
	}
	right := "use an algorithm that does not reduce in switches"
	if types := p.types(c); len(types) > 0 {
		right = fmt.Sprintf("use %s, or an algorithm that does not reduce in switches", strings.Join(types, ", "))
	}
	return fmt.Errorf("%d ranks of %v: %w: %s", p.World, c.Type, err, right)
}

// types lists the element types with which the plan can perform a call.
func (p *Plan) types(c collective.Call) (names []string) {
	for _, c.Type = range dtype.Types() {
		if p.Algorithm.Supports(c.Type, c.Op) == nil && p.Combines(c) == nil {
			names = append(names, c.Type.String())
		}
	}
	return names
}

// SomeCall returns a call of no elements with an operation and a type that the plan supports. They
// are those of Algorithm.SomeCall, if the machine's switches reduce them.
func (p *Plan) SomeCall() collective.Call {
	c := p.Algorithm.SomeCall(p.World)
	if p.Combines(c) == nil {
		return c
	}
	for _, t := range dtype.Types() {
		other := c
		if other.Type = t; p.Algorithm.Supports(t, c.Op) == nil && p.Combines(other) == nil {
			return other
		}
	}
	return c
}
