package draw

import (
	"slices"
	"strings"
	"testing"

	"kernbench/machine"
	"kernbench/plot/scene"
	"kernbench/unit"
)

// TestPictureOfUse: each drawn line has the colour of the busiest of its links, and names which
// that is; all others are grey.
func TestPictureOfUse(t *testing.T) {
	for _, preset := range []string{"dgx-h100", "ahbm-cube", "tpu-v4", "leaf-spine-roce"} {
		t.Run(preset, func(t *testing.T) {
			d, plain := pictureOf(t, preset, nil)
			none := d.PictureOfUse(nil, nil)
			if !slices.ContainsFunc(none.Items, func(i scene.Item) bool {
				text, ok := i.(scene.Text)
				return ok && strings.Contains(text.Text, "No link of the networks")
			}) {
				t.Error("without use the key does not say so")
			}
			name := ""
			for _, j := range d.drawnJoints() {
				for i := range d.machine.NumLinks() {
					if l := d.machine.Link(machine.LinkID(i)); !l.Port && j.From == 0 && j.ends[0] == [2]machine.NodeID{l.From, l.To} {
						name = d.machine.LinkName(machine.LinkID(i))
						break
					}
				}
				if name != "" {
					break
				}
			}
			p := d.PictureOfUse([]LinkUse{{Link: name, Part: 0.6, Bytes: 4 * unit.KiB}, {Link: "no such link", Part: 1}}, nil)
			painted, lines := 0, 0
			for _, item := range p.Items {
				line, ok := item.(scene.Path)
				if !ok || line.Tip == "" {
					continue
				}
				lines++
				switch {
				case strings.HasPrefix(line.Tip, name+": busy 60 % of the time, 4 KiB") && line.Stroke.Color == useColor(0.6):
					painted++
				case line.Tip != "carried nothing" || line.Stroke.Color != idleColor:
					t.Errorf("a line of %v says %q", line.Stroke, line.Tip)
				}
			}
			if painted == 0 || painted > 2 || lines == painted {
				t.Errorf("%d of %d lines have the colour of %s", painted, lines, name)
			}
			again := d.Picture(plain.About)
			if string(scene.SVG(again)) != string(scene.SVG(plain)) {
				t.Error("a picture of use changes the plain one")
			}
		})
	}
}

func TestUseColor(t *testing.T) {
	for part, want := range map[float64]scene.Color{0: 0xf2b134, 0.25: 0xf2b134, 0.26: 0xe8761f, 0.5: 0xe8761f, 0.75: 0xb53a0c,
		0.751: 0x4d1a02, 1: 0x4d1a02, 1.01: 0x4d1a02} {
		if got := useColor(part); got != want {
			t.Errorf("%v of the time is %x, want %x", part, got, want)
		}
	}
}
