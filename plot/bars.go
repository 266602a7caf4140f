package plot

import (
	"slices"

	"kernbench/plot/scene"
)

// Bar is a value with its name.
type Bar struct {
	Name  string
	Value float64 // 0: none, and Label has the reason
	Label string  // of the value; "": as the axis labels it
	Role  Role
	Limit float64 // limit of the value, drawn as a black mark; 0: none
}

// Bars is a figure of values one below the other, from 0 on.
type Bars struct {
	Title string
	Notes []string
	Group []BarGroup
	About []scene.Fact
}

// BarGroup is bars of one quantity.
type BarGroup struct {
	Title string
	Label func(float64) string
	Bars  []Bar
}

// Picture draws the bars.
func (b *Bars) Picture() *scene.Picture {
	p := &scene.Picture{Width: Column, Title: b.Title, About: b.About}
	y := heading(p, b.Title, b.Notes)
	for i := range b.Group {
		y = b.Group[i].draw(p, y) + 3
	}
	p.Height = y + edge
	return p
}

// draw draws a group: each bar below its name and value.
func (g *BarGroup) draw(p *scene.Picture, y float64) float64 {
	const thick = 5.0
	y = text(p, edge, y+labelSize+1, labelSize, scene.Ink, scene.Shorten(g.Title, labelSize, p.Width-2*edge)) + 2
	most := 0.0
	for _, bar := range g.Bars {
		most = max(most, bar.Value, bar.Limit)
	}
	for _, bar := range g.Bars {
		label := bar.Label
		if label == "" {
			label = g.Label(bar.Value)
		}
		label = scene.Shorten(label, noteSize, (p.Width-2*edge)/2)
		width := p.Width - 2*edge - scene.TextWidth(label, noteSize) - 6
		text(p, edge, y+noteSize, noteSize, scene.Ink, scene.Shorten(bar.Name, noteSize, width))
		p.Add(scene.Text{At: scene.Point{X: p.Width - edge, Y: y + noteSize}, Anchor: scene.End, Size: noteSize,
			Color: scene.Ink, Text: label})
		y += noteSize + 2
		fill := palette[0]
		if bar.Role == Bound {
			fill = scene.Grey
		}
		if most > 0 && bar.Value > 0 {
			wide := (p.Width - 2*edge) * bar.Value / most
			p.Add(scene.Rect{Box: scene.Box{MinX: edge, MinY: y, MaxX: edge + wide, MaxY: y + thick}, Fill: &fill,
				Tip: bar.Name + ": " + label})
		}
		if bar.Limit > 0 {
			x := edge + (p.Width-2*edge)*bar.Limit/most
			p.Add(scene.Path{Points: []scene.Point{{X: x, Y: y - 0.5}, {X: x, Y: y + thick + 0.5}},
				Stroke: scene.Stroke{Color: scene.Black, Width: 1.2}, Tip: "limit of " + bar.Name})
		}
		y += thick + 3
	}
	return y
}

// bars returns a figure with a single value of x as bars, or nil if there are several.
func (f *Figure) bars() *Bars {
	b := &Bars{Title: f.Title, Notes: f.Notes, About: f.About}
	x, seen := 0.0, false
	for i := range f.Panel {
		panel := &f.Panel[i]
		g := BarGroup{Title: panel.Title, Label: panel.Y.label}
		for _, c := range panel.Curves {
			for _, p := range c.Points {
				if seen && p.X != x {
					return nil
				}
				x, seen = p.X, true
				g.Bars = append(g.Bars, Bar{Name: c.Name, Value: p.Y, Role: c.Role})
			}
		}
		b.Group = append(b.Group, g)
	}
	if !seen {
		return nil
	}
	b.Notes = append(slices.Clip(b.Notes), f.X.Name+": "+f.X.label(x))
	return b
}
