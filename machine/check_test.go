package machine

import (
	"errors"
	"strings"
	"testing"

	"kernbench/conf"
	"kernbench/unit"
)

func TestImpossibleMachines(t *testing.T) {
	tests := []struct {
		name string
		mend func(*conf.Topology) // makes it impossible
		want string               // the error, or its beginning
	}{
		{"no rate", func(t *conf.Topology) { t.Cube.HBMBW = 0 }, "cube.hbm_to_router_bw_gbs: a bandwidth must be above 0"},
		{"negative delay", func(t *conf.Topology) { t.SIP.UCIe.Port = -1 }, "sip.ucie.port_ns: a delay of -0.001ns"},
		{"endless delay", func(t *conf.Topology) { t.System.Link.Latency = unit.MaxTime }, "system.link.latency_ns: "},
		{"endless wire", func(t *conf.Topology) { t.Cube.NoC.Pitch = 1e300 }, "cube.noc.pitch_mm: "},
		{"no SIP", func(t *conf.Topology) { t.System.SIPs.Count = 0 }, "system.sips.count: 0 is not between 1 and 1048576"},
		{"no corner", func(t *conf.Topology) { t.Cube.PELayout.Corners = nil; t.SIP.UCIe.ConnectionOfPE = nil },
			"cube.pe_layout.corners: 0 is not between 1 and 4"},
		{"unknown corner", func(t *conf.Topology) { t.Cube.PELayout.Corners[1] = "EN" }, `cube.pe_layout.corners: "EN" is no corner`},
		{"no such connection", func(t *conf.Topology) { t.SIP.UCIe.ConnectionOfPE[3] = 4 },
			"sip.ucie.connection_of_pe: PE 3 has connection 4; the connections are 0 to 3"},
		{"connections of other PEs", func(t *conf.Topology) { t.SIP.UCIe.ConnectionOfPE = []int{0} },
			"sip.ucie.connection_of_pe: it has 1 entries for the 8 PEs of a cube"},
		{"buffer below a message", func(t *conf.Topology) { t.Fabric.BufferBytes = 4095 },
			"fabric.buffer_bytes: an input buffer of 4095 B cannot hold a message of 4 KiB"},
		{"buffer below a request", func(t *conf.Topology) { t.Fabric.RequestBytes = 1 << 20 },
			"fabric.buffer_bytes: an input buffer of 16 KiB cannot hold a message of 1 MiB"},
		{"empty message", func(t *conf.Topology) { t.Fabric.MessageBytes = 0 }, "fabric.message_bytes: a message needs a byte"},
		{"unknown network", func(t *conf.Topology) { t.SIP.CubeMesh.Network = "star" }, `sip.cube_mesh.network: there is no network "star"`},
		{"unknown network of SIPs", func(t *conf.Topology) { t.System.SIPs.Topology = "star" }, `system.sips.topology: there is no network "star"`},
		{"grid that does not fit", func(t *conf.Topology) {
			s := &t.System.SIPs
			s.Topology, s.Count, s.W, s.H = "mesh_2d_no_wrap", 5, 2, 3
		}, "system.sips.topology: a grid of 2 × 3 SIPs has not 5 SIPs"},
		{"too many in full", func(t *conf.Topology) { t.System.SIPs.Topology, t.System.SIPs.Count = "full", 1025 },
			`system.sips.topology: "full" joins at most 1024; there are 1025`},
		{"too many links of cubes", func(t *conf.Topology) { t.System.SIPs.Count = 65536 }, "system.sips.count: 1048576 cubes have more than"},
		{"too many links between cubes", func(t *conf.Topology) {
			t.SIP.CubeMesh = conf.CubeMesh{W: 32, H: 32, Network: "full"}
			t.SIP.UCIe.Connections = 256
		}, "system.sips.count: the machine has "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			top := conf.DefaultTopology()
			test.mend(top)
			m, err := Build(top)
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
		"dgx-a100": 8, "dgx-h100": 8, "dgx-b200": 8, "gb200-nvl72": 72, "mi300x-8": 8,
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
