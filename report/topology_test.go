package report

import (
	"bytes"
	"testing"

	"kernbench/check/bound"
	"kernbench/machine"
	"kernbench/machine/draw"
)

func drawn(t *testing.T, name string, sets ...string) *draw.Drawing {
	t.Helper()
	d, err := draw.Of(name, sets)
	if err == nil {
		err = d.Bisect(bound.Bisect)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// drawings are machines of all kinds: SIPs of cubes, GPUs on a switch or fully connected, tori and
// several levels.
var drawings = []struct {
	name, machine string
	sets          []string
}{
	{"ahbm", "ahbm", nil},
	{"star", "", []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1", "system.sips.count=8", "system.link.bw_gbs=200",
		"system.link.line_bw_gbs=250"}},
	{"full", "", []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1", "system.sips.count=8", "system.sips.topology=full"}},
	{"torus", "ahbm-6sip-torus", nil},
	{"levels", "", []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1",
		"system.levels=[{name: host, network: switch, count: 4, link: {bw_gbs: 250}}, {name: rail, network: fat_tree, count: 8, fat_tree: {radix: 4}, link: {bw_gbs: 50}}]"}},
	{"reducing", "", []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1",
		"system.levels=[{name: host, network: switch, count: 4, link: {bw_gbs: 250}, switch: {multicast: true, reduce: {types: [f16, f32], bw_gbs: 200, latency_ns: 250}}}, {name: rail, network: fat_tree, count: 4, fat_tree: {radix: 4}, link: {bw_gbs: 50}, switch: {multicast: true}}]"}},
	{"dragonfly", "", []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1",
		"system.levels=[{network: dragonfly, count: 12, dragonfly: {routers: 2, per_router: 2}, link: {bw_gbs: 50}}]"}},
}

func TestTopology(t *testing.T) {
	for _, tt := range drawings {
		t.Run(tt.name, func(t *testing.T) {
			var text bytes.Buffer
			d := drawn(t, tt.machine, tt.sets...)
			if err := Topology(&text, d); err != nil {
				t.Fatal(err)
			}
			golden(t, "topology_"+tt.name+".text", text.Bytes())
		})
	}
}

func TestValidity(t *testing.T) {
	var b bytes.Buffer
	err := Validity(&b, []machine.Validity{
		{File: "a.yaml", OK: true, Machine: "1 SIP × 1 cube × 8 PEs"},
		{File: "b.yaml", Faults: []machine.Flaw{{Text: "b.yaml:1:2: system: something\n  1 | system\n    | ^"}, {Text: "b.yaml: more"}}},
	})
	want := "a.yaml: ok, 1 SIP × 1 cube × 8 PEs\nb.yaml:1:2: system: something\n  1 | system\n    | ^\nb.yaml: more\n"
	if err != nil || b.String() != want {
		t.Errorf("%v, %q, want %q", err, b.String(), want)
	}
}
