package sim_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"kernbench/exec/sim"
	"kernbench/internal/exhaustive"
)

// TestCrowded: machines have random latencies, rates and buffers, and many ranks share links.
// Replayed messages reach every link in the order in which events bring them.
func TestCrowded(t *testing.T) {
	inOneGoroutine(t)
	all, elements, largest, replays := onRings(), []int{1, 40, 700, 3000}, 160, 0
	if !exhaustive.On() {
		elements, largest = elements[:3], 96
	}
	rapid.Check(t, func(rt *rapid.T) {
		a := rapid.SampledFrom(all).Draw(rt, "algorithm")
		world := rapid.IntRange(9, largest).Draw(rt, "world")
		n := rapid.SampledFrom(elements).Draw(rt, "elements")
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
		if rapid.Bool().Draw(rt, "short queue") {
			sets = append(sets, fmt.Sprintf("pe.dma.queue_depth=%d", rapid.IntRange(1, 8).Draw(rt, "depth")))
		}
		if !takes(a, world, n) {
			world = 64
		}
		if !takes(a, world, n) {
			rt.Skip("not for this world")
		}
		s := setup{world: world, n: n, slots: max(a.MinSlots, rapid.IntRange(2, 6).Draw(rt, "slots")), slotBytes: 512, sets: sets}
		mixed := rapid.Uint64().Draw(rt, "mixed") // which PE each rank has
		b := libraryBench(t, a, s)
		if mixed%2 == 1 && a.Window == nil { // otherwise PEs are in the order of ranks
			g := &b.launch.Groups[0]
			rand.New(rand.NewPCG(mixed, 1)).Shuffle(world, func(i, k int) {
				g.PEs[i], g.PEs[k] = g.PEs[k], g.PEs[i]
				g.Args.Shards[i], g.Args.Shards[k] = g.Args.Shards[k], g.Args.Shards[i]
			})
		}
		outs, replayed, differ := b.inBothModes(t, sim.Options{}, views{})
		if differ != "" || outs[0].Err != "" {
			rt.Fatal(differ, outs[0].Err)
		}
		if replayed {
			replays++
		}
	})
	if replays == 0 {
		t.Error("no launch was replayed")
	}
}
