package lab_test

import (
	"strings"
	"testing"

	"kernbench/machine"
	"kernbench/unit"
)

// accelerators are the presets of machines that people have, with what their files are to come to.
var accelerators = []struct {
	preset string
	pes    int
	ranks  int       // of the tests below, which need no more to come to the links
	link   float64   // GB/s of the narrowest link between two ranks
	ring   unit.Time // 2 (ranks - 1) hops, as published; 0: nothing is
	sets   []string  // beside slots that hide the way of a credit
}{
	{"dgx-a100", 8, 8, 240, 14 * 600 * unit.Nanosecond, nil},
	{"dgx-h100", 8, 8, 370.8, 14 * 600 * unit.Nanosecond, nil},
	{"dgx-b200", 8, 8, 721.8, 14 * 600 * unit.Nanosecond, nil},
	{"gb200-nvl72", 72, 8, 721.8, 14 * 600 * unit.Nanosecond, nil},
	{"mi300x-8", 8, 8, 48, 14 * 1200 * unit.Nanosecond, nil},
	{"ascend-910b-8", 8, 8, 28, 14 * 1200 * unit.Nanosecond, nil},
	{"atlas-a3-384", 384, 8, 392, 14 * 1200 * unit.Nanosecond, nil},
	{"atlas-a3-384", 384, 16, 392, (26*1200 + 4*1900) * unit.Nanosecond, nil}, // two nodes, twice round
	// Its share of DRAM is narrower than the links.
	{"wormhole-mesh", 80, 8, 32, 0, []string{"defaults.slot_size=16KiB", "cube.hbm_to_router_bw_gbs=256"}},
}

// TestLinkRates: many bytes come as fast as the links are, and no faster.
func TestLinkRates(t *testing.T) {
	if testing.Short() {
		t.Skip("too many messages for the race detector")
	}
	for _, a := range accelerators {
		size := unit.Bytes(a.link*1e9*100e-6) &^ 1023 // for some 100 us
		busbw, _ := preset(t, a.preset, a.ranks, "sendrecv", size, append([]string{"defaults.n_slots=8", "defaults.slot_size=512KiB"}, a.sets...))
		if busbw > a.link || busbw < 0.85*a.link {
			t.Errorf("%s, %d ranks: %.1f GB/s, want between 85 %% and all of %v", a.preset, a.ranks, busbw, a.link)
		}
	}
}

// TestHops: few bytes take the published time of the hops of a ring, and loads and stores at its ends.
func TestHops(t *testing.T) {
	for _, a := range accelerators {
		if a.ring == 0 {
			continue
		}
		_, took := preset(t, a.preset, a.ranks, "all_reduce", 8, nil)
		if took < a.ring || took > a.ring+a.ring/10 {
			t.Errorf("%s, %d ranks: an all-reduce of 8 B takes %v, want the %v of the hops and at most a tenth more", a.preset, a.ranks, took, a.ring)
		}
	}
}

// TestTiers: between two nodes, all NPUs of both at once are as fast as one pair is.
func TestTiers(t *testing.T) {
	sets := []string{"defaults.n_slots=8", "defaults.slot_size=512KiB"}
	const algorithm = "recursive_halving_reduce_scatter" // begins with partners 8 apart
	s := perfOf("reduce_scatter", 16)
	s.Min, s.Max, s.Check, s.Algorithms = 2*unit.MiB, 2*unit.MiB, false, []string{algorithm}
	s.Base.Topology = "atlas-a3-384"
	var times [2]unit.Time
	for i, wide := range [][]string{nil, {"system.link.bw_gbs=100000", "sip.io.bw_gbs=100000"}} {
		s.Base.Sets = append(sets[:2:2], wide...)
		times[i] = measured(t, s).Rows[0].OutOfPlace.Time
	}
	if times[0] > times[1]+times[1]/100 {
		t.Errorf("%v, and %v with links of nodes that cannot be the limit", times[0], times[1])
	}
}

// TestAcceleratorsAreRight: a result on each of them, with data, and on all of its PEs.
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
