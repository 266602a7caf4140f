//go:build !nopng

package scene_test

import (
	"os"
	"path/filepath"
	"testing"

	"kernbench/internal/browsertest"
	"kernbench/plot/scene"

	"github.com/chromedp/chromedp"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// TestFontInBrowser: a browser takes the font that is in a picture, and draws texts as wide as in
// PNG.
func TestFontInBrowser(t *testing.T) {
	p := browsertest.Open(t, "file://")
	const text = "mmmm iiii µ × 12.5 GB/s"
	whole, err := opentype.Parse(goregular.TTF)
	if err != nil {
		t.Fatal(err)
	}
	face, err := opentype.NewFace(whole, &opentype.FaceOptions{Size: 7000, DPI: 72})
	if err != nil {
		t.Fatal(err)
	}
	want := float64(font.MeasureString(face, text)) / 64 / 1000
	picture := &scene.Picture{Width: 200, Height: 40, Title: "font", Items: []scene.Item{
		scene.Text{At: scene.Point{X: 5, Y: 20}, Size: 7, Text: text}}}
	for _, format := range []scene.Format{scene.FormatSVG, scene.FormatHTML} {
		data, err := scene.Encode(picture, format)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "font."+string(format))
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		p.Do(chromedp.Navigate("file://" + file))
		p.Until("document.fonts.size === 1 && [...document.fonts][0].status === 'loaded'")
		got := browsertest.Value[float64](p, "document.querySelector('text').getComputedTextLength()")
		if got < 0.99*want || got > 1.01*want {
			t.Errorf("%s: the text is %.2f wide, not %.2f", format, got, want)
		}
	}
}
