package scene

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// fonts are asked for in this order. The first is in the file, for programs that read such fonts.
// All programs have one of the others.
const fonts = "Go, Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"

type svgWriter struct{ bytes.Buffer }

// SVG returns a picture as an SVG file. Its size is in millimetres, for papers.
func SVG(p *Picture) []byte {
	var w svgWriter
	mm := func(points float64) string { return number(points * 25.4 / 72) }
	fmt.Fprintf(&w,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%smm" height="%smm" viewBox="0 0 %s %s" role="img" font-family="%s">`+"\n",
		mm(p.Width), mm(p.Height), number(p.Width), number(p.Height), fonts)
	w.inside(p)
	w.WriteString("</svg>\n")
	return w.Bytes()
}

// inside writes the content of the svg element.
func (w *svgWriter) inside(p *Picture) {
	fmt.Fprintf(w, "<title>%s</title>\n", escape(p.Title))
	if len(p.About) > 0 {
		fmt.Fprintf(w, "<desc>%s</desc>\n", escape(about(p)))
		w.WriteString(`<metadata><k:made-by xmlns:k="urn:kernbench">`)
		for _, f := range p.About {
			fmt.Fprintf(w, `<k:fact name="%s">%s</k:fact>`, escape(f.Name), escape(f.Value))
		}
		w.WriteString("</k:made-by></metadata>\n")
	}
	if face := fontFace(p); face != "" {
		fmt.Fprintf(w, "<style>%s</style>\n", face)
	}
	fmt.Fprintf(w, `<rect width="%s" height="%s" fill="#ffffff"/>`+"\n", number(p.Width), number(p.Height))
	for _, item := range p.Items {
		item.svg(w)
	}
}

// about returns the facts of a picture in one line.
func about(p *Picture) string {
	var parts []string
	for _, f := range p.About {
		parts = append(parts, f.Name+": "+f.Value)
	}
	return strings.Join(parts, "; ")
}

func (p Path) svg(w *svgWriter) {
	if len(p.Points) == 0 {
		return
	}
	w.WriteString(`<path d="`)
	for i, q := range p.Points {
		w.WriteByte("ML"[min(i, 1)])
		w.WriteString(number(q.X) + " " + number(q.Y))
	}
	if p.Closed {
		w.WriteByte('Z')
	}
	w.WriteByte('"')
	w.style(p.Stroke, p.Fill)
	w.end("path", p.Tip)
}

func (r Rect) svg(w *svgWriter) {
	fmt.Fprintf(w, `<rect x="%s" y="%s" width="%s" height="%s"`, number(r.MinX), number(r.MinY),
		number(r.MaxX-r.MinX), number(r.MaxY-r.MinY))
	if r.Round > 0 {
		fmt.Fprintf(w, ` rx="%s"`, number(r.Round))
	}
	w.style(r.Stroke, r.Fill)
	w.end("rect", r.Tip)
}

func (c Circle) svg(w *svgWriter) {
	fmt.Fprintf(w, `<circle cx="%s" cy="%s" r="%s"`, number(c.Center.X), number(c.Center.Y), number(c.Radius))
	w.style(c.Stroke, c.Fill)
	w.end("circle", c.Tip)
}

func (t Text) svg(w *svgWriter) {
	fmt.Fprintf(w, `<text x="%s" y="%s" font-size="%s" fill="%s"`, number(t.At.X), number(t.At.Y), number(t.Size), t.Color)
	if t.Anchor != Start {
		fmt.Fprintf(w, ` text-anchor="%s"`, [...]string{Middle: "middle", End: "end"}[t.Anchor])
	}
	fmt.Fprintf(w, ">%s</text>\n", escape(t.Text))
}

func (w *svgWriter) style(s Stroke, fill *Color) {
	if fill != nil {
		fmt.Fprintf(w, ` fill="%s"`, *fill)
	} else {
		w.WriteString(` fill="none"`)
	}
	if s.Width <= 0 {
		return
	}
	fmt.Fprintf(w, ` stroke="%s" stroke-width="%s"`, s.Color, number(s.Width))
	if len(s.Dash) > 0 {
		var all []string
		for _, d := range s.Dash {
			all = append(all, number(d))
		}
		fmt.Fprintf(w, ` stroke-dasharray="%s"`, strings.Join(all, " "))
	}
}

// end closes the tag of a shape and adds its tip.
func (w *svgWriter) end(tag, tip string) {
	if tip == "" {
		w.WriteString("/>\n")
		return
	}
	fmt.Fprintf(w, "><title>%s</title></%s>\n", escape(tip), tag)
}

// String returns a colour as CSS has it.
func (c Color) String() string { return fmt.Sprintf("#%06x", uint32(c)) }

// number prints a length with two decimals at most.
func number(v float64) string {
	v = math.Round(v*100) / 100
	if v == 0 {
		return "0" // not -0
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

// escape makes text safe in XML and HTML, and replaces what XML cannot hold.
func escape(s string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < ' ' || r == 0xfffe || r == 0xffff:
			return '�'
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
	return escaper.Replace(clean)
}
