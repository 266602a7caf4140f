//go:build !nopng

package scene

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// TestFontFace: the font in a picture has the characters of the picture, with the outlines and the
// widths of Go Regular. This includes characters that consist of parts. It has no others.
func TestFontFace(t *testing.T) {
	const text = "all_reduce ×µ≈ 12.5 GB/s <-> é…ñ −·"
	p := &Picture{Width: 100, Height: 20, Items: []Item{Text{Size: 7, Text: text}, Text{Size: 6, Text: "all"}}}
	_, data, _ := strings.Cut(fontFace(p), "base64,")
	data, _, _ = strings.Cut(data, ")")
	file, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	if len(file) > 20_000 {
		t.Errorf("%d bytes", len(file))
	}
	part, err := sfnt.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := sfnt.Parse(goregular.TTF)
	if err != nil {
		t.Fatal(err)
	}
	const size = fixed.Int26_6(2048 << 6) // units of the font
	for _, r := range text {
		a, err := part.GlyphIndex(nil, r)
		if err != nil || a == 0 {
			t.Errorf("%q: glyph %d, %v", r, a, err)
			continue
		}
		b, err := whole.GlyphIndex(nil, r)
		if err != nil || b == 0 {
			t.Fatalf("%q: glyph %d of the original, %v", r, b, err)
		}
		x, err := part.LoadGlyph(&sfnt.Buffer{}, a, size, nil)
		if err != nil {
			t.Fatalf("%q: %v", r, err)
		}
		y, err := whole.LoadGlyph(&sfnt.Buffer{}, b, size, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(y, x); diff != "" || len(y) == 0 && r != ' ' {
			t.Errorf("%q has another outline: %s", r, diff)
		}
		if v, err := part.GlyphAdvance(nil, a, size, font.HintingNone); err != nil {
			t.Error(err)
		} else if w, err := whole.GlyphAdvance(nil, b, size, font.HintingNone); err != nil || v != w {
			t.Errorf("%q is %v wide, not %v (%v)", r, v, w, err)
		}
	}
	if i, err := part.GlyphIndex(nil, 'Z'); err != nil || i != 0 {
		t.Errorf("Z is glyph %d, %v", i, err)
	}
	if name, err := part.Name(nil, sfnt.NameIDCopyright); err != nil || !strings.Contains(name, "Bigelow & Holmes") {
		t.Errorf("the copyright is %q, %v", name, err)
	}
	if face := fontFace(&Picture{}); face != "" {
		t.Errorf("a picture without text has the font %q", face)
	}
}
