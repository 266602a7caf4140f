package scene

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Format is the file format of a picture.
type Format string

// The formats of pictures.
const (
	FormatSVG  Format = "svg"
	FormatPNG  Format = "png"
	FormatHTML Format = "html"
)

// FormatOf returns the format of a file name.
func FormatOf(name string) (Format, error) {
	ext := filepath.Ext(name)
	switch f := Format(strings.ToLower(strings.TrimPrefix(ext, "."))); f {
	case FormatPNG:
		return f, pngMissing
	case FormatSVG, FormatHTML:
		return f, nil
	}
	if ext == "" {
		return "", fmt.Errorf("%s: want a name that ends in .svg, .png or .html", name)
	}
	return "", fmt.Errorf("%s: %s is not a picture format: want .svg, .png or .html", name, ext)
}

// Encode returns a picture in a format.
func Encode(p *Picture, f Format) ([]byte, error) {
	switch f {
	case FormatSVG:
		return SVG(p), nil
	case FormatHTML:
		return HTML(p), nil
	case FormatPNG:
		return encodePNG(p)
	}
	return nil, fmt.Errorf("format %q: want svg, png or html", f)
}
