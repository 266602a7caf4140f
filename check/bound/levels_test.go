package bound_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"kernbench/check/bound"
	"kernbench/collective"
	"kernbench/conf"
	"kernbench/dtype"
	"kernbench/machine"

	"pgregory.net/rapid"
)

// anyLevels draws levels of SIPs, of every kind, with their number.
func anyLevels(t *rapid.T) (set string, sips int) {
	var list []string
	sips = 1
	pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	for i := range rapid.IntRange(1, 3).Draw(t, "levels") {
		n := rapid.IntRange(1, 3).Draw(t, "members")
		network := pick("network", "ring", "mesh", "torus", "full", "switch", "fat_tree", "dragonfly")
		size := fmt.Sprintf("count: %d", n)
		switch network {
		case "mesh", "torus":
			w := rapid.IntRange(1, 3).Draw(t, "w")
			size = fmt.Sprintf("dims: [%d, %d]", w, n)
			n *= w
		case "fat_tree":
			size += ", fat_tree: {radix: 4}, switch: {overhead_ns: 20}, paths: " + pick("paths", "destination", "hash")
		case "dragonfly":
			n *= 2
			size = fmt.Sprintf("count: %d, dragonfly: {routers: 2, per_router: 1, global_links: %s}, switch: {overhead_ns: 30}",
				n, pick("global", "1", "2"))
		}
		level := fmt.Sprintf("{network: %s, %s, link: {bw_gbs: %s, latency_ns: %s}", network, size,
			pick("rate", "1", "32", "100", "1000"), pick("delay", "0", "7", "500"))
		if i > 0 && pick("join", "each", "group") == "group" {
			level += ", join: group, gateway: {overhead_ns: 9}"
		}
		list = append(list, level+"}")
		sips *= n
	}
	return "system.levels=[" + strings.Join(list, ", ") + "]", sips
}

// On machines of levels the limits are those of the textbook, too.
func TestClosedFormsOfLevels(t *testing.T) {
	const rate, each = 1e9, 1 << 20
	chip := []string{
		"sip.cube_mesh.w=1", "sip.cube_mesh.h=1", "cube.pe_layout.pe_per_corner=1", "cube.pe_layout.corners=[NW]",
		"sip.ucie.connections=1", "sip.ucie.bw_gbs=100", "sip.io.bw_gbs=100",
	}
	torus := func(dims string) string { return "[{network: torus, dims: " + dims + ", link: {bw_gbs: 1}}]" }
	// Leaves of 8 ports, with 6 ranks and 2 links up.
	leaves := "[{network: fat_tree, count: 24, fat_tree: {radix: 8, oversubscription: 3}, link: {bw_gbs: 1}}]"
	hosts := "[{network: switch, count: 8, link: {bw_gbs: 9}}, {network: switch, count: 4, join: group, link: {bw_gbs: 1}}]"
	rails := "[{network: switch, count: 8, link: {bw_gbs: 50}}, {network: fat_tree, count: 4, fat_tree: {radix: 64}, link: {bw_gbs: 1}}]"
	tests := []struct {
		name, levels string
		co           *collective.Collective
		kind         bound.Kind
		want         float64 // in bytes of a rank over the rate of a link
	}{
		{"torus 4x4x4", torus("[4, 4, 4]"), collective.AllGather, bound.Cut, 63. / 6},
		{"torus 4x4x4", torus("[4, 4, 4]"), collective.ReduceScatter, bound.Cut, 63. / (6 * 64)},
		{"torus 4x4x4", torus("[4, 4, 4]"), collective.AllReduce, bound.Volume, 2 * 63. / (6 * 64)},
		{"hosts behind gateways", hosts, collective.AllReduce, bound.Volume, 2 * 3. / 4},
		{"hosts on rails", rails, collective.AllReduce, bound.Volume, 2 * 3. / (4 * 8)},
		{"torus 8x4x4", torus("[8, 4, 4]"), collective.AllToAll, bound.Cut, 8. / 8}, // of N·a·s/8B; here the bytes are N·s
		{"torus 4x4x4", torus("[4, 4, 4]"), collective.AllToAll, bound.Flow, 4. / 8},
		{"a ring of rings of rings", "[" + strings.Repeat("{network: ring, count: 4, link: {bw_gbs: 1}}, ",
			2) + "{network: ring, count: 4, link: {bw_gbs: 1}}]",
			collective.AllGather, bound.Cut, 63. / 6},
		{"leaf-spine 3:1", leaves, collective.AllToAll, bound.Flow, 3 * 18. / 24},
		{"leaf-spine 3:1", leaves, collective.AllGather, bound.Cut, 23}, // by a NIC; a leaf's 18 enter by 2 links
		{"hosts behind gateways", hosts, collective.AllReduce, bound.Cut, 1},
		{"hosts behind gateways", hosts, collective.AllGather, bound.Cut, 24},
		{"hosts behind gateways", hosts, collective.AllToAll, bound.Cut, 8 * 24. / 32},
		{"hosts on rails", rails, collective.AllGather, bound.Cut, 24. / 8},
		{"hosts on rails", rails, collective.AllToAll, bound.Cut, 24. / 32},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%s/%s/%s", test.name, test.co.Name, test.kind), func(t *testing.T) {
			top, err := conf.LoadTopology(nil, append(chip, "system.levels="+test.levels))
			if err != nil {
				t.Fatal(err)
			}
			m, err := machine.Build(top)
			if err != nil {
				t.Fatal(err)
			}
			pes := make([]int32, m.NumPEs())
			for i := range pes {
				pes[i] = int32(i)
			}
			s, err := bound.New(m, pes)
			if err != nil {
				t.Fatal(err)
			}
			c := collective.Call{World: len(pes), Elems: each * len(pes), Type: dtype.F64}
			r, err := s.Limits(test.co, c, bound.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := test.want * float64(c.Elems) * 8 / rate
			for _, b := range r.Bounds {
				if b.Kind != test.kind {
					continue
				}
				got := float64(b.Witness.Bytes) / float64(b.Witness.Rate)
				if math.Abs(got/want-1) > 1e-9 || b.Time.Seconds() < want*(1-1e-9) {
					t.Errorf("%v s, want %v and the delays at both ends: %+v", b.Time.Seconds(), want, b.Witness)
				}
				return
			}
			t.Errorf("there is none, want %v s", want)
		})
	}
}
