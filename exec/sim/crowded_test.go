package sim_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kernbench/exec/sim"
	"kernbench/tl"
)

// TestCrowded: where many ranks share links whose latencies, rates and buffers are anything,
// messages that are followed come to every link in the order in which events bring them.
func TestCrowded(t *testing.T) {
	local := localOnes()
	rapid.Check(t, func(rt *rapid.T) {
		a := rapid.SampledFrom(local).Draw(rt, "algorithm")
		world := rapid.IntRange(9, 160).Draw(rt, "world")
		n := rapid.SampledFrom([]int{1, 40, 700, 3000}).Draw(rt, "elements")
		ns := rapid.SampledFrom([]float64{0, 0.5, 2, 3, 20, 150})
		sets := []string{
			fmt.Sprintf("cube.noc.router_ns=%g", ns.Draw(rt, "router")),
			fmt.Sprintf("sip.ucie.port_ns=%g", ns.Draw(rt, "port")),
			fmt.Sprintf("sip.ucie.bw_gbs=%d", rapid.SampledFrom([]int{8, 128, 1000}).Draw(rt, "ucie")),
			fmt.Sprintf("cube.noc.link_bw_gbs=%d", rapid.SampledFrom([]int{16, 256}).Draw(rt, "mesh")),
			fmt.Sprintf("pe.issue_ns=%g", ns.Draw(rt, "issue")),
			fmt.Sprintf("pe.dma.setup_ns=%g", ns.Draw(rt, "setup")),
			fmt.Sprintf("pe.ipcq.send_ns=%g", ns.Draw(rt, "send")),
			fmt.Sprintf("fabric.buffer_bytes=%d", rapid.SampledFrom([]int{512, 1024, 16384}).Draw(rt, "buffer")),
			"fabric.message_bytes=512",
		}
		if a.LocalFor != nil && !a.LocalFor(world) {
			world = 64
		}
		if a.Check != nil && a.Check(world, n) != nil {
			rt.Skip("not for this world")
		}
		s := setup{world: world, n: n, slots: rapid.IntRange(2, 6).Draw(rt, "slots"), slotBytes: 512, sets: sets}
		ahead := rapid.Bool().Draw(rt, "ahead")
		mixed := rapid.Uint64().Draw(rt, "mixed") // which PE each rank has
		var results [2]*tl.Result
		for i, short := range []bool{true, false} {
			b := libraryBench(t, a, s)
			b.launch.Local = short
			if mixed%2 == 1 && a.Window == nil { // which the PEs have in their order
				g := &b.launch.Groups[0]
				rand.New(rand.NewPCG(mixed, 1)).Shuffle(world, func(i, k int) {
					g.PEs[i], g.PEs[k] = g.PEs[k], g.PEs[i]
					g.Args.Shards[i], g.Args.Shards[k] = g.Args.Shards[k], g.Args.Shards[i]
				})
			}
			res, err := b.run(sim.Options{SecondCore: short && ahead})
			if err != nil {
				rt.Fatal(err)
			}
			results[i] = res
		}
		results[0].Events = results[1].Events
		if d := cmp.Diff(results[1], results[0]); d != "" {
			rt.Errorf("results differ (-long +short):\n%s", d)
		}
	})
}
