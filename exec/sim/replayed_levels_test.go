package sim_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kernbench/algorithm"
	"kernbench/exec/sim"
	"kernbench/internal/exhaustive"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/topology"
)

// smallSIPs are settings of a machine of SIPs of two cubes with four PEs each.
func smallSIPs(level string) []string {
	return []string{"system.levels=[" + level + "]", "sip.cube_mesh.w=2", "sip.cube_mesh.h=1", "cube.pe_layout.pe_per_corner=1",
		"sip.ucie.connection_of_pe=[0, 0, 1, 1]"}
}

// eightSIPs is a level of eight SIPs at a slow switch.
const eightSIPs = "{network: switch, count: 8, link: {bw_gbs: 8, latency_ns: 30}, switch: {overhead_ns: 5}}"

// TestReplayedOnLevels: on machines of several levels, whose links have any latencies, rates and
// buffers, replayed launches take as long as event-driven ones.
func TestReplayedOnLevels(t *testing.T) {
	all, elements := onRings(), []int{1, 64, 700, 3072}
	if testing.Short() || !exhaustive.On() { // the race detector is slow with that many messages
		elements = elements[:3]
	}
	rapid.Check(t, func(rt *rapid.T) {
		a := rapid.SampledFrom(all).Draw(rt, "algorithm")
		n := rapid.SampledFrom(elements).Draw(rt, "elements")
		ns := rapid.SampledFrom([]float64{0, 0.5, 2, 3, 20, 150})
		level := func(name, network string, count int) string {
			l := fmt.Sprintf("{name: %s, network: %s, count: %d, link: {bw_gbs: %d, latency_ns: %g}", name, network, count,
				rapid.SampledFrom([]int{8, 64, 512}).Draw(rt, "outside"), 10+ns.Draw(rt, "wire"))
			if network == "switch" {
				l += fmt.Sprintf(", switch: {overhead_ns: %g}", ns.Draw(rt, "switch"))
			}
			return l + "}"
		}
		levels := rapid.SampledFrom([]string{level("a", "switch", 8), level("a", "ring", 8), level("a", "full", 8),
			level("a", "switch", 4) + ", " + level("b", "switch", 2),
			level("a", "ring", 2) + ", " + level("b", "ring", 5)}).Draw(rt, "levels")
		sets := append(smallSIPs(levels),
			fmt.Sprintf("cube.noc.router_ns=%g", ns.Draw(rt, "router")),
			fmt.Sprintf("sip.ucie.port_ns=%g", ns.Draw(rt, "port")),
			fmt.Sprintf("cube.noc.link_bw_gbs=%d", rapid.SampledFrom([]int{16, 256}).Draw(rt, "mesh")),
			fmt.Sprintf("pe.issue_ns=%g", ns.Draw(rt, "issue")),
			fmt.Sprintf("pe.dma.setup_ns=%g", ns.Draw(rt, "setup")),
			fmt.Sprintf("fabric.buffer_bytes=%d", rapid.SampledFrom([]int{512, 1024, 16384}).Draw(rt, "buffer")),
			"fabric.message_bytes=512")
		world := 64
		if strings.Contains(levels, "count: 5") {
			world = 80
		}
		if !takes(a, world, n) {
			rt.Skip("not for this world")
		}
		s := setup{world: world, n: n, slots: max(a.MinSlots, rapid.IntRange(2, 6).Draw(rt, "slots")), slotBytes: 512, sets: sets}
		second := rapid.Bool().Draw(rt, "second core")
		outs, _, differ := libraryBench(t, a, s).inBothModes(t, sim.Options{SecondCore: second}, views{})
		if differ != "" || outs[0].Err != "" {
			rt.Fatal(differ, outs[0].Err)
		}
	})
}

// eastward wires only the ranks that are to send.
func eastward(to map[int]int) topology.Override {
	return func(rank, _ int, m map[tl.Dir]int) map[tl.Dir]int {
		clear(m)
		for a, b := range to {
			switch rank {
			case a:
				m[tl.East] = b
			case b:
				m[tl.West] = a
			}
		}
		return m
	}
}

// handOn returns a kernel that receives, works, and sends on, where its rank has rings.
func handOn(steps int, work func(rank int) int) tl.Kernel {
	return func(c *tl.Context, a tl.Args) {
		_, sends := c.Neighbor(tl.East)
		_, receives := c.Neighbor(tl.West)
		v := own(c, a)
		for range steps {
			if receives {
				v = like(c, tl.West, v)
			}
			for range work(c.Rank()) {
				c.Free(c.Add(v, v))
			}
			if sends {
				c.Send(tl.East, v)
			}
		}
	}
}

// TestTiesAtOneLink: messages of two SIPs reach a link at one instant. The one that events let go
// first goes first when replayed, also where they wait for a buffer.
func TestTiesAtOneLink(t *testing.T) {
	inOneGoroutine(t)
	for _, pair := range [][2]int{{28, 29}, {29, 30}, {31, 30}, {30, 31}} {
		x, y := pair[0], pair[1]
		to := map[int]int{x: 40, y: 42, x + 8: 41, y + 8: 43} // from SIP 3, and from the same places in SIP 4
		for _, buffer := range []int{512, 2048} {             // one message, and more than there are
			for slots := 1; slots <= 3; slots++ {
				for _, late := range []int{40, 43} { // the first one shows at the end of its receiver
					k := handOn(10, func(rank int) int { return map[bool]int{true: 100}[rank == late] })
					b := newBench(t, k, setup{world: 64, n: 256, slots: slots, slotBytes: 512, neighbors: eastward(to),
						sets: append(smallSIPs(eightSIPs), "fabric.message_bytes=512", fmt.Sprint("fabric.buffer_bytes=", buffer))})
					if _, replayed := b.sameInBothModes(t, sim.Options{}, views{}); !replayed {
						t.Error("not replayed")
					}
				}
			}
		}
	}
}

// TestLaunchesInARowInBothModes: a launch finds the state of the fabric that the previous one left,
// in whichever mode both run. This holds also when a launch between fails to be replayed.
func TestLaunchesInARowInBothModes(t *testing.T) {
	buffers := []int{512, 1536, 3072} // of one message, and of several, some of which leave it later than others
	if testing.Short() {
		buffers = buffers[:1]
	}
	for i, a := range []*algorithm.Algorithm{algorithm.HierarchicalRingAllReduce, algorithm.HalvingDoublingAllReduce,
		algorithm.RingAllReduceChunked} {
		for j, buffer := range buffers {
			if !exhaustive.On() && (i+j)%3 > 0 {
				continue
			}
			s := setup{world: 64, n: 1024, slotBytes: 512,
				sets: append(smallSIPs(eightSIPs), fmt.Sprint("fabric.buffer_bytes=", buffer), "fabric.message_bytes=512")}
			b := libraryBench(t, a, s)
			asking := *b.launch
			asking.Kernel = func(c *tl.Context, args tl.Args) { // whatever it does, it is not replayed
				c.Fence()
				a.Kernel(c, args)
			}
			var want []string
			for i, o := range []sim.Options{{EventDriven: true}, {}, {SecondCore: true}} {
				x := sim.New(b.m, o)
				var got []string
				for _, l := range []*launch.Launch{b.launch, b.launch, &asking, b.launch, &asking} {
					res, err := x.Launch(t.Context(), l)
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, fmt.Sprint(res.Start, res.End, res.Messages, res.Bytes, x.Now()))
				}
				if i == 0 {
					want = got
				} else if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s, buffers of %d, %+v:\nevent-driven %s\nreplayed     %s", a.Name, buffer, o, want, got)
				}
			}
		}
	}
}

// TestNoSetup: on a machine whose DMA engines need no time to start, a credit lets the next part of
// a payload go at once. The time is the same in both modes.
func TestNoSetup(t *testing.T) {
	inOneGoroutine(t)
	for _, a := range []*algorithm.Algorithm{algorithm.MultiRingAllReduce, algorithm.DoubleTreeAllReduce, algorithm.MeshCenterAllReduce} {
		for _, ns := range []int{0, 2} { // to issue an instruction, and to send
			for _, slotBytes := range []int64{512, 1 << 16} {
				s := setup{world: 64, n: 3072, slots: 2, slotBytes: slotBytes, sets: append(
					smallSIPs("{name: a, network: switch, count: 8, link: {bw_gbs: 8, latency_ns: 10}, switch: {overhead_ns: 0}}"),
					"cube.noc.router_ns=0", "sip.ucie.port_ns=0", "cube.noc.link_bw_gbs=16",
					"fabric.buffer_bytes=1024", "fabric.message_bytes=512",
					"pe.dma.setup_ns=0", fmt.Sprint("pe.issue_ns=", ns), fmt.Sprint("pe.ipcq.send_ns=", ns))}
				t.Run(fmt.Sprintf("%s/%d/%d", a.Name, ns, slotBytes), func(t *testing.T) {
					libraryBench(t, a, s).sameInBothModes(t, sim.Options{}, views{})
				})
			}
		}
	}
}
