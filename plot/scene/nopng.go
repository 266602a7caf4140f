//go:build nopng

package scene

import "errors"

// pngMissing is the error for a PNG in this build.
var pngMissing = errors.New("kernbench was built with the tag nopng, without PNG: .svg or .html is expected")

// canvas would paint a PNG.
type canvas interface{}

func (Path) paint(canvas)   {}
func (Rect) paint(canvas)   {}
func (Circle) paint(canvas) {}
func (Text) paint(canvas)   {}

// fontFace returns no style: programs use fonts of their own.
func fontFace(*Picture) string { return "" }

func encodePNG(*Picture) ([]byte, error) { return nil, pngMissing }
