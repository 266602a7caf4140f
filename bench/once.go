package bench

import (
	"context"
	"fmt"

	"kernbench/check/numerics"
	"kernbench/collective"
	"kernbench/device"
	"kernbench/mem"
)

// Once returns a program for measurements: it performs the collective of an algorithm once, on
// contributions by seed. Results go into separate memory, or with inPlace into that of the
// contributions, as in NCCL. It is in no listing.
func Once(inPlace bool, root int) *Program { return OnceOn(inPlace, root, nil) }

// OnceOn is Once on contributions of a set; nil: on Inputs.
func OnceOn(inPlace bool, root int, set *numerics.Set) *Program {
	return &Program{Name: "perf", Collectives: true, Run: func(ctx context.Context, h *Host) error {
		plan, err := h.Device.InstallIPCQ(h.Algorithm)
		if err != nil {
			return err
		}
		if plan.PerSIP() {
			return fmt.Errorf("rank_level: sip is not supported here, because measurements are between PEs; set rank_level: pe")
		}
		what, err := collective.Lookup(plan.Algorithm.Collective)
		if err != nil {
			return fmt.Errorf("algorithm %s: %w", plan.Name, err)
		}
		var options []device.Option
		if what.Rooted {
			options = append(options, device.Root(root))
		}
		if inPlace && what.InPlace != nil {
			return h.inOneMemory(ctx, plan, what, root, set, options)
		}
		in, err := h.seeded(plan, set)
		if err != nil {
			return err
		}
		most, err := h.mostResults(plan, in.n)
		if err != nil {
			return err
		}
		var results Vector
		if !inPlace && most > 0 {
			apart, err := h.Vector("results", plan.PEs, most, nil)
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

// inOneMemory performs a collective of which contributions and results have different places in
// the memory that they share.
func (h *Host) inOneMemory(ctx context.Context, p *device.Plan, what *collective.Collective, root int,
	set *numerics.Set, options []device.Option) error {
	call := collective.Call{World: p.World, Elems: h.Elems(p), Type: h.DType, Op: h.Op, Root: root}
	_, _, size := what.Shared(call, 0)
	shared, err := h.Vector("contributions and results", p.PEs, max(size, call.Elems), nil)
	if err != nil {
		return err
	}
	in, out := Vector{h: h, n: call.Elems}, Vector{h: h}
	first := 0
	for _, x := range shared.tensors {
		brings, err := x.View(func(i int) mem.Chunk {
			at, _, _ := what.Shared(call, first+i)
			return mem.Chunk{Lo: at, N: call.Elems}
		})
		if err != nil {
			return err
		}
		ends, err := x.View(func(i int) mem.Chunk {
			_, at, _ := what.Shared(call, first+i)
			return mem.Chunk{Lo: at, N: what.Out(call, first+i)}
		})
		if err != nil {
			return err
		}
		first += len(x.Shards())
		in.tensors, out.tensors = append(in.tensors, brings.Named("contributions")), append(out.tensors, ends.Named("results"))
	}
	if err := h.seed(p, &in, set); err != nil {
		return err
	}
	if _, err := h.Device.Perform(ctx, p, h.Op, in.tensors, append(options, device.Into(out.tensors...))...); err != nil {
		return err
	}
	return freeAll(shared.tensors...)
}

// seeded returns the contributions of all ranks, filled with a set or with Inputs.
func (h *Host) seeded(p *device.Plan, set *numerics.Set) (*Vector, error) {
	v, err := h.Vector("contributions", p.PEs, h.Elems(p), nil)
	if err != nil {
		return v, err
	}
	return v, h.seed(p, v, set)
}

// seed fills a vector with a set or with Inputs.
func (h *Host) seed(p *device.Plan, v *Vector, set *numerics.Set) error {
	in, err := h.inputs(p.World, v.n)
	switch {
	case err != nil || !h.Device.HasData():
		return err
	case set == nil:
		return v.contribute(in)
	}
	first := 0
	for _, x := range v.tensors {
		if err := x.FillShards(func(s device.Shard, data []byte) {
			set.Append(data[:0], h.DType, h.Seed, p.World, first+s.Region.Col/v.n, v.n)
		}); err != nil {
			return err
		}
		first += len(x.Shards())
	}
	return nil
}
