package bench

import (
	"context"
	"fmt"

	"kernbench/collective"
	"kernbench/device"
	"kernbench/numerics"
)

// Once is a program for those who measure: whatever the algorithm performs, it performs it once,
// on contributions by seed. Results go into memory of their own, or with inPlace where the
// contributions are, from their first element on. It is in no listing.
func Once(inPlace bool, root int) *Program { return OnceOn(inPlace, root, nil) }

// OnceOn is Once on contributions of a set; nil: on Inputs.
func OnceOn(inPlace bool, root int, set *numerics.Set) *Program {
	return &Program{Name: "perf", Collectives: true, Run: func(ctx context.Context, h *Host) error {
		plan, err := h.Device.InstallIPCQ(h.Algorithm)
		if err != nil {
			return err
		}
		if plan.PerSIP() {
			return fmt.Errorf("with rank_level: sip a rank is a SIP: what is measured goes between PEs")
		}
		what, err := collective.Lookup(plan.Algorithm.Collective)
		if err != nil {
			return fmt.Errorf("algorithm %s: %w", plan.Name, err)
		}
		in, err := h.seeded(plan, set)
		if err != nil {
			return err
		}
		var options []device.Option
		if what.Rooted {
			options = append(options, device.Root(root))
		}
		most, err := h.mostResults(plan, in.n)
		if err != nil {
			return err
		}
		var results vector
		if !inPlace && most > 0 {
			apart, err := h.vector("results", plan.PEs, most, nil)
			if err != nil {
				return err
			}
			results, options = *apart, append(options, device.Into(apart.tensors...))
		}
		if _, err := h.Device.Perform(ctx, plan, h.Op, in.tensors, options...); err != nil {
			return err
		}
		return freeAll(append(in.tensors, results.tensors...)...)
	}}
}

// seeded is what all ranks bring, filled with a set or with Inputs.
func (h *Host) seeded(p *device.Plan, set *numerics.Set) (*vector, error) {
	v, err := h.vector("contributions", p.PEs, h.Elems(p), nil)
	if err != nil || !h.Device.HasData() {
		return v, err
	}
	in := Inputs{Seed: h.Seed, World: p.World, Type: h.DType, Op: h.Op}
	rank := 0
	for _, x := range v.tensors {
		data := make([]byte, 0, x.Elems()*h.DType.Size())
		for range x.Shards() {
			if set != nil {
				data = set.Append(data, h.DType, h.Seed, p.World, rank, v.n)
			} else {
				data = in.append(data, rank, v.n)
			}
			rank++
		}
		if err := x.CopyInBytes(data); err != nil {
			return nil, err
		}
	}
	return v, nil
}
