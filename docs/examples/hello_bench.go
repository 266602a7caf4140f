// guide: hello bench

package main

import (
	"context"

	"kernbench/bench"
	"kernbench/device"
)

func helloBench(ctx context.Context, h *bench.Host) error {
	plan, err := h.Device.InstallIPCQ(h.Algorithm) // ranks, their PEs, their rings
	if err != nil {
		return err
	}
	const n = 4 // elements per rank
	x, err := h.Device.Empty(1, plan.World*n, h.DType,
		device.DPPolicy{PE: device.ColumnWise, NumCubes: 1, NumPEs: plan.World})
	if err != nil {
		return err
	}
	values := make([]float64, plan.World*n)
	for i := range values {
		values[i] = float64(i / n)
	}
	if err := x.CopyIn(values); err != nil {
		return err
	}
	if _, err := h.Device.Launch(ctx, plan.Name, x); err != nil {
		return err
	}
	if h.Device.HasData() {
		got, err := x.Read()
		if err != nil {
			return err
		}
		for r, at := range plan.RankToPE {
			h.Report("rank %d on sip%d.cube%d.pe%d has %v", r, at.SIP, at.Cube, at.PE, got[r*n:(r+1)*n])
		}
	}
	return x.Free()
}

var _ = bench.Register(bench.Program{
	Name:        "pass_on_bench",
	Summary:     "every PE of a cube ends with its neighbour's number",
	Algorithm:   "pass_on",
	Collectives: true,
	Run:         helloBench,
})

// end
