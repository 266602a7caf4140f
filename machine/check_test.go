package machine

import (
	"errors"
	"strings"
	"testing"

	"kernbench/conf"
)

func TestImpossibleMachines(t *testing.T) {
	for _, test := range []struct {
		name string
		sets []string
		want string // the error, or its beginning
	}{
		{"too many in full", []string{"system.sips.topology=full", "system.sips.count=1025"},
			`system.sips.topology: "full" joins at most 1024 members; there are 1025`},
		{"too many links of cubes", []string{"system.sips.count=1024", "cube.noc.w=64", "cube.noc.h=64"},
			"system.sips.count: 16384 cubes have more than"},
		{"too many links between cubes", []string{
			"sip.cube_mesh.w=32", "sip.cube_mesh.h=32", "sip.cube_mesh.network=full", "sip.ucie.connections=256",
		}, "system.sips.count: the machine has "},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := Build(topology(t, test.sets...))
			switch {
			case err == nil:
				t.Errorf("accepted")
			case !strings.Contains(err.Error(), test.want):
				t.Errorf("error %q, want %q", err, test.want)
			default:
				var e *conf.Error
				if !errors.As(err, &e) || e.Key == "" || m != nil {
					t.Errorf("machine %v, error %#v without a key", m, err)
				}
			}
		})
	}
	for _, top := range []*conf.Topology{nil, {}} {
		if _, err := Build(top); err == nil || !strings.Contains(err.Error(), "was not made by conf.LoadTopology") {
			t.Errorf("%v: error %v", top, err)
		}
	}
}

func TestErrorsHaveAPlace(t *testing.T) {
	// conf cannot know that a network of this size has too many links.
	_, err := Build(topology(t, "system.sips.count=1025", "system.sips.topology=full"))
	if err == nil || !strings.HasPrefix(err.Error(), "--set: system.sips.topology: ") {
		t.Errorf("error %v", err)
	}
}

func TestPresets(t *testing.T) {
	sizes := map[string]int{
		"ahbm": 256, "ahbm-1sip": 128, "ahbm-cube": 8, "ahbm-6sip-torus": 768,
		"dgx-a100": 8, "dgx-h100": 8, "dgx-h200": 8, "dgx-b200": 8, "gb200-nvl72": 72, "mi300x-8": 8,
		"ascend-910b-8": 8, "atlas-a3-384": 384, "wormhole-mesh": 80,
		"tpu-v4": 64, "tpu-v5p": 64, "leaf-spine-roce": 32,
	}
	list := Presets()
	if len(list) != len(sizes) {
		t.Errorf("%d presets, want %d", len(list), len(sizes))
	}
	for _, p := range list {
		t.Run(p.Name, func(t *testing.T) {
			source, ok := PresetSource(p.Name)
			if !ok || len(p.Doc) < 20 || strings.HasPrefix(p.Doc, "#") {
				t.Fatalf("%t, doc %q", ok, p.Doc)
			}
			top, err := conf.LoadTopology([]conf.Source{{Name: p.Name, Data: source}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			m, err := Build(top)
			if err != nil {
				t.Fatal(err)
			}
			if m.NumPEs() != sizes[p.Name] {
				t.Errorf("%d PEs, want %d", m.NumPEs(), sizes[p.Name])
			}
		})
	}
	if list[0].Name != "ahbm" {
		t.Errorf("the first preset is %s", list[0].Name)
	}
	if _, ok := PresetSource("../presets"); ok {
		t.Error("there is a preset ../presets")
	}
}
