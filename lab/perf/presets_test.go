package perf_test

import (
	"strings"
	"testing"

	"kernbench/lab/limits"
	"kernbench/lab/run"
	"kernbench/machine"
	"kernbench/unit"
)

// accelerators are the presets of real machines, with the figures that their files must give.
var accelerators = []struct {
	preset string
	pes    int
	ranks  int                // of the tests below, enough to reach all kinds of links
	link   float64            // GB/s of the narrowest link between two ranks
	steps  map[string]lasting // of a ring there and back, as published, by protocol; nil: nothing is
	sets   []string           // that let the links be the limit
}{
	{"dgx-a100", 8, 8, 240, nvlink, allChannels},
	{"dgx-h100", 8, 8, 370.8, nvlink, allChannels},
	{"dgx-h200", 8, 8, 370.8, nvlink, nil},
	{"dgx-b200", 8, 8, 721.8, nvlink, allChannels},
	{"gb200-nvl72", 72, 8, 721.8, nvlink, allChannels},
	{"mi300x-8", 8, 8, 48, map[string]lasting{"ll": {14 * 800, 12000}, "ll128": {14 * 800, 12000}, "simple": {14 * 2100, 17000}}, nil},
	{"ascend-910b-8", 8, 8, 28, alike(14 * 1200), nil},
	{"atlas-a3-384", 384, 8, 392, alike(14 * 1200), nil},
	{"atlas-a3-384", 384, 16, 392, alike(26*1200 + 4*1900), nil}, // two nodes, twice round
	{"tpu-v4", 64, 4, 50, alike(6 * 1000), nil},                  // a row, which wraps
	{"tpu-v5p", 64, 4, 90, alike(6 * 1000), nil},
	{"leaf-spine-roce", 32, 16, 48.5, rails, nil}, // two hosts, twice round
	// Its share of DRAM is narrower than the links.
	{"wormhole-mesh", 80, 8, 32, nil, []string{"cube.hbm_to_router_bw_gbs=256"}},
}

// allChannels lets transfers take all channels, whatever their bytes are.
var allChannels = []string{"defaults.nchannels=32"}

// lasting is the time of all hops of a ring there and back, and of the start of a collective, in
// ns.
type lasting struct{ hops, launch unit.Time }

// nvlink has the latencies of NCCL's model, for 8 GPUs.
var nvlink = map[string]lasting{"ll": {14 * 600, 6600}, "ll128": {14 * 1900, 14000}, "simple": {14 * 3400, 8400}}

// rails is the route between two hosts. Data for the next GPU of the other host go over NVLink
// first. They pay for its links and switch, but not for the software's part.
var rails = map[string]lasting{
	"ll": {26*600 + 4*(2700+275), 6600}, "ll128": {26*1900 + 4*(4000+275), 14000}, "simple": {26*3400 + 4*(14000+275), 8400},
}

// alike returns a machine whose protocols all have the same latency.
func alike(hops unit.Time) map[string]lasting {
	return map[string]lasting{"ll": {hops, 0}, "ll128": {hops, 0}, "simple": {hops, 0}}
}

// TestLinkRates: long messages reach the rate of the links, with the slots of the preset, and do
// not exceed it.
func TestLinkRates(t *testing.T) {
	if testing.Short() {
		t.Skip("too many messages for the race detector")
	}
	for _, a := range accelerators {
		size := unit.Bytes(a.link*1e9*100e-6) &^ 1023 // for some 100 us
		_, took := preset(t, a.preset, a.ranks, "sendrecv", size, a.sets)
		_, once := preset(t, a.preset, a.ranks, "sendrecv", size/2, a.sets)
		if rate := float64(size-size/2) / (took - once).Ns(); rate > a.link*1.005 || rate < 0.85*a.link {
			t.Errorf("%s, %d ranks: %.1f GB/s, want between 85 %% and all of %v", a.preset, a.ranks, rate, a.link)
		}
	}
}

// TestSlotsFillTheLinks: the rings of a preset have the slots that its links need, under its
// slowest protocol.
func TestSlotsFillTheLinks(t *testing.T) {
	for _, a := range accelerators {
		l, err := limits.Run(ctx, limits.Spec{Base: run.Spec{Topology: a.preset, Ranks: a.ranks, NElem: 1 << 20,
			Algorithm: "ring_allreduce_chunked"}, Collective: "all_reduce"})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range l.Rows[0].Bounds {
			if c := b.Witness.Ring; c != nil && b.Witness.Slots > c.Slots {
				t.Errorf("%s, %d ranks: %d slots of %d bytes: %d would fill the link", a.preset, a.ranks, c.Slots,
					c.SlotBytes, b.Witness.Slots)
			}
		}
	}
}

// TestHops: few bytes take the published time of the hops of a ring, loads and stores at its ends,
// and the start.
func TestHops(t *testing.T) {
	const ns = unit.Nanosecond
	for _, a := range accelerators {
		for protocol, want := range a.steps {
			_, took := preset(t, a.preset, a.ranks, "all_reduce", 8, []string{"defaults.protocol=" + protocol})
			if took -= want.launch * ns; took < want.hops*ns || took > want.hops*ns*11/10 {
				t.Errorf("%s, %d ranks, %s: behind its start an all-reduce of 8 B takes %v, want the %v of the hops and at most a tenth more",
					a.preset, a.ranks, protocol, took, want.hops*ns)
			}
		}
	}
}

// TestTiers: between two nodes, all pairs of NPUs at once are as fast as one pair.
func TestTiers(t *testing.T) {
	const algorithm = "recursive_halving_reduce_scatter" // begins with partners 8 apart
	s := perfOf("reduce_scatter", 16)
	s.Min, s.Max, s.Check, s.Algorithms = 2*unit.MiB, 2*unit.MiB, false, []string{algorithm}
	s.Base.Topology = "atlas-a3-384"
	var times [2]unit.Time
	for i, wide := range [][]string{nil, {"system.link.bw_gbs=100000", "sip.io.bw_gbs=100000"}} {
		s.Base.Sets = wide
		times[i] = measured(t, s).Rows[0].OutOfPlace.Time
	}
	if times[0] > times[1]+times[1]/100 {
		t.Errorf("%v, and %v with links of nodes that cannot be the limit", times[0], times[1])
	}
}

// TestAcceleratorsAreRight: results are right on each of them, with data, on all of its PEs.
func TestAcceleratorsAreRight(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range accelerators {
		if seen[a.preset] {
			continue
		}
		seen[a.preset] = true
		s := perfOf("all_reduce", 0)
		s.Base.Topology = a.preset
		s.Algorithms = []string{"double_tree_allreduce"}
		sweep := measured(t, s)
		for _, p := range sweep.Rows[0].Placements() {
			if p.Error != "" || p.Wrong == nil || *p.Wrong != 0 || sweep.Ranks != a.pes {
				t.Errorf("%s, %d ranks: %+v", a.preset, sweep.Ranks, p)
			}
		}
	}
	for _, p := range machine.Presets() {
		if !seen[p.Name] && !strings.HasPrefix(p.Name, "ahbm") {
			t.Errorf("nothing is known of preset %s", p.Name)
		}
	}
}

// preset measures a collective on the first ranks of a preset, without data.
func preset(t *testing.T, name string, ranks int, collective string, size unit.Bytes, sets []string) (busbw float64, took unit.Time) {
	t.Helper()
	s := perfOf(collective, ranks)
	s.Min, s.Max, s.Check = size, size, false
	s.Base.Topology, s.Base.Sets = name, sets
	p := measured(t, s).Rows[0].Placements()
	if len(p) == 0 || p[0].Error != "" {
		t.Fatalf("%s: %+v", name, p)
	}
	return p[0].BusBW, p[0].Time
}
