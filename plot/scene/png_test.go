//go:build !nopng

package scene

import (
	"bytes"
	"encoding/binary"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// at returns the pixel of a place.
func at(c interface{ At(x, y int) color.Color }, x, y float64) Color {
	r, g, b, _ := c.At(int(x*dpi/72), int(y*dpi/72)).RGBA()
	return Color(r>>8<<16 | g>>8<<8 | b>>8)
}

// TestPNG: pixels show the items, and chunks have the generator of the file and 300 dots per inch.
func TestPNG(t *testing.T) {
	data, err := Encode(sample(), FormatPNG)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if s := img.Bounds().Size(); s.X != 417 || s.Y != 250 {
		t.Errorf("%v pixels", s)
	}
	for _, tt := range []struct {
		x, y float64
		want Color
	}{
		{50, 10, 0x0072b2}, {50, 12, White}, // within and beside the line
		{20, 47, 0xd55e00}, {12, 42, White}, // the triangle
		{15, 20, Black}, {25, 20, White}, {35, 20, Black}, // dashes
		{50, 40, 0x009e73}, {40.2, 30.2, White}, // the box, and its round corner
		{80, 40, 0xcc79a7}, {87.5, 32.5, White}, // the circle
	} {
		if got := at(img, tt.x, tt.y); got != tt.want {
			t.Errorf("at %v, %v: %v, want %v", tt.x, tt.y, got, tt.want)
		}
	}
	ink := 0
	for x := 20.0; x < 80; x += 0.3 {
		if at(img, x, 56) != White {
			ink++
		}
	}
	if ink < 20 {
		t.Errorf("the text leaves %d dark pixels", ink)
	}
	chunks := map[string][]string{}
	for rest := data[8:]; len(rest) >= 12; {
		n := binary.BigEndian.Uint32(rest)
		chunks[string(rest[4:8])] = append(chunks[string(rest[4:8])], string(rest[8:8+n]))
		rest = rest[12+n:]
	}
	all := strings.Join(chunks["tEXt"], "|")
	for _, want := range []string{"Title\x00a < b", "command\x00kernbench perf --set a='<b>'", "machine\x002 SIPs \xd7 16 cubes"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in %q", want, all)
		}
	}
	if phys := chunks["pHYs"]; len(phys) != 1 || binary.BigEndian.Uint32([]byte(phys[0])) != 11811 {
		t.Errorf("pHYs %q", phys)
	}
}

// TestPNGOtherScripts: texts that do not fit Latin-1 are in iTXt.
func TestPNGOtherScripts(t *testing.T) {
	p := sample()
	p.About = []Fact{{"command", "日本"}}
	data, err := Encode(p, FormatPNG)
	if err != nil || !bytes.Contains(data, []byte("iTXtcommand\x00\x00\x00\x00\x00日本")) {
		t.Errorf("no iTXt, %v", err)
	}
	if _, err := png.Decode(bytes.NewReader(data)); err != nil {
		t.Error(err)
	}
}

func TestPNGTooLarge(t *testing.T) {
	if _, err := Encode(&Picture{Width: 1e5, Height: 1e4}, FormatPNG); err == nil ||
		!strings.Contains(err.Error(), "too large: write .svg") {
		t.Errorf("%v", err)
	}
}

// TestTextWidth: no text of a PNG is wider than layouts take it to be.
func TestTextWidth(t *testing.T) {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		t.Fatal(err)
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: 1000, DPI: 72})
	if err != nil {
		t.Fatal(err)
	}
	for r := ' '; r <= '~'; r++ {
		if got, most := float64(font.MeasureString(face, string(r)))/64, TextWidth(string(r), 1000); got > most+1 {
			t.Errorf("%q is %v wide, and counts as %v", r, got, most)
		}
	}
	for _, r := range "µ×·…≈→" {
		if got, most := float64(font.MeasureString(face, string(r)))/64, TextWidth(string(r), 1000); got > most+1 {
			t.Errorf("%q is %v wide, and counts as %v", r, got, most)
		}
	}
}
