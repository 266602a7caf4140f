package plot

import (
	"math"

	"kernbench/plot/scene"
)

// palette are the colours of Okabe and Ito that show on white. Black is for bounds.
var palette = []scene.Color{0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9}

var dashes = [][]float64{nil, {5, 2}, {1.5, 1.5}, {6, 1.5, 1.5, 1.5}, {3, 1.5}}

// markers are the outlines of points, within a circle of radius 1.
var markers = []func() []scene.Point{
	nil, // a circle
	polygon(4, 45), polygon(3, -90), polygon(4, 0), polygon(3, 90), polygon(5, -90),
}

func polygon(corners int, degrees float64) func() []scene.Point {
	return func() []scene.Point {
		all := make([]scene.Point, corners)
		for i := range all {
			a := (degrees + 360*float64(i)/float64(corners)) * math.Pi / 180
			all[i] = scene.Point{X: math.Cos(a), Y: math.Sin(a)}
		}
		return all
	}
}

// style is the style of a curve.
type style struct {
	role   Role
	color  scene.Color
	dash   []float64
	marker int
	faint  bool // one of many
}

// faint is the style of curves that are too many for colours of their own.
var faint = style{color: 0xbbbbbb, faint: true}

// styleOf returns the style of the i-th curve of its role.
func styleOf(role Role, i int) style {
	switch role {
	case Bound:
		return style{role: role, color: scene.Black, dash: [][]float64{{4, 1.5, 1, 1.5}, {1, 1.5}}[i%2]}
	default:
		return style{role: role, color: palette[i%len(palette)], dash: dashes[i%len(dashes)], marker: i % len(markers)}
	}
}

func (s style) stroke() scene.Stroke {
	if s.faint {
		return scene.Stroke{Color: s.color, Width: 0.5}
	}
	return scene.Stroke{Color: s.color, Width: 1, Dash: s.dash}
}

// point draws a marker. Measured values are hollow.
func (s style) point(at scene.Point, tip string) scene.Item {
	const radius = 1.7
	stroke, fill := scene.Stroke{Color: scene.White, Width: 0.3}, s.color
	if s.role == Reference {
		stroke, fill = scene.Stroke{Color: s.color, Width: 0.8}, scene.White
	}
	if markers[s.marker] == nil {
		return scene.Circle{Center: at, Radius: radius, Stroke: stroke, Fill: &fill, Tip: tip}
	}
	outline := markers[s.marker]()
	for i := range outline {
		outline[i] = scene.Point{X: at.X + 1.25*radius*outline[i].X, Y: at.Y + 1.25*radius*outline[i].Y}
	}
	return scene.Path{Points: outline, Closed: true, Stroke: stroke, Fill: &fill, Tip: tip}
}
