// guide: onesided host

package main

import (
	"context"
	"errors"

	"kernbench/bench"
	"kernbench/dtype"
)

// shift returns the host program of fromTheLeft. h.Device is the machine that --topology names.
func shift(ctx context.Context, h *bench.Host) error {
	pes, n := h.Devices(), h.NElem // the PEs of --ranks or -d; the elements of each: --n-elem
	x, err := h.Vector("x", pes, n, func(rank int) []float64 { return constant(n, float64(rank)) })
	if err != nil {
		return err
	}
	team, err := h.Device.NewTeam("all", pes)
	if err != nil {
		return err
	}
	layout, err := exchange(n)
	if err != nil {
		return err
	}
	window, err := h.Device.NewWindowLayout("exchange", team, layout)
	if err != nil {
		return err
	}
	if _, err := h.Device.LaunchTeam(ctx, "from_the_left", fromTheLeft, team, x.Tensors(), window); err != nil {
		return err
	}
	for rank := range pes {
		left := (rank + len(pes) - 1) % len(pes)
		if err := x.Expect("x after the shift", rank, func() []float64 { return constant(n, float64(left)) }); err != nil {
			return err
		}
	}
	return errors.Join(h.Device.FreeWindow(window), h.Device.FreeTeam(team), x.Free())
}

var _ = bench.Register(bench.Program{
	Name: "shift", Summary: "every PE ends with the vector of the one before it",
	Parallel: true, Ranks: 4, DType: dtype.F32, NElem: 1000,
	Run: shift,
})

// end

// constant is n times a value.
func constant(n int, v float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = v
	}
	return all
}

// guide: hccl bench
// customHost is the host program of allReduceCustom. h.Device is the simulated machine with its
// memory. Its topology is that of --topology.
func customHost(ctx context.Context, h *bench.Host) error {
	const n = 300
	pes := h.Devices() // the PEs of --ranks or -d
	x, err := h.Vector("x", pes, n, func(rank int) []float64 { return constant(n, float64(rank)) })
	if err != nil {
		return err
	}
	y, err := h.Vector("y", pes, n, nil) // not written yet
	if err != nil {
		return err
	}
	if err := reduceOn(ctx, h.Device, pes, allReduceCustom, x.Tensors(), y.Tensors()); err != nil {
		return err
	}
	total := float64(len(pes) * (len(pes) - 1) / 2)
	for rank := range pes {
		if err := y.Expect("y", rank, func() []float64 { return constant(n, total) }); err != nil {
			return err
		}
	}
	return errors.Join(x.Free(), y.Free())
}

var _ = bench.Register(bench.Program{
	Name: "all_reduce_custom", Summary: "the first example of the page",
	Parallel: true, Ranks: 4, DType: dtype.F16, // Parallel: it runs on --ranks PEs, by default 4
	Run: customHost,
})

// end
