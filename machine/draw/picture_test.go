package draw

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kernbench/check/bound"
	"kernbench/machine"
	"kernbench/plot/scene"

	"github.com/google/go-cmp/cmp"
)

// fontStyle is the font in a picture, which golden files do not have.
var fontStyle = regexp.MustCompile(`(?m)^<style>.*</style>\n`)

var update = flag.Bool("update", false, "rewrite the golden files")

// pictures are machines of all kinds of networks.
var pictures = []struct {
	name, machine string
	sets          []string
}{
	{"ahbm", "ahbm", nil},
	{"star", "", []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1", "system.sips.count=8", "system.link.bw_gbs=200",
		"system.link.line_bw_gbs=250"}},
	{"full", "", []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1", "system.sips.count=8", "system.sips.topology=full"}},
	{"levels", "", []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1",
		"system.levels=[{name: host, network: switch, count: 4, link: {bw_gbs: 250}}, {name: rail, network: fat_tree, count: 8, fat_tree: {radix: 4}, link: {bw_gbs: 50}}]"}},
	{"reducing", "", []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1",
		"system.levels=[{name: host, network: switch, count: 4, link: {bw_gbs: 250}, switch: {multicast: true, reduce: {types: [f16, f32], bw_gbs: 200, latency_ns: 250}}}, {name: rail, network: fat_tree, count: 4, fat_tree: {radix: 4}, link: {bw_gbs: 50}, switch: {multicast: true}}]"}},
	{"dragonfly", "", []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1",
		"system.levels=[{network: dragonfly, count: 12, dragonfly: {routers: 2, per_router: 2}, link: {bw_gbs: 50}}]"}},
	{"gateways", "", []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1",
		"system.levels=[{network: torus, dims: [3, 3, 2], link: {bw_gbs: 50}}, {network: full, count: 3, join: group, link: {bw_gbs: 20}}]"}},
	{"ring", "", []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1", "system.levels=[{network: ring, count: 5, link: {bw_gbs: 50}}]"}},
	{"many on a switch", "", []string{"system.sips.count=40", "sip.cube_mesh.w=1", "sip.cube_mesh.h=1"}},
	{"large mesh", "", []string{"sip.cube_mesh.w=12", "sip.cube_mesh.h=11", "system.sips.count=1"}},
	{"large full", "", []string{"system.sips.topology=full", "system.sips.count=20", "cube.noc.w=2", "cube.noc.h=2",
		"sip.cube_mesh.w=1", "sip.cube_mesh.h=1"}},
	{"large fat tree", "", []string{"sip.cube_mesh.w=1", "sip.cube_mesh.h=1",
		"system.levels=[{network: fat_tree, count: 64, fat_tree: {radix: 8}, link: {bw_gbs: 50}}]"}},
}

func pictureOf(t *testing.T, name string, sets []string) (*Drawing, *scene.Picture) {
	t.Helper()
	d, err := Of(name, sets)
	if err == nil {
		err = d.Bisect(bound.Bisect)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d, d.Picture([]scene.Fact{{Name: "command", Value: "kernbench topology show"}})
}

// TestPictureGeometry: all is in the picture. A text lies in a box or outside of it, and over no
// other text. Boxes lie in each other or apart.
func TestPictureGeometry(t *testing.T) {
	all := pictures
	for _, p := range machine.Presets() {
		all = append(all, struct {
			name, machine string
			sets          []string
		}{p.Name, p.Name, nil})
	}
	for _, tt := range all {
		t.Run(tt.name, func(t *testing.T) {
			_, p := pictureOf(t, tt.machine, tt.sets)
			var texts []scene.Text
			var boxes []scene.Rect
			for _, item := range p.Items {
				if !item.Bounds().Within(p.View()) {
					t.Errorf("%+v is not in %v", item, p.View())
				}
				switch item := item.(type) {
				case scene.Text:
					texts = append(texts, item)
				case scene.Rect:
					boxes = append(boxes, item)
				}
			}
			apart := func(a, b scene.Box) bool { return !a.Overlaps(b) || a.Within(b) || b.Within(a) }
			for i, a := range texts {
				if a.Size < smallSize {
					t.Errorf("%q has size %v", a.Text, a.Size)
				}
				for _, b := range texts[:i] {
					if a.Bounds().Overlaps(b.Bounds()) {
						t.Errorf("%q lies over %q", a.Text, b.Text)
					}
				}
				for _, b := range boxes {
					if a.Bounds().Overlaps(b.Box) && !a.Bounds().Within(b.Box) {
						t.Errorf("%q crosses the border of the box %v %q", a.Text, b.Box, b.Tip)
					}
				}
			}
			for i, a := range boxes {
				for _, b := range boxes[:i] {
					if !apart(a.Box, b.Box) {
						t.Errorf("boxes %q %v and %q %v overlap", a.Tip, a.Box, b.Tip, b.Box)
					}
				}
			}
			if n := len(scene.SVG(p)); n > 400_000 {
				t.Errorf("%d bytes", n)
			}
		})
	}
}

func TestPictureGolden(t *testing.T) {
	for _, tt := range pictures[:6] {
		t.Run(tt.name, func(t *testing.T) {
			d, p := pictureOf(t, tt.machine, tt.sets)
			got := string(scene.SVG(p))
			if got != string(scene.SVG(d.Picture(p.About))) {
				t.Error("drawn again it is another picture")
			}
			got = fontStyle.ReplaceAllString(got, "")
			file := filepath.Join("testdata", tt.name+".svg")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got; go test -update rewrites it)\n%s", file, diff)
			}
		})
	}
}

// textsOf lists the texts of a picture.
func textsOf(p *scene.Picture) []string {
	var all []string
	for _, item := range p.Items {
		if text, ok := item.(scene.Text); ok {
			all = append(all, text.Text)
		}
	}
	return all
}

// TestPictureNests: networks lie in each other, rates have units and stand there once, and a device
// with one PE has no routers.
func TestPictureNests(t *testing.T) {
	for _, tt := range []struct {
		name, machine string
		sets          []string
		want          []string // each once
		not           []string
	}{
		{"ahbm", "ahbm", nil, []string{
			"ahbm: 2 SIPs × 16 cubes × 8 PEs, 256 PEs", "system: 2 SIPs on a switch",
			"SIP <-> switch: 256 GB/s, 45 ns and back 35 ns", "sip0, sip: mesh of 4 × 4 cubes, one of 2 alike",
			"cube <-> cube: 4 × 128 GB/s, 16 ns", "cube0, cube: mesh of 6 × 6 routers, one of 32 alike", "pe7", "sram",
			"cube15", "sip1", "router", "switch or gateway",
		}, []string{"sip0", "cube0"}},
		{"device", "", []string{"cube.noc.w=2", "cube.noc.h=2", "cube.pe_layout.pe_per_corner=1",
			"cube.pe_layout.corners=[NW]", "sip.cube_mesh.w=1", "sip.cube_mesh.h=1", "system.sips.count=8",
			"system.link.bw_gbs=200.5", "system.link.line_bw_gbs=250"}, []string{
			"system: 8 SIPs on a switch", "SIP <-> switch: 200.5 GB/s, 45 ns and back 35 ns, 80 % of the line",
			"sip0: one PE", "HBM 4 GiB, 256 GB/s", "sip7",
		}, []string{"router", "cube0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, p := pictureOf(t, tt.machine, tt.sets)
			seen := map[string]int{}
			for _, text := range textsOf(p) {
				seen[text]++
			}
			for _, want := range tt.want {
				n := seen[want]
				if want == "PE" {
					n--
				}
				if n != 1 {
					t.Errorf("%q stands there %d times: %q", want, n, textsOf(p))
				}
			}
			for _, not := range tt.not {
				if seen[not] > 0 {
					t.Errorf("%q stands there", not)
				}
			}
		})
	}
}

// TestPictureCountsLinks: each link between shown members of a small network is a line.
func TestPictureCountsLinks(t *testing.T) {
	for _, tt := range []struct {
		network string
		lines   int // between SIPs
	}{{"ring_1d", 4}, {"full", 6}, {"switch", 4}, {"mesh_2d_no_wrap", 4}} {
		_, p := pictureOf(t, "", []string{"system.sips.count=4", "system.sips.topology=" + tt.network,
			"sip.cube_mesh.w=1", "sip.cube_mesh.h=1"})
		lines := -1 // that of the head
		for _, item := range p.Items {
			if path, ok := item.(scene.Path); ok && path.Stroke.Color == linkColors[0] {
				lines++
			}
		}
		if lines != tt.lines {
			t.Errorf("%s: %d lines, want %d", tt.network, lines, tt.lines)
		}
	}
}

func TestTitleOf(t *testing.T) {
	member := func(n int) []Node {
		all := make([]Node, n)
		for i := range all {
			all[i].Member = true
		}
		return all
	}
	for want, s := range map[string]*Stage{
		"a: one cube":                         {Name: "a", Member: "cube", Nodes: member(1)},
		"a: fat tree of 1,200 SIPs of each 8": {Name: "a", Network: "fat_tree", Member: "SIP of each 8", Nodes: member(1200)},
		"a: mesh of 2 × 3 cubes, one of 4 alike": {Name: "a", Network: "mesh", Member: "cube", Dims: []int{2, 3},
			Nodes: member(6), Count: 4},
		"a: 2 groups of 4 SIPs on a switch": {Name: "a", Member: "group of 4 SIPs", Nodes: member(2),
			Look: machine.Look{Title: "%s on a switch"}},
	} {
		if got := TitleOf(s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if !strings.Contains(fmt.Sprint(counted(1, "PE"), thousands(1234567)), "1,234,567") {
		t.Error("numbers have no commas")
	}
}

// TestPictureStraight: the links of cubes to a switch and to an IO chiplet do not cross: all lines
// are upright. Arcs are smooth.
func TestPictureStraight(t *testing.T) {
	_, p := pictureOf(t, "atlas-a3-384", nil)
	upright := 0
	for _, item := range p.Items {
		if path, ok := item.(scene.Path); ok && len(path.Points) == 2 {
			if a, b := path.Points[0], path.Points[1]; a.X == b.X {
				upright++
			} else if a.Y != b.Y { // those of heads are level
				t.Errorf("a line leads from %v to %v", a, b)
			}
		}
	}
	if upright != 8+8+8 {
		t.Errorf("%d upright lines", upright)
	}
	_, p = pictureOf(t, "mi300x-8", nil)
	for _, item := range p.Items {
		path, ok := item.(scene.Path)
		for i := 2; ok && i < len(path.Points); i++ {
			a, b, c := path.Points[i-2], path.Points[i-1], path.Points[i]
			turn := math.Atan2(c.Y-b.Y, c.X-b.X) - math.Atan2(b.Y-a.Y, b.X-a.X)
			if math.Abs(turn) > 0.35 {
				t.Fatalf("an arc turns by %.2f at %v", turn, b)
			}
		}
	}
}

// TestPictureNames: the legend names what is drawn, and a memory is not broken in two.
func TestPictureNames(t *testing.T) {
	for _, tt := range []struct{ machine, boxes, memory string }{
		{"dgx-h100", "SIP", "HBM 8 × 80 GiB, each 3.35 TB/s; TCM 8 × 50 MiB, each 5.5 TB/s; SRAM 8 × 16 MiB, each 3.35 TB/s"},
		{"leaf-spine-roce", "host or SIP", ""},
		{"ahbm", "SIP or cube", ""},
		{"ahbm-cube", "", "SRAM 1 × 16 MiB, each 128 GB/s"},
	} {
		_, p := pictureOf(t, tt.machine, nil)
		for _, want := range []string{tt.boxes, tt.memory} {
			if want != "" && !slices.Contains(textsOf(p), want) {
				t.Errorf("%s: no %q in %q", tt.machine, want, textsOf(p))
			}
		}
	}
}
