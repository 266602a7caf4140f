package sim_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kernbench/algorithm"
	"kernbench/exec/sim"
	"kernbench/hw/noc"
	"kernbench/tl/launch"
)

// drawMachine returns the settings of a machine of eight SIPs, with any latencies, rates and
// buffers.
func drawMachine(t *rapid.T) []string {
	ns := func(what string) float64 { return rapid.SampledFrom([]float64{0, 0.5, 2, 20, 150}).Draw(t, what) }
	of := func(what string, list ...int) int { return rapid.SampledFrom(list).Draw(t, what) }
	level := fmt.Sprintf("{name: a, network: %s, count: 8, link: {bw_gbs: %d, latency_ns: %g}}",
		rapid.SampledFrom([]string{"switch", "ring", "full"}).Draw(t, "network"), of("outside", 8, 64, 512), 10+ns("wire"))
	return append(smallSIPs(level),
		fmt.Sprintf("cube.noc.router_ns=%g", ns("router")), fmt.Sprintf("sip.ucie.port_ns=%g", ns("port")),
		fmt.Sprintf("cube.noc.link_bw_gbs=%d", of("mesh", 16, 256)), fmt.Sprintf("pe.issue_ns=%g", ns("issue")),
		fmt.Sprintf("fabric.buffer_bytes=%d", of("buffer", 512, 1024, 16384)), "fabric.message_bytes=512")
}

// TestWithoutShortcuts: turning off one optimisation of the fabric changes no time and no event of
// the trace. The machines have links with random latencies, rates and buffers.
func TestWithoutShortcuts(t *testing.T) {
	inOneGoroutine(t)
	all, elements := onRings(), []int{1, 64, 700}
	shortcuts := []noc.Shortcuts{noc.Exclusive, noc.Advance, noc.ContentionFree, noc.Compress, noc.Prefetch}
	rapid.Check(t, func(rt *rapid.T) {
		off := rapid.SampledFrom(shortcuts).Draw(rt, "off")
		a := rapid.SampledFrom(all).Draw(rt, "algorithm")
		n := rapid.SampledFrom(elements).Draw(rt, "elements")
		s := setup{world: 32, n: n, slots: max(a.MinSlots, rapid.IntRange(2, 5).Draw(rt, "slots")), slotBytes: 512, sets: drawMachine(rt)}
		if !takes(a, s.world, s.n) {
			rt.Skip("not for this world")
		}
		var traces [2]collector
		var results [2]*launch.Result
		for i := range results {
			b := libraryBench(t, a, s)
			e := sim.New(b.m, sim.Options{Trace: &traces[i]})
			if i == 1 {
				e.Without(off)
			}
			var err error
			if results[i], err = e.Launch(t.Context(), b.launch); err != nil {
				rt.Fatal(err)
			}
			results[i].Events = 0
		}
		if d := cmp.Diff(results[0], results[1]); d != "" {
			rt.Fatalf("results (-with +without):\n%s", d)
		}
		if !slices.Equal(traces[0], traces[1]) {
			rt.Fatal("traces differ")
		}
	})
}

// TestHalves: one-sided algorithms take the same times, and make the same events, whether routes
// over one switch are stored as two halves or whole.
func TestHalves(t *testing.T) {
	inOneGoroutine(t)
	ran := 0
	for _, a := range algorithm.All() {
		s := setup{world: 16, n: 64, slots: max(4, a.MinSlots), slotBytes: 512, sets: append(smallSIPs(
			"{name: a, network: switch, count: 8, link: {bw_gbs: 64, latency_ns: 100}}"),
			"sip.ucie.connection_of_pe=[0, 0, 0, 0]", "sip.ucie.connections=1")}
		if a.Window == nil || a.Multimem || a.Collective == "barrier" || !takes(a, s.world, s.n) {
			continue
		}
		ran++
		var traces [2]collector
		var results [2]*launch.Result
		for i := range results {
			b := libraryBench(t, a, s)
			if i == 0 && !b.m.Apart(b.m.PE(0), b.m.PE(b.m.NumPEs()-1)) {
				t.Fatal("routes of this machine are not two halves")
			}
			e := sim.New(b.m, sim.Options{Trace: &traces[i]})
			if i == 1 {
				e.Without(noc.Halves)
			}
			var err error
			if results[i], err = e.Launch(t.Context(), b.launch); err != nil {
				t.Fatal(a.Name, err)
			}
		}
		if d := cmp.Diff(results[0], results[1]); d != "" {
			t.Errorf("%s: results (-with +without):\n%s", a.Name, d)
		}
		if !slices.Equal(traces[0], traces[1]) {
			t.Errorf("%s: traces differ", a.Name)
		}
	}
	if ran < 10 {
		t.Errorf("%d algorithms ran", ran)
	}
}
