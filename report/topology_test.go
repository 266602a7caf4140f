package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"kernbench/machine"
	"kernbench/machine/draw"
)

func drawn(t *testing.T, name string, sets ...string) *draw.Drawing {
	t.Helper()
	d, err := draw.Of(name, sets)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// drawings are machines of all kinds: SIPs of cubes, GPUs on a switch and joined each to each, tori
// and several levels.
var drawings = []struct {
	name, machine string
	sets          []string
}{
	{"ahbm", "ahbm", nil},
	{"star", "", []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1", "system.sips.count=8", "system.link.bw_gbs=200", "system.link.line_bw_gbs=250"}},
	{"full", "", []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1", "system.sips.count=8", "system.sips.topology=full"}},
	{"torus", "ahbm-6sip-torus", nil},
	{"levels", "", []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1",
		"system.levels=[{name: host, network: switch, count: 4, link: {bw_gbs: 250}}, {name: rail, network: fat_tree, count: 8, fat_tree: {radix: 4}, link: {bw_gbs: 50}}]"}},
	{"dragonfly", "", []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1",
		"system.levels=[{network: dragonfly, count: 12, dragonfly: {routers: 2, per_router: 2}, link: {bw_gbs: 50}}]"}},
}

func TestTopology(t *testing.T) {
	for _, tt := range drawings {
		t.Run(tt.name, func(t *testing.T) {
			var text, picture, again bytes.Buffer
			d := drawn(t, tt.machine, tt.sets...)
			if err := Topology(&text, d); err != nil {
				t.Fatal(err)
			}
			golden(t, "topology_"+tt.name+".text", text.Bytes())
			if err := TopologySVG(&picture, d); err != nil {
				t.Fatal(err)
			}
			golden(t, "topology_"+tt.name+".svg", picture.Bytes())
			if err := TopologySVG(&again, drawn(t, tt.machine, tt.sets...)); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(picture.Bytes(), again.Bytes()) {
				t.Error("drawn again it is another picture")
			}
		})
	}
}

// Every picture is XML that says all itself: no script, nothing from elsewhere; and everything in it
// lies within it.
func TestTopologyPictures(t *testing.T) {
	type target struct {
		name string
		sets []string
	}
	targets := []target{
		{"", []string{"system.sips.count=200", "sip.cube_mesh.w=1", "sip.cube_mesh.h=1"}},
		{"", []string{"sip.cube_mesh.w=40", "sip.cube_mesh.h=30"}},
		{"", []string{"system.sips.topology=full", "system.sips.count=60", "cube.noc.w=2", "cube.noc.h=2", "sip.cube_mesh.w=1", "sip.cube_mesh.h=1"}},
	}
	for _, p := range machine.Presets() {
		targets = append(targets, target{p.Name, nil})
	}
	for _, tt := range drawings {
		targets = append(targets, target{tt.machine, tt.sets})
	}
	for _, tt := range targets {
		t.Run(fmt.Sprint(tt.name, tt.sets), func(t *testing.T) {
			var b bytes.Buffer
			d := drawn(t, tt.name, tt.sets...)
			d.Name = "a <name> & \x01 more"
			if err := TopologySVG(&b, d); err != nil {
				t.Fatal(err)
			}
			inside(t, b.Bytes())
			if n := b.Len(); n > 400_000 {
				t.Errorf("%d bytes", n)
			}
		})
	}
}

func inside(t *testing.T, picture []byte) {
	t.Helper()
	dec := xml.NewDecoder(bytes.NewReader(picture))
	width, height, down := 0, 0, 0
	for {
		token, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("no XML: %v", err)
		}
		if end, ok := token.(xml.EndElement); ok && end.Name.Local == "g" {
			down = 0
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		number := map[string]int{}
		for _, a := range e.Attr {
			var n int
			if _, err := fmt.Sscan(a.Value, &n); err == nil {
				number[a.Name.Local] = n
			}
			if strings.Contains(a.Value, "url(") || a.Name.Local == "href" || strings.HasPrefix(a.Name.Local, "on") {
				t.Errorf("%s leads elsewhere: %s", a.Name.Local, a.Value)
			}
			if a.Name.Local == "transform" {
				if _, err := fmt.Sscanf(a.Value, "translate(20,%d)", &down); err != nil {
					t.Errorf("transform %s", a.Value)
				}
			}
		}
		switch e.Name.Local {
		case "svg":
			width, height = number["width"], number["height"]
		case "g", "title", "path":
		case "text", "rect":
			if x, y := number["x"], number["y"]+down; x < 0 || y < 0 || x+number["width"] > width || y+number["height"] > height {
				t.Errorf("%s at %d, %d, %d × %d, of %d × %d", e.Name.Local, x, y, number["width"], number["height"], width, height)
			}
		case "line":
			if max(number["x1"], number["x2"]) > width || max(number["y1"], number["y2"])+down > height {
				t.Errorf("a line to %v", number)
			}
		case "circle":
			if number["cx"] > width || number["cy"]+down > height {
				t.Errorf("a circle at %v", number)
			}
		default:
			t.Errorf("an element %s", e.Name.Local)
		}
	}
	if width == 0 {
		t.Error("no size")
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
