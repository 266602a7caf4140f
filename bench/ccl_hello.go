package bench

import (
	"context"

	"kernbench/collective"
	"kernbench/device"
)

// cclHello launches an algorithm by its name, as the author's guide does: install its
// rings, make a tensor, launch. hello_send sends every rank's vector to the next rank.
func cclHello(ctx context.Context, h *Host) error {
	plan, err := h.Device.InstallIPCQ(h.Algorithm)
	if err != nil {
		return err
	}
	tensors, err := h.AllContributions(plan)
	if err != nil {
		return err
	}
	what, err := collective.Lookup(plan.Algorithm.Collective)
	if err != nil {
		return err
	}
	args := []any{tensors, h.Op}
	var results Vector
	if most, err := h.mostResults(plan, h.Elems(plan)); err != nil {
		return err
	} else if (what.Apart || most > h.Elems(plan)) && !plan.PerSIP() { // they do not fit in the memory of the contributions
		apart, err := h.Vector("results", plan.PEs, most, nil)
		if err != nil {
			return err
		}
		results, args = *apart, append(args, device.Into(apart.tensors...))
	}
	if _, err := h.Device.Launch(ctx, plan.Name, args...); err != nil {
		return err
	}
	return freeAll(append(tensors, results.tensors...)...)
}

// anyAlgorithm is the name of the program that can run any algorithm.
const anyAlgorithm = "ccl_hello"

// CCLHello is the first program.
var CCLHello = Register(Program{
	Name:        anyAlgorithm,
	Summary:     "hello world: launch hello_send by name, every rank ends with its predecessor's vector",
	Algorithm:   "hello_send",
	Collectives: true,
	Run:         cclHello,
})
