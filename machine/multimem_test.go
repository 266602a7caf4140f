package machine

import (
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
		{"alone", onSwitch(), []int32{2}, "a group of 1 PE has no switch between them"},
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
			case !strings.HasSuffix(m.NodeName(x.Hub), "switch") || x.Rate != m.Topology().System().Between()[0].Link.BW:
				t.Errorf("%s, %v", m.NodeName(x.Hub), x.Rate)
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
			"the switch does not reduce f32 (switch.reduce.types)"},
		{[]string{"system.switch.multicast=true", "system.switch.reduce.types=[f16, f32]"}, "", ""},
	} {
		x, err := mustBuild(t, onSwitch(test.sets...)...).Multimem([]int32{0, 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range []struct {
			got  error
			want string
		}{{x.Copies(), test.copies}, {x.Reduces("f32"), test.reduces}} {
			if one.got == nil && one.want != "" || one.got != nil && one.got.Error() != one.want {
				t.Errorf("%v: %v, want %q", test.sets, one.got, one.want)
			}
		}
	}
}

// TestMultimemWire: what a switch combines takes the time of more bytes where its own rate is
// lower.
func TestMultimemWire(t *testing.T) {
	x := Multimem{Rate: 300 * unit.GBPerSecond}
	for _, test := range []struct {
		own         unit.Rate
		bytes, want int64
	}{
		{0, 100, 100}, {300 * unit.GBPerSecond, 100, 100}, {400 * unit.GBPerSecond, 100, 100},
		{150 * unit.GBPerSecond, 100, 200}, {200 * unit.GBPerSecond, 1, 2},
		{200 * unit.GBPerSecond, 1 << 40, 3 << 39}, {150 * unit.GBPerSecond, 0, 0},
	} {
		x.Switch.Reduce.BW = test.own
		if got := x.Wire(test.bytes); got != test.want {
			t.Errorf("%d bytes at %v: %d, want %d", test.bytes, test.own, got, test.want)
		}
	}
}

// TestHubRoutes: the parts of a route before and behind a switch make the whole.
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
		got := append(m.RouteToHub(nil, from, to, x.Hub), m.RouteFromHub(nil, from, to, x.Hub, request)...)
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
