package sim_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kernbench/algorithm"
	"kernbench/exec/sim"
	"kernbench/tl"
	"kernbench/topology"
	"kernbench/unit"
)

// smallSIPs are settings of a machine of SIPs of two cubes with four PEs each.
func smallSIPs(level string) []string {
	return []string{"system.levels=[" + level + "]", "sip.cube_mesh.w=2", "sip.cube_mesh.h=1", "cube.pe_layout.pe_per_corner=1",
		"sip.ucie.connection_of_pe=[0, 0, 1, 1]"}
}

// TestSidesByWindow: where many ranks share links whose latencies, rates and buffers are anything, two
// goroutines that follow half of them each come to what one does event by event.
func TestSidesByWindow(t *testing.T) {
	local, elements := localOnes(), []int{1, 64, 700, 3072}
	if testing.Short() { // the race detector is slow with that many messages
		elements = elements[:3]
	}
	rapid.Check(t, func(rt *rapid.T) {
		a := rapid.SampledFrom(local).Draw(rt, "algorithm")
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
			level("a", "switch", 4) + ", " + level("b", "switch", 2), level("a", "ring", 2) + ", " + level("b", "ring", 5)}).Draw(rt, "levels")
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
		if a.LocalFor != nil && !a.LocalFor(world) || a.Check != nil && a.Check(world, n) != nil {
			rt.Skip("not for this world")
		}
		s := setup{world: world, n: n, slots: rapid.IntRange(2, 6).Draw(rt, "slots"), slotBytes: 512, sets: sets}
		var results [2]*tl.Result
		for i, short := range []bool{true, false} {
			b := libraryBench(t, a, s)
			b.launch.Local = short
			res, err := b.run(sim.Options{SecondCore: short})
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

// TestLinksPart: the links of such machines part between SIPs, at the wire to a switch or to the next
// SIP; where the border of the halves is in the middle of a SIP they do not, as both take links there. Where
// messages come to a wire in no time from the link before, the border is at the next one.
func TestLinksPart(t *testing.T) {
	for _, c := range []struct {
		name, level string
		algorithm   *algorithm.Algorithm
		world       int
		want        unit.Time
		sets        []string
	}{
		{"switch", "{network: switch, count: 8, link: {bw_gbs: 64, latency_ns: 30}, switch: {overhead_ns: 5}}", algorithm.RingAllReduceChunked, 64, 45 * unit.Nanosecond, nil},
		{"ring", "{network: ring, count: 8, link: {bw_gbs: 64, latency_ns: 30}}", algorithm.RingAllReduceChunked, 64, 45 * unit.Nanosecond, nil},
		{"butterfly", "{network: switch, count: 8, link: {bw_gbs: 64, latency_ns: 30}, switch: {overhead_ns: 5}}", algorithm.HalvingDoublingAllReduce, 64, 45 * unit.Nanosecond, nil},
		{"within a SIP", "{network: switch, count: 9, link: {bw_gbs: 64, latency_ns: 30}, switch: {overhead_ns: 5}}", algorithm.BinomialAllReduce, 72, 0, nil},
		{"no wire before", "{network: switch, count: 8, link: {bw_gbs: 64, latency_ns: 30}, switch: {overhead_ns: 5}}", algorithm.RingAllReduceChunked, 64, 35 * unit.Nanosecond, []string{"sip.ucie.port_ns=0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := libraryBench(t, c.algorithm, setup{world: c.world, n: 640, sets: append(smallSIPs(c.level), c.sets...)})
			if got, err := sim.Lookahead(b.m, b.topo, b.launch); err != nil || got != c.want {
				t.Errorf("lookahead %v, want %v (%v)", got, c.want, err)
			}
		})
	}
}

// TestSidesInARow: what one launch leaves behind in the fabric, the next one finds, whoever followed it.
func TestSidesInARow(t *testing.T) {
	buffers := []int{512, 1536, 2048, 3072} // of one message, and of so many that some leave it later than others
	if testing.Short() {
		buffers = buffers[:1]
	}
	for _, a := range []*algorithm.Algorithm{algorithm.HierarchicalRingAllReduce, algorithm.HalvingDoublingAllReduce, algorithm.SwingAllReduce} {
		for _, buffer := range buffers {
			s := setup{world: 64, n: 3072, slotBytes: 512, sets: append(smallSIPs("{network: switch, count: 8, link: {bw_gbs: 8, latency_ns: 30}, switch: {overhead_ns: 5}}"),
				fmt.Sprint("fabric.buffer_bytes=", buffer), "fabric.message_bytes=512")}
			var said [2][]string
			for i := range said {
				b := libraryBench(t, a, s)
				x := sim.New(b.m, b.topo, sim.Options{SecondCore: i == 1})
				for k := range 5 {
					b.launch.Local = k < 3 // then event by event, on all links
					res, err := x.Launch(t.Context(), b.launch)
					if err != nil {
						t.Fatal(err)
					}
					said[i] = append(said[i], fmt.Sprint(res.Start, res.End, res.Messages, res.Bytes))
				}
			}
			if d := cmp.Diff(said[0], said[1]); d != "" {
				t.Errorf("%s, buffers of %d: launches differ (-by one, +by two):\n%s", a.Name, buffer, d)
			}
		}
	}
}

// TestSidesApart: two groups that have nothing to say to each other are followed by one goroutine each.
func TestSidesApart(t *testing.T) {
	s := setup{world: 64, n: 3072, slotBytes: 512, sets: append(smallSIPs("{network: switch, count: 8, link: {bw_gbs: 8, latency_ns: 30}, switch: {overhead_ns: 5}}"),
		"fabric.buffer_bytes=512", "fabric.message_bytes=512")}
	whole := libraryBench(t, algorithm.HalvingDoublingAllReduce, s)
	s.world = 32
	var said [2]string
	for i := range said {
		b := libraryBench(t, algorithm.HalvingDoublingAllReduce, s)
		second := b.launch.Groups[0]
		second.PEs, second.Args.Shards = whole.launch.Groups[0].PEs[32:], whole.launch.Groups[0].Args.Shards[32:]
		b.launch.Groups = append(b.launch.Groups, second)
		if far, err := sim.Lookahead(b.m, b.topo, b.launch); err != nil || far != unit.MaxTime {
			t.Fatalf("lookahead %v (%v)", far, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		res, err := sim.New(b.m, b.topo, sim.Options{SecondCore: i == 1}).Launch(ctx, b.launch)
		if err != nil {
			t.Fatal(err)
		}
		said[i] = fmt.Sprint(res.End, res.Messages, res.Bytes, res.Traffic)
	}
	if said[0] != said[1] {
		t.Errorf("by one %s, by two %s", said[0], said[1])
	}
}

// eastward wires only those ranks that are to send, to whom they do.
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

// handOn is a kernel that receives, works, and sends on, each where its rank does.
func handOn(steps int, work func(rank int) int) tl.Kernel {
	return func(c *tl.Context, a tl.Args) {
		_, sends := c.Neighbor(tl.East)
		_, receives := c.Neighbor(tl.West)
		v := c.Load(a.Shard(c.Rank()))
		for range steps {
			if receives {
				v = c.Recv(tl.West, v.Shape(), v.DType())
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

// bothWays holds a launch that two goroutines follow, whose halves are so far apart, against the same one event by event.
func bothWays(t *testing.T, name string, k tl.Kernel, far unit.Time, buffer int, s setup) {
	t.Helper()
	s.world, s.n, s.slotBytes = 64, 256, 512
	s.sets = append(smallSIPs("{network: switch, count: 8, link: {bw_gbs: 8, latency_ns: 30}, switch: {overhead_ns: 5}}"), "fabric.message_bytes=512", fmt.Sprint("fabric.buffer_bytes=", buffer))
	var said [2]string
	for i := range said {
		b := newBench(t, k, s)
		b.launch.Local, b.launch.Sends = i == 1, []tl.Dir{tl.East}
		if got, err := sim.Lookahead(b.m, b.topo, b.launch); err != nil || got != far {
			t.Fatalf("%s: lookahead %v, want %v (%v)", name, got, far, err)
		}
		res, err := b.run(sim.Options{SecondCore: true})
		if err != nil {
			t.Fatal(err)
		}
		said[i] = fmt.Sprint(res.End, res.Messages, res.Bytes)
	}
	if said[0] != said[1] {
		t.Errorf("%s, %d slots: event by event %s, by two %s", name, s.slots, said[0], said[1])
	}
}

// TestSidesApartByOwnLinks: where what crosses has links of its own, and others share theirs, a window is no longer than a
// token takes to the other half. (A credit takes 2 ns more.)
func TestSidesApartByOwnLinks(t *testing.T) {
	to := map[int]int{24: 31, 25: 29, 26: 30, 31: 32, 32: 40, 33: 41, 34: 42} // 31 is on side 0, 32 on side 1
	for _, work := range []int{0, 3, 40} {
		for slots := 1; slots <= 3; slots++ {
			k := handOn(60, func(rank int) int { return work * (rank % 4) })
			bothWays(t, fmt.Sprint("work ", work), k, unit.Nanoseconds(157.3), 2048, setup{slots: slots, neighbors: eastward(to)})
		}
	}
}

// TestTiesBehindTheBorder: of messages of both halves that come to a link at the same instant, which is the end of a window,
// that of the lower link goes first, as in one queue; also where they wait for room at the border.
func TestTiesBehindTheBorder(t *testing.T) {
	for _, pair := range [][2]int{{28, 29}, {29, 30}, {31, 30}, {30, 31}} {
		x, y := pair[0], pair[1]
		to := map[int]int{x: 40, y: 42, x + 8: 41, y + 8: 43} // from SIP 3, of side 0, and from the same places in SIP 4
		for _, buffer := range []int{512, 2048} {             // one message at the border, and more than there are
			for slots := 1; slots <= 3; slots++ {
				for _, late := range []int{40, 43} { // who goes first shows at its end
					k := handOn(10, func(rank int) int { return map[bool]int{true: 100}[rank == late] })
					bothWays(t, fmt.Sprint(pair, buffer, late), k, 45*unit.Nanosecond, buffer, setup{slots: slots, neighbors: eastward(to)})
				}
			}
		}
	}
}

// TestFaultsByWindow: of what goes wrong on both sides the first in time comes out, and of those at one instant that of the
// lowest rank, as from one queue.
func TestFaultsByWindow(t *testing.T) {
	type at struct {
		rank, step int
		late       bool // after it has sent
	}
	for name, wrong := range map[string][]at{
		"nowhere": nil, "on side 0": {{rank: 7, step: 20}}, "on side 1": {{rank: 40, step: 20}},
		"first on side 0": {{rank: 12, step: 20}, {rank: 44, step: 22}}, "first on side 1": {{rank: 12, step: 22}, {rank: 44, step: 20}},
		"in one window, first on side 0": {{rank: 12, step: 20}, {rank: 44, step: 20, late: true}},
		"in one window, first on side 1": {{rank: 12, step: 20, late: true}, {rank: 44, step: 20}},
		"at once":                        {{rank: 15, step: 20}, {rank: 47, step: 20}}, "at once, before any message": {{rank: 20}, {rank: 52}},
	} {
		t.Run(name, func(t *testing.T) {
			k := func(c *tl.Context, a tl.Args) {
				v := c.Load(a.Shard(c.Rank()))
				for i := range 40 {
					panicAt(slices.Contains(wrong, at{c.Rank(), i, false}))
					c.Send(tl.East, v)
					panicAt(slices.Contains(wrong, at{c.Rank(), i, true}))
					v = c.Recv(tl.West, v.Shape(), v.DType())
				}
			}
			var said []string
			for _, how := range []struct{ short, second bool }{{false, false}, {true, false}, {true, true}} {
				b := newBench(t, k, setup{world: 64, n: 256, slotBytes: 512,
					sets: smallSIPs("{network: switch, count: 8, link: {bw_gbs: 8, latency_ns: 30}, switch: {overhead_ns: 5}}")})
				b.launch.Local, b.launch.Sends = how.short, []tl.Dir{tl.East}
				if far, err := sim.Lookahead(b.m, b.topo, b.launch); err != nil || far != 45*unit.Nanosecond {
					t.Fatalf("lookahead %v (%v)", far, err)
				}
				res, err := b.run(sim.Options{SecondCore: how.second})
				text, _, _ := strings.Cut(fmt.Sprint(err), "goroutine") // whose stack is another's
				if err == nil {
					text = fmt.Sprint(res.End, res.Messages)
				}
				said = append(said, text)
			}
			if said[1] != said[0] || said[2] != said[0] || (wrong == nil) == strings.Contains(said[0], "here") {
				t.Errorf("event by event %s\nby one %s\nby two %s", said[0], said[1], said[2])
			}
		})
	}
}

// TestProcessorsAreNotSeen: a run is the same, down to the number of its events, on one processor and on two.
func TestProcessorsAreNotSeen(t *testing.T) {
	var said [2]string
	for i := range said {
		before := runtime.GOMAXPROCS(i + 1)
		b := libraryBench(t, algorithm.HalvingDoublingAllReduce, setup{world: 64, n: 3072, slotBytes: 512,
			sets: smallSIPs("{network: switch, count: 8, link: {bw_gbs: 8, latency_ns: 30}, switch: {overhead_ns: 5}}")})
		res, err := b.run(sim.Options{SecondCore: true})
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		said[i] = fmt.Sprint(res.End, res.Messages, res.Bytes, res.Events, res.Traffic)
	}
	if said[0] != said[1] {
		t.Errorf("on one %s, on two %s", said[0], said[1])
	}
}
