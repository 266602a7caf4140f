//go:build nopng

package scene

import "errors"

// pngMissing is the error for a PNG in this build.
var pngMissing = errors.New("kernbench was built with the tag nopng, without PNG: want .svg or .html")

// canvas replaces the painter of PNG, which this build does not have.
type canvas interface{}

func (Path) paint(canvas)   {}
func (Rect) paint(canvas)   {}
func (Circle) paint(canvas) {}
func (Text) paint(canvas)   {}

// fontFace returns no style: without PNG an SVG embeds no font, and the viewer chooses one.
func fontFace(*Picture) string { return "" }

func encodePNG(*Picture) ([]byte, error) { return nil, pngMissing }
