package bench

import (
	"context"

	"kernbench/collective"
	"kernbench/device"
)

// OfFile returns the program that performs the collective of a program file once, on contributions
// by seed. The results go into separate memory of `results` elements on each rank. With 0 they
// replace the contributions. It is in no listing.
func OfFile(root, results int) *Program {
	return &Program{Name: "program", Collectives: true, Run: func(ctx context.Context, h *Host) error {
		plan, err := h.Device.InstallIPCQ(h.Algorithm)
		if err != nil {
			return err
		}
		what, err := collective.Lookup(plan.Algorithm.Collective)
		if err != nil {
			return err
		}
		var options []device.Option
		if what.Rooted {
			options = append(options, device.Root(root))
		}
		tensors, err := h.AllContributions(plan)
		if err != nil {
			return err
		}
		var apart Vector
		if results > 0 {
			v, err := h.Vector("results", plan.PEs, results, nil)
			if err != nil {
				return err
			}
			apart, options = *v, append(options, device.Into(v.tensors...))
		}
		if _, err := h.Device.Perform(ctx, plan, h.Op, tensors, options...); err != nil {
			return err
		}
		return freeAll(append(tensors, apart.tensors...)...)
	}}
}
