package bench

import (
	"context"
	"fmt"
	"slices"

	"kernbench/collective"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/tl"
)

// example is a collective over symmetric memory as the examples of such libraries show it:
// small, with inputs of a closed form.
type example struct {
	collective string
	elems      func(world int) int // elements of each rank
	formula    string              // of the inputs
	input      func(rank, i int) float64
	options    []device.Option
}

// perform runs an example by an algorithm. Results go into tensors of their own.
func (h *Host) perform(ctx context.Context, algorithm string, x example) error {
	plan, err := h.Device.InstallIPCQ(algorithm, device.Install{Collective: x.collective})
	if err != nil {
		return err
	}
	if got := plan.Algorithm.Collective; got != x.collective {
		return fmt.Errorf("algorithm %s performs %s, not %s", plan.Name, got, x.collective)
	}
	if plan.PerSIP() {
		return fmt.Errorf("found rank_level sip, want pe: ranks of this bench are PEs")
	}
	what, err := collective.Lookup(x.collective)
	if err != nil {
		return err
	}
	n := x.elems(plan.World)
	out, err := h.mostResults(plan, n)
	if err != nil {
		return err
	}
	fill, formula := h.closedForm(what, plan.World, n, x)
	in, err := h.Vector("contributions", plan.PEs, n, fill)
	if err != nil {
		return err
	}
	if fill == nil {
		chosen, err := h.inputs(plan.World, n)
		if err != nil {
			return err
		}
		if err := in.contribute(chosen); err != nil {
			return err
		}
	}
	h.Report("inputs of rank r: %s", formula)
	results, err := h.Vector("results", plan.PEs, out, nil)
	if err != nil {
		return err
	}
	options := append(slices.Clone(x.options), device.Into(results.tensors...))
	if _, err := h.Device.Perform(ctx, plan, h.Op, in.tensors, options...); err != nil {
		return err
	}
	return freeAll(append(in.tensors, results.tensors...)...)
}

// mostResults returns the most elements that a rank ends with when each brings n.
func (h *Host) mostResults(p *device.Plan, n int) (int, error) {
	what, err := collective.Lookup(p.Algorithm.Collective)
	if err != nil {
		return 0, fmt.Errorf("algorithm %s: %w", p.Name, err)
	}
	most := 0
	for r := range p.World {
		most = max(most, what.Out(collective.Call{World: p.World, Elems: n, Type: h.DType, Op: h.Op}, r))
	}
	return most, nil
}

// closedForm returns the values of an example and its formula. It applies if neither they nor their
// combination is rounded, and if no seed or option selects other values. Else the values are nil,
// and the formula is that of the other inputs.
func (h *Host) closedForm(what *collective.Collective, world, n int, x example) (func(rank int) []float64, string) {
	if !h.Input.bySeed() {
		return nil, h.Input.Formula
	}
	most := 0.0
	for r := range world {
		most = max(most, x.input(r, n-1))
	}
	if what.Reduces && (h.Op == tl.Sum || h.Op == tl.Avg) {
		most *= float64(world)
	}
	if h.Input == nil && h.Seed == 0 && most <= exactTo(h.DType) && (!what.Reduces || h.Op != tl.Prod) {
		return func(rank int) []float64 {
			v := make([]float64, n)
			for i := range v {
				v[i] = x.input(rank, i)
			}
			return v
		}, x.formula
	}
	return nil, fmt.Sprintf("by seed %d", h.Seed)
}

// exactTo returns the number up to which a type has all whole numbers.
func exactTo(t dtype.Type) float64 {
	if t.IsInt() {
		return dtype.MaxFinite(t)
	}
	return 1 / dtype.Epsilon(t)
}
