package examples

import (
	"context"
	"testing"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/device"
	"kernbench/kerneltest"
	"kernbench/tl"
)

// guide: hello
// passOn sends this rank's vector to the next rank and keeps what the previous one sent.
func passOn(c *tl.Context, a tl.Args) {
	mine := a.Shard(c.Rank()) // where this rank's elements lie; nothing is moved
	own := c.Load(mine)       // memory -> tensor; returns at once
	c.Send(tl.East, own)      // to rank+1, when the vector is there
	got := c.Recv(tl.West, own.Shape(), own.DType())
	c.Store(mine, got) // straight from the ring's slot
}

// end

// guide: hello row
var _ = algorithm.Register(algorithm.Algorithm{
	Name:       "pass_on",
	Summary:    "every vector moves one rank to the east",
	Collective: "shift",   // what it should do: kernbench list collectives
	Topology:   "ring_1d", // whose directions it uses: kernbench list topologies
	Kernel:     passOn,
	Steps:      "1",
	Cost:       "alpha + beta M",
	Source:     "this guide",
})

// end

// guide: hello test
func TestPassOn(t *testing.T) {
	kerneltest.Run(t, passOn, kerneltest.Config{Collective: "shift", World: 4, NElem: 2})
}

// end

// guide: hello host
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
