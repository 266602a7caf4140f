// Package scene holds a picture as plain shapes and texts, and writes it as SVG, PNG or HTML.
// All three come from the same shapes. A picture carries its title and what made it: version,
// command, machine. Lengths are points (1/72 inch), and y grows downwards.
//
// It may import the standard library, and golang.org/x/image for PNG. Start at Picture and Encode.
package scene

import "math"

// Point is a place in a picture.
type Point struct{ X, Y float64 }

// Box is a rectangle.
type Box struct{ MinX, MinY, MaxX, MaxY float64 }

// Overlaps reports whether two boxes share an area.
func (b Box) Overlaps(c Box) bool {
	return b.MinX < c.MaxX && c.MinX < b.MaxX && b.MinY < c.MaxY && c.MinY < b.MaxY
}

// Within reports whether a box lies in another, but for a rounding error.
func (b Box) Within(c Box) bool {
	const eps = 1e-6
	return b.MinX >= c.MinX-eps && b.MinY >= c.MinY-eps && b.MaxX <= c.MaxX+eps && b.MaxY <= c.MaxY+eps
}

// Color is a colour, as 0xRRGGBB.
type Color uint32

// The colours of texts, frames and grids, on white.
const (
	Black Color = 0x000000
	Ink   Color = 0x222222
	Grey  Color = 0x6a6a6a
	Light Color = 0xdcdcdc
	White Color = 0xffffff
)

// Picture is a drawing: a list of items, the first at the bottom.
type Picture struct {
	Width, Height float64
	Title         string
	About         []Fact // version, command, machine
	Items         []Item
}

// Fact is a line about the origin of a picture, such as its command.
type Fact struct{ Name, Value string }

// Item is a part of a picture.
type Item interface {
	// Bounds returns the box that an item fills. The box of a text has the width of the widest of
	// the usual fonts.
	Bounds() Box
	svg(*svgWriter)
	paint(canvas)
}

// Stroke is the style of a line. Its zero value draws none.
type Stroke struct {
	Color Color
	Width float64
	Dash  []float64 // lengths of strokes and gaps in turn; nil: none
}

// Path is a line through points, or an area.
type Path struct {
	Points []Point
	Closed bool
	Stroke Stroke
	Fill   *Color // nil: none
	Tip    string // shown where the mouse rests on it, in SVG and HTML
}

// Rect is an upright rectangle.
type Rect struct {
	Box
	Stroke Stroke
	Fill   *Color
	Round  float64 // radius of its corners
	Tip    string
}

// Circle is a circle.
type Circle struct {
	Center Point
	Radius float64
	Stroke Stroke
	Fill   *Color
	Tip    string
}

// Text is one line of text.
type Text struct {
	At     Point // its base line
	Anchor Anchor
	Size   float64
	Color  Color
	Text   string
}

// Anchor is the part of a text that is at its place.
type Anchor int

// The anchors of a text.
const (
	Start Anchor = iota
	Middle
	End
)

// Filled returns a colour as a fill.
func Filled(c Color) *Color { return &c }

// Add puts items on top of a picture.
func (p *Picture) Add(items ...Item) { p.Items = append(p.Items, items...) }

// Move shifts all items from one on.
func (p *Picture) Move(from int, dx, dy float64) {
	for i, item := range p.Items[from:] {
		switch it := item.(type) {
		case Path:
			it.Points = append([]Point(nil), it.Points...)
			for k := range it.Points {
				it.Points[k].X += dx
				it.Points[k].Y += dy
			}
			p.Items[from+i] = it
		case Rect:
			it.Box = Box{it.MinX + dx, it.MinY + dy, it.MaxX + dx, it.MaxY + dy}
			p.Items[from+i] = it
		case Circle:
			it.Center = Point{it.Center.X + dx, it.Center.Y + dy}
			p.Items[from+i] = it
		case Text:
			it.At = Point{it.At.X + dx, it.At.Y + dy}
			p.Items[from+i] = it
		}
	}
}

// View returns the whole picture as a box.
func (p *Picture) View() Box { return Box{0, 0, p.Width, p.Height} }

// Bounds returns the box of a path.
func (p Path) Bounds() Box {
	b := Box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for _, q := range p.Points {
		b = Box{min(b.MinX, q.X), min(b.MinY, q.Y), max(b.MaxX, q.X), max(b.MaxY, q.Y)}
	}
	return b
}

// Bounds returns the rectangle.
func (r Rect) Bounds() Box { return r.Box }

// Bounds returns the box of a circle.
func (c Circle) Bounds() Box {
	return Box{c.Center.X - c.Radius, c.Center.Y - c.Radius, c.Center.X + c.Radius, c.Center.Y + c.Radius}
}

// Bounds returns the box of a text.
func (t Text) Bounds() Box {
	w := TextWidth(t.Text, t.Size)
	x := t.At.X
	switch t.Anchor {
	case Middle:
		x -= w / 2
	case End:
		x -= w
	}
	return Box{x, t.At.Y - 0.75*t.Size, x + w, t.At.Y + 0.22*t.Size}
}
