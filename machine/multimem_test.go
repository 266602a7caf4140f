package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kernbench/unit"
)

// onSwitch are settings of SIPs of one PE on a switch.
func onSwitch(more ...string) []string {
	return append([]string{
		"system.sips.count=4", "system.sips.topology=switch", "sip.cube_mesh.w=1", "sip.cube_mesh.h=1",
		"cube.pe_layout.pe_per_corner=1", "cube.pe_layout.corners=[NW]",
	}, more...)
}

func TestMultimem(t *testing.T) {
	nodes := onSwitch("system.switch.multicast=true", "system.nodes.network=switch", "system.nodes.link.bw_gbs=10", "system.nodes.count=2")
	for _, test := range []struct {
		name string
		sets []string
		pes  []int32
		want string // of the error; "": there is a switch
	}{
		{"all", onSwitch(), []int32{0, 1, 2, 3}, ""},
		{"some", onSwitch(), []int32{1, 3}, ""},
		{"one node", nodes, []int32{4, 5, 6, 7}, ""},
		{"alone", onSwitch(), []int32{2}, "a group of 1 PE: multimem needs at least 2"},
		{"two nodes", nodes, []int32{0, 1, 4}, "the switch node0.switch and the switch rail0.switch join different PEs of the group"},
		{"two switches", nodes, []int32{0, 1, 5}, "no single switch joins sip0.cube0.pe0 and sip5.cube0.pe0"},
		{"no switch", []string{"system.sips.count=2", "system.sips.topology=ring_1d"}, []int32{0, 128}, "no single switch joins "},
		{"in a cube", nil, []int32{0, 1}, "no single switch joins "},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := mustBuild(t, test.sets...)
			x, err := m.Multimem(test.pes)
			switch {
			case test.want != "":
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v, want %q", err, test.want)
				}
			case err != nil:
				t.Error(err)
			case len(x.Switches) != 1 || !strings.HasSuffix(m.NodeName(x.Switches[0].Node), "switch") ||
				len(x.Switches[0].Members) != len(test.pes):
				t.Errorf("%+v", x.Switches)
			}
		})
	}
}

// TestMultimemLacks: what a switch cannot do is named by its key.
func TestMultimemLacks(t *testing.T) {
	for _, test := range []struct {
		sets            []string
		copies, reduces string
	}{
		{nil, "the switch does not copy (switch.multicast)", "the switch does not reduce (switch.reduce.types)"},
		{[]string{"system.switch.multicast=true"}, "", "the switch does not reduce (switch.reduce.types)"},
		{[]string{"system.switch.reduce.types=[f16]"}, "the switch does not copy (switch.multicast)",
			"the switch reduces f16 only (switch.reduce.types)"},
		{[]string{"system.switch.multicast=true", "system.switch.reduce.types=[f16, f32]"}, "", ""},
	} {
		x, err := mustBuild(t, onSwitch(test.sets...)...).Multimem([]int32{0, 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range []struct {
			got  error
			want string
		}{{x.CheckMulticast(), test.copies}, {x.CheckReduce("f32"), test.reduces}} {
			if one.got == nil && one.want != "" || one.got != nil && one.got.Error() != one.want {
				t.Errorf("%v: %v, want %q", test.sets, one.got, one.want)
			}
		}
	}
}

// TestMultimemWire: what a switch combines takes the time of more bytes where its own rate is
// lower.
func TestMultimemWire(t *testing.T) {
	const slowest = 300 * unit.GBPerSecond
	var x Switch
	for _, test := range []struct {
		own, slowest unit.Rate
		bytes, want  int64
	}{
		{0, slowest, 100, 100}, {300 * unit.GBPerSecond, slowest, 100, 100}, {400 * unit.GBPerSecond, slowest, 100, 100},
		{150 * unit.GBPerSecond, slowest, 100, 200}, {200 * unit.GBPerSecond, slowest, 1, 2},
		{200 * unit.GBPerSecond, slowest, 1 << 40, 3 << 39}, {150 * unit.GBPerSecond, slowest, 0, 0},
		{150 * unit.GBPerSecond, AnyRate, 100, 100},
	} {
		x.Spec.Reduce.BW = test.own
		if got := x.WireBytes(test.bytes, test.slowest); got != test.want {
			t.Errorf("%d bytes at %v: %d, want %d", test.bytes, test.own, got, test.want)
		}
	}
}

// TestHubRoutes: the parts of a route before and after a switch make the whole.
func TestHubRoutes(t *testing.T) {
	m := mustBuild(t, onSwitch()...)
	x, err := m.Multimem([]int32{0, 3})
	if err != nil {
		t.Fatal(err)
	}
	from, to := m.HBM(0), m.HBM(3)
	for _, request := range []bool{false, true} {
		want := m.Route(nil, from, to)
		if request {
			want = m.RouteRequest(nil, from, to)
		}
		got := append(m.RouteUp(nil, x, 0, from), m.RouteDown(nil, x, 1, to, request)...)
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// TestMultimemTree: a group whose members are below several leaves has a tree of switches: a leaf
// for each, under one spine. Each link of the tree leads to the switch above, and back.
func TestMultimemTree(t *testing.T) {
	sets := onSwitch("system.levels=[{name: net, network: fat_tree, count: 8, join: each, link: {bw_gbs: 50, latency_ns: 10}," +
		" fat_tree: {radix: 4}, switch: {multicast: true, reduce: {types: [f32], latency_ns: 5}}}]")[2:]
	m := mustBuild(t, sets...)
	for _, test := range []struct {
		pes    []int32
		joints []string // name, members and switches below
	}{
		{[]int32{0, 1}, []string{"net.leaf0 [0 1] []"}},
		{[]int32{0, 2}, []string{"net.spine0 [] [1 2]", "net.leaf0 [0] []", "net.leaf1 [1] []"}},
		{[]int32{1, 2, 3, 7}, []string{"net.spine1 [] [1 2 3]", "net.leaf0 [0] []", "net.leaf1 [1 2] []", "net.leaf3 [3] []"}},
	} {
		x, err := m.Multimem(test.pes)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.CheckMulticast(); err != nil {
			t.Error(err)
		}
		if err := x.CheckReduce("f32"); err != nil {
			t.Error(err)
		}
		var got []string
		for i, j := range x.Switches {
			got = append(got, strings.TrimSpace(m.NodeName(j.Node)+" "+fmt.Sprint(j.Members, " ", j.Below)))
			if j.Above < 0 {
				continue
			}
			above := x.Switches[j.Above].Node
			up, down := m.Link(j.Up.Link), m.Link(j.Down.Link)
			if up.From != j.Node || up.To != above || down.From != above || down.To != j.Node {
				t.Errorf("switch %d: %v, %v", i, up, down)
			}
			for _, member := range j.Members {
				hbm := m.HBM(int(test.pes[member]))
				up, down := m.RouteUp(nil, x, int(member), hbm), m.RouteDown(nil, x, int(member), hbm, false)
				if m.Link(up[len(up)-1].Link).To != j.Node || m.Link(down[0].Link).From != j.Node {
					t.Errorf("the routes of member %d do not end at its switch", member)
				}
			}
		}
		if !slices.Equal(got, test.joints) {
			t.Errorf("%v: %q, want %q", test.pes, got, test.joints)
		}
	}
	m = mustBuild(t, append(sets, "system.levels.0.switch.multicast=false")...)
	x, err := m.Multimem([]int32{0, 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.CheckMulticast(); err == nil || err.Error() != "the switch net.spine0 does not copy (switch.multicast)" {
		t.Error(err)
	}
}
