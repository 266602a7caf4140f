package sim_test

import (
	"fmt"
	"testing"

	"kernbench/exec/sim"
	"kernbench/hw/noc"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/unit"
)

// TestOneMessageOverLevels: a message alone takes the sum of its delays, and its bytes over the
// slowest link. alpha and beta are computed by hand, over one, two and three levels of SIPs.
func TestOneMessageOverLevels(t *testing.T) {
	const n = 999 // of 2 bytes
	sets := []string{
		"sip.cube_mesh.w=1", "sip.cube_mesh.h=1", "cube.pe_layout.pe_per_corner=1", "cube.pe_layout.corners=[NW]",
		"cube.noc.router_ns=0", "cube.noc.ns_per_mm=0", "sip.ucie.port_ns=0", "sip.ucie.bw_gbs=400", "sip.io.bw_gbs=400",
		"sip.io.overhead_ns=3", "sip.io.pcie_ep_ns=0.5",
		`system.levels=[
			{network: ring, count: 4, link: {bw_gbs: 40, latency_ns: 7}},
			{network: switch, count: 3, join: group, link: {bw_gbs: 30, latency_ns: 50}, switch: {overhead_ns: 200}, gateway: {overhead_ns: 90}},
			{network: fat_tree, count: 6, join: each, link: {bw_gbs: 20, latency_ns: 1000}, switch: {overhead_ns: 600}, fat_tree: {radix: 4}}]`,
	}
	const io = 3.5
	ring := io + 7.0
	gateways := ring + (90 + 50) + (200 + 50) + (90 + 7)
	for _, test := range []struct {
		name     string
		from, to int32
		alpha    float64 // ns, with what the chiplet of the last SIP takes
		rate     float64
	}{
		{"a ring", 1, 3, 2*ring + io, 40},
		{"up, across, down", 1, 4 + 2, gateways + io, 30},
		{"along a plane under one leaf", 2, 12 + 2, io + 1000 + (600 + 1000) + io, 20},
		{"along a plane over a spine", 2, 5*12 + 2, io + 1000 + 3*(600+1000) + io, 20},
		{"all three", 1, 5*12 + 4 + 2, gateways + io + 1000 + 3*(600+1000) + io, 20},
	} {
		for _, f := range []noc.Fidelity{noc.Slot, noc.Ideal} {
			t.Run(fmt.Sprint(test.name, f), func(t *testing.T) {
				b := newBench(t, func(c *tl.Context, a tl.Args) {
					if c.Rank() == 0 {
						c.Send(tl.East, c.Full(tl.Dims(n), a.DType, 1))
					} else {
						c.Recv(tl.West, tl.Dims(n), a.DType)
					}
				}, setup{world: 2, n: n, sets: sets})
				g := &b.launch.Groups[0]
				for r, pe := range []int32{test.from, test.to} {
					g.PEs[r], g.Args.Shards[r] = pe, mem.At(mem.HBM, int(pe), 0)
				}
				res, err := b.run(sim.Options{Fidelity: f})
				if err != nil {
					t.Fatal(err)
				}
				c := termsOf(b)
				beta := unit.Time(2*n*1000/test.rate + 0.999999) // ps, rounded up
				want := c.I + c.spec.Math.Time(n) + c.Tx + c.S + unit.Nanoseconds(test.alpha) + beta + c.W + c.Rx
				if res.Duration() != want {
					t.Errorf("took %v, by hand %v", res.Duration(), want)
				}
			})
		}
	}
}
