package conf

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"kernbench/unit"
)

func TestDefaults(t *testing.T) {
	top := DefaultTopology()
	if got := top.NumPEs(); got != 256 {
		t.Errorf("NumPEs = %d, want 256", got)
	}
	if got := top.SIP().UCIe.ConnectionOfPE; !reflect.DeepEqual(got, []int{0, 0, 0, 0, 0, 0, 0, 1}) {
		t.Errorf("ConnectionOfPE = %v", got)
	}
	if top.Cube().HBMBW != 256*unit.GBPerSecond || top.PE().TCM.Scratch != unit.MiB || top.SIP().UCIe.Port != 8*unit.Nanosecond {
		t.Errorf("units: %v, %v, %v", top.Cube().HBMBW, top.PE().TCM.Scratch, top.SIP().UCIe.Port)
	}
	c := DefaultCCL()
	want := []string{"hello_send", "mesh_allreduce", "mesh_allreduce_4", "ring_allreduce", "ring_allreduce_chunked",
		"ring_allreduce_hbm", "ring_allreduce_sram", "ring_allreduce_tcm", "tree_allreduce", "tree_allreduce_7"}
	if got := c.Names(); !reflect.DeepEqual(got, want) {
		t.Errorf("Names = %v", got)
	}
}

// TestDefaultsAreWhole shows that the embedded files name every key of the schema except the
// optional ones, so that no default hides in Go code.
func TestDefaultsAreWhole(t *testing.T) {
	optional := map[string]bool{
		"system.sips.w": true, "system.sips.h": true, "system.sips.cubes_per_sip": true, "system.link.line_bw_gbs": true,
		"system.levels": true, "defaults.world_size": true, "pe.multiprocessors": true,
	}
	check := func(root *field, ps places) {
		for _, path := range root.paths("") {
			if _, named := ps[path]; named == (optional[path] || strings.HasPrefix(path, "system.nodes")) &&
				!strings.Contains(path, "NAME") && !strings.Contains(path, ".N.") {
				t.Errorf("%s: named in the default file: %v", path, named)
			}
		}
	}
	check(topologySchema(), DefaultTopology().places)
	check(cclSchema(), DefaultCCL().places)
}

// TestEveryOverrideHasItsSetting shows that an entry can carry every setting but algorithm.
func TestEveryOverrideHasItsSetting(t *testing.T) {
	a, s := reflect.TypeFor[Algorithm](), reflect.TypeFor[Settings]()
	for i := range s.NumField() {
		name := s.Field(i).Name
		f, ok := a.FieldByName(name)
		if name == "Algorithm" {
			continue
		}
		if !ok || f.Type.Kind() != reflect.Pointer || f.Type.Elem() != s.Field(i).Type {
			t.Errorf("Algorithm.%s is not an override of the setting", name)
		}
	}
}

func TestLoadMerges(t *testing.T) {
	files := []Source{
		{"one.yaml", []byte("system: {sips: {count: 4}}\ncube:\n  noc: {router_ns: 1.5us}\n")},
		{"two.yaml", []byte("system: {sips: {count: 6, w: 3, h: 2}}\nsip:\n")},
		{"empty.yaml", nil},
		{"bom.yaml", []byte("\ufeff# nothing\r\n")},
	}
	top, err := LoadTopology(files, []string{"cube.pe_layout.corners=[NW, NE]", "pe.tcm.scratch=64K", "fabric.flit_bytes = 0x80"})
	if err != nil {
		t.Fatal(err)
	}
	want := DefaultTopology()
	want.values.System.SIPs.Count, want.values.System.SIPs.W, want.values.System.SIPs.H = 6, 3, 2
	want.values.Cube.NoC.Router = 1500 * unit.Nanosecond
	want.values.Cube.PELayout.Corners = []string{"NW", "NE"}
	want.values.SIP.UCIe.ConnectionOfPE = nil // the default list is for 8 PEs
	want.values.PE.TCM.Scratch = 64 * unit.KiB
	want.values.Fabric.FlitBytes = 128
	top.places, want.places = nil, nil
	if !reflect.DeepEqual(top, want) {
		t.Errorf("got  %+v\nwant %+v", top, want)
	}
}

func TestResolve(t *testing.T) {
	file := Source{"my.yaml", []byte(`
defaults: {n_slots: 8, poll_interval_ns: 3}
algorithms:
  ring_allreduce: {n_slots: 2, strict_validation: false}
  mine:
    module: kernbench.ccl.algorithms.my_ring
    topology: torus_2d
    w: 4
    h: 2
    root_cube: 3
`)}
	c, err := LoadCCL([]Source{file}, []string{"algorithms.mine.world_size=8", "defaults.algorithm=mine"})
	if err != nil {
		t.Fatal(err)
	}
	mine, err := c.Resolve("")
	if err != nil {
		t.Fatal(err)
	}
	if mine.Name != "mine" || mine.Module != "my_ring" || mine.Topology != "torus_2d" || mine.W != 4 || mine.H != 2 ||
		mine.RootCube != 3 || mine.WorldSize != 8 || mine.NSlots != 8 || mine.PollInterval != 3*unit.Nanosecond ||
		!mine.StrictValidation || mine.Settings.Algorithm != "mine" {
		t.Errorf("mine: %+v", mine)
	}
	ring, err := c.Resolve("ring_allreduce")
	if err != nil {
		t.Fatal(err)
	}
	if ring.NSlots != 2 || ring.StrictValidation || ring.WorldSize != 0 || ring.Module != "ring_allreduce" {
		t.Errorf("ring_allreduce: %+v", ring)
	}
	own, inherited := ring.Errorf("n_slots", "x"), ring.Errorf("poll_interval_ns", "x")
	if own.Line != 4 || own.Key != "algorithms.ring_allreduce.n_slots" || inherited.Line != 2 ||
		inherited.Key != "defaults.poll_interval_ns" {
		t.Errorf("places: %v; %v", own, inherited)
	}
	_, err = c.Resolve("rign_allreduce")
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(e.Msg, `did you mean "ring_allreduce"?`) {
		t.Errorf("unknown name: %v", err)
	}
	bare := c.Merge("unlisted")
	if bare.Module != "unlisted" || bare.NSlots != 8 || bare.SlotSize != 4096 {
		t.Errorf("Merge: %+v", bare)
	}
}

// Keys of the system, of PEs and of the fabric leave the routes in SIPs as they are in the embedded
// machine.
func TestEmbeddedRoutes(t *testing.T) {
	for set, want := range map[string]bool{
		"system.sips.count=8":            true,
		"system.sips.count=1":            true,
		"sip.cube_mesh.network=torus":    false,
		"sip.cube_mesh.w=5":              false,
		"sip.ucie.connections=2":         false,
		"cube.pe_layout.corners=[NW,SE]": false,
		"cube.noc.link_bw_gbs=100":       false,
		"pe.tcm.capacity=4MiB":           true,
		"fabric.memory_order=sequential": true,
	} {
		top, err := LoadTopology(nil, []string{set})
		if err != nil {
			t.Fatal(err)
		}
		if got := top.EmbeddedRoutes(); got != want {
			t.Errorf("%s: %v", set, got)
		}
	}
}

// A name may have 128 bytes, as the schema states.
func TestLongNames(t *testing.T) {
	for length, refused := range map[int]bool{128: false, 129: true} {
		_, err := LoadCCL(nil, []string{"defaults.algorithm=" + strings.Repeat("a", length)})
		if got := err != nil && strings.Contains(err.Error(), "a name of letters"); got != refused {
			t.Errorf("%d bytes: %v", length, err)
		}
	}
}
