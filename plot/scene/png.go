//go:build !nopng

package scene

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// pngMissing is nil: this build writes PNG.
var pngMissing error

// dpi is the resolution of a PNG, in pixels per inch, as journals ask for.
const dpi = 300

// canvas paints on pixels.
type canvas = *pixels

type pixels struct {
	image *image.RGBA
	font  *opentype.Font
	faces map[float64]font.Face
	scale float64
	err   error
}

// mostPixels bounds the memory of a PNG: 4 bytes each.
const mostPixels = 200e6

func encodePNG(p *Picture) ([]byte, error) {
	scale := dpi / 72.0
	w, h := int(math.Ceil(p.Width*scale-1e-6)), int(math.Ceil(p.Height*scale-1e-6))
	if float64(w)*float64(h) > mostPixels {
		return nil, fmt.Errorf("a PNG of %d × %d pixels is too large: write .svg", w, h)
	}
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	c := &pixels{image: image.NewRGBA(image.Rect(0, 0, w, h)), font: parsed, faces: map[float64]font.Face{}, scale: scale}
	draw.Draw(c.image, c.image.Bounds(), image.White, image.Point{}, draw.Src)
	for _, item := range p.Items {
		item.paint(c)
	}
	if c.err != nil {
		return nil, c.err
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, c.image); err != nil {
		return nil, err
	}
	return withChunks(b.Bytes(), p)
}

// withChunks adds the resolution and the generator of a picture after the header of a PNG.
func withChunks(data []byte, p *Picture) ([]byte, error) {
	const header = 8 + 4 + 4 + 13 + 4 // the signature, and IHDR with its length, name and checksum
	if len(data) < header {
		return nil, errors.New("the PNG has no header")
	}
	var b bytes.Buffer
	b.Write(data[:header])
	perMetre := uint32(math.Round(dpi / 0.0254))
	phys := binary.BigEndian.AppendUint32(nil, perMetre)
	phys = append(binary.BigEndian.AppendUint32(phys, perMetre), 1)
	chunk(&b, "pHYs", phys)
	textChunk(&b, "Title", p.Title)
	for _, f := range p.About {
		textChunk(&b, f.Name, f.Value)
	}
	b.Write(data[header:])
	return b.Bytes(), nil
}

// textChunk writes a text as tEXt, which is Latin-1, or as iTXt, if it has other characters.
func textChunk(b *bytes.Buffer, key, text string) {
	latin := make([]byte, 0, len(text))
	for _, r := range text {
		if r == 0 || r > 0xff {
			chunk(b, "iTXt", append([]byte(key), append([]byte{0, 0, 0, 0, 0}, text...)...))
			return
		}
		latin = append(latin, byte(r))
	}
	chunk(b, "tEXt", append(append([]byte(key), 0), latin...))
}

func chunk(b *bytes.Buffer, kind string, data []byte) {
	binary.Write(b, binary.BigEndian, uint32(len(data)))
	named := append([]byte(kind), data...)
	b.Write(named)
	binary.Write(b, binary.BigEndian, crc32.ChecksumIEEE(named))
}

func (p Path) paint(c canvas) {
	if p.Fill != nil {
		c.polygons(*p.Fill, [][]Point{p.Points})
	}
	points := p.Points
	if p.Closed && len(points) > 0 {
		points = append(append([]Point(nil), points...), points[0])
	}
	c.stroke(points, p.Stroke)
}

func (r Rect) paint(c canvas) {
	corners := []Point{{r.MinX, r.MinY}, {r.MaxX, r.MinY}, {r.MaxX, r.MaxY}, {r.MinX, r.MaxY}}
	if r.Round > 0 {
		corners = rounded(r.Box, r.Round)
	}
	Path{Points: corners, Closed: true, Stroke: r.Stroke, Fill: r.Fill}.paint(c)
}

func (o Circle) paint(c canvas) {
	Path{Points: arc(o.Center, o.Radius, 0, 2*math.Pi, 48), Closed: true, Stroke: o.Stroke, Fill: o.Fill}.paint(c)
}

// rounded returns a rectangle with round corners.
func rounded(b Box, r float64) []Point {
	r = min(r, (b.MaxX-b.MinX)/2, (b.MaxY-b.MinY)/2)
	var all []Point
	for i, at := range []Point{{b.MaxX - r, b.MinY + r}, {b.MaxX - r, b.MaxY - r}, {b.MinX + r, b.MaxY - r}, {b.MinX + r, b.MinY + r}} {
		from := (float64(i) - 1) * math.Pi / 2
		all = append(all, arc(at, r, from, from+math.Pi/2, 9)...)
	}
	return all
}

// arc returns points of a circle between two angles.
func arc(center Point, radius, from, to float64, n int) []Point {
	all := make([]Point, n)
	for i := range all {
		a := from + (to-from)*float64(i)/float64(n-1)
		all[i] = Point{center.X + radius*math.Cos(a), center.Y + radius*math.Sin(a)}
	}
	return all
}

func (t Text) paint(c canvas) {
	face, ok := c.faces[t.Size]
	if !ok {
		var err error
		face, err = opentype.NewFace(c.font, &opentype.FaceOptions{Size: t.Size, DPI: dpi, Hinting: font.HintingNone})
		if err != nil {
			c.err = err
			return
		}
		c.faces[t.Size] = face
	}
	x := fixed.Int26_6(t.At.X * c.scale * 64)
	width := font.MeasureString(face, t.Text)
	switch t.Anchor {
	case Middle:
		x -= width / 2
	case End:
		x -= width
	}
	d := font.Drawer{Dst: c.image, Src: image.NewUniform(t.Color.rgba()), Face: face,
		Dot: fixed.Point26_6{X: x, Y: fixed.Int26_6(t.At.Y * c.scale * 64)}}
	d.DrawString(t.Text)
}

func (c Color) rgba() color.RGBA {
	return color.RGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 0xff}
}

// stroke paints a line as rectangles along its pieces, with discs at its bends.
func (c *pixels) stroke(points []Point, s Stroke) {
	if s.Width <= 0 {
		return
	}
	r := s.Width / 2
	var all [][]Point
	for _, piece := range dashes(points, s.Dash) {
		for i := 1; i < len(piece); i++ {
			a, b := piece[i-1], piece[i]
			long := math.Hypot(b.X-a.X, b.Y-a.Y)
			if long == 0 {
				continue
			}
			nx, ny := r*(b.Y-a.Y)/long, r*(a.X-b.X)/long
			all = append(all, []Point{{a.X + nx, a.Y + ny}, {b.X + nx, b.Y + ny}, {b.X - nx, b.Y - ny}, {a.X - nx, a.Y - ny}})
			if i > 1 || len(s.Dash) == 0 {
				all = append(all, arc(a, r, 0, 2*math.Pi, 13), arc(b, r, 0, 2*math.Pi, 13))
			}
		}
	}
	c.polygons(s.Color, all)
}

// dashes cuts a line into the strokes of a pattern.
func dashes(points []Point, pattern []float64) [][]Point {
	sum := 0.0
	for _, d := range pattern {
		sum += d
	}
	if sum <= 0 || len(points) == 0 {
		return [][]Point{points}
	}
	var all [][]Point
	at, left, on := 0, pattern[0], true
	piece := []Point{points[0]}
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		long := math.Hypot(b.X-a.X, b.Y-a.Y)
		done := 0.0
		for long-done > left {
			done += left
			q := Point{a.X + (b.X-a.X)*done/long, a.Y + (b.Y-a.Y)*done/long}
			if on {
				all = append(all, append(piece, q))
			}
			on, at = !on, (at+1)%len(pattern)
			piece, left = []Point{q}, pattern[at]
		}
		left -= long - done
		piece = append(piece, b)
	}
	if on {
		all = append(all, piece)
	}
	return all
}

// polygons fills areas, as one where they overlap.
func (c *pixels) polygons(fill Color, all [][]Point) {
	box := Box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for _, polygon := range all {
		b := Path{Points: polygon}.Bounds()
		box = Box{min(box.MinX, b.MinX), min(box.MinY, b.MinY), max(box.MaxX, b.MaxX), max(box.MaxY, b.MaxY)}
	}
	if !(box.MinX <= box.MaxX) {
		return
	}
	at := image.Rect(int(math.Floor(box.MinX*c.scale)), int(math.Floor(box.MinY*c.scale)),
		int(math.Ceil(box.MaxX*c.scale))+1, int(math.Ceil(box.MaxY*c.scale))+1).Intersect(c.image.Bounds())
	if at.Empty() {
		return
	}
	z := vector.NewRasterizer(at.Dx(), at.Dy())
	for _, polygon := range all {
		if area(polygon) < 0 { // all areas have the same orientation: others would cancel out
			polygon = append([]Point(nil), polygon...)
			for i, k := 0, len(polygon)-1; i < k; i, k = i+1, k-1 {
				polygon[i], polygon[k] = polygon[k], polygon[i]
			}
		}
		for i, q := range polygon {
			x, y := float32(q.X*c.scale-float64(at.Min.X)), float32(q.Y*c.scale-float64(at.Min.Y))
			if i == 0 {
				z.MoveTo(x, y)
			} else {
				z.LineTo(x, y)
			}
		}
		z.ClosePath()
	}
	z.Draw(c.image, at, image.NewUniform(fill.rgba()), image.Point{})
}

// area returns twice the area within a line. The sign is the direction in which the line turns.
func area(points []Point) float64 {
	sum := 0.0
	for i, a := range points {
		b := points[(i+1)%len(points)]
		sum += a.X*b.Y - b.X*a.Y
	}
	return sum
}
