package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"slices"

	"kernbench/machine/draw"
)

// colours of kinds of links, in turn: dark enough for lines on white.
var colours = []string{"#1f5fa8", "#b3541e", "#2e7d32", "#8e24aa", "#00796b", "#c2185b", "#5d4037", "#546e7a"}

// TopologySVG draws a machine as a picture that needs nothing beside itself: a panel for each of its
// networks, the first of those that are alike, and below the kinds of links with their rates.
func TopologySVG(w io.Writer, d *draw.Drawing) error {
	panels := make([]*panel, 0, len(d.Stages))
	width, height := 640, 64
	for i := range d.Stages {
		p := layOut(&d.Stages[i])
		panels = append(panels, p)
		width, height = max(width, p.width+40), height+p.height+44
	}
	legend := height
	height += 40 + 20*(len(d.Kinds)+len(d.Memories)+1)
	s := &svg{}
	s.add(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`, width, height, width, height)
	s.add(`<title>%s</title>`, escaped(d.Name+": "+d.Machine))
	s.add(`<rect width="%d" height="%d" fill="#ffffff"/>`, width, height)
	s.text(20, 30, "start", 18, "#111111", fmt.Sprintf("%s: %s, %s", d.Name, d.Machine, plural(int64(d.PEs), "PE", "PEs")))
	y := 64
	for _, p := range panels {
		s.text(20, y, "start", 14, "#111111", titleOf(p.stage))
		s.add(`<g transform="translate(20,%d)">`, y+12)
		s.panel(p, d)
		s.add(`</g>`)
		y += p.height + 44
	}
	s.legend(d, legend)
	s.add(`</svg>`)
	_, err := w.Write(s.Bytes())
	return err
}

// svg is a picture being written.
type svg struct{ bytes.Buffer }

func (s *svg) add(format string, args ...any) { fmt.Fprintf(&s.Buffer, format+"\n", args...) }

// text writes a line; anchor is start, middle or end.
func (s *svg) text(x, y int, anchor string, size int, colour, text string) {
	s.add(`<text x="%d" y="%d" text-anchor="%s" font-size="%d" fill="%s">%s</text>`, x, y, anchor, size, colour, escaped(text))
}

func escaped(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a buffer takes all
	return b.String()
}

func colour(kind int) string { return colours[kind%len(colours)] }

// panel draws a network: links, then their rates, then nodes, which so lie on top.
func (s *svg) panel(p *panel, d *draw.Drawing) {
	stage := p.stage
	labelled := map[int]int{}
	const labels = 2 // of each kind, and of all where they are few
	type rate struct {
		x, y, kind int
	}
	var rates []rate
	for i := range stage.Joins {
		j := &stage.Joins[i]
		bow, ok := p.joint(j)
		if !ok {
			continue
		}
		a, b := p.at[j.From], p.at[j.To]
		x, y := (a.x+b.x)/2, (a.y+b.y)/2
		width := min(1+j.Links, 5)
		if bow {
			x, y = x+(a.y-b.y)/10+6, y-(b.x-a.x)/10-14
			s.add(`<path d="M%d %d Q%d %d %d %d" fill="none" stroke="%s" stroke-width="%d" stroke-dasharray="5 3"/>`,
				a.x, a.y, 2*x-(a.x+b.x)/2, 2*y-(a.y+b.y)/2, b.x, b.y, colour(j.Kind), width)
		} else {
			s.add(`<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="%s" stroke-width="%d"/>`, a.x, a.y, b.x, b.y, colour(j.Kind), width)
		}
		if labelled[j.Kind] < labels || len(stage.Joins) <= 8 {
			labelled[j.Kind]++
			rates = append(rates, rate{x, y, j.Kind})
		}
	}
	for _, r := range rates {
		s.add(`<text x="%d" y="%d" text-anchor="middle" font-size="10" fill="%s" stroke="#ffffff" stroke-width="3" paint-order="stroke">%s</text>`,
			r.x, r.y-3, colour(r.kind), escaped(ratesOf(&d.Kinds[r.kind])))
	}
	for i := range stage.Nodes {
		if p.at[i].shown {
			s.node(p, d, i)
		}
	}
	if p.left > 0 {
		s.text(0, p.height, "start", 12, "#555555", fmt.Sprintf("and %s more", count(int64(p.left))))
	}
}

// fills are the colours of nodes by their kind.
var fills = map[string]string{
	"SIP": "#e3edf8", "group": "#e3edf8", "cube": "#eaf4ea", "PE": "#fff3d6", "SRAM": "#f3e5f5",
	"router": "#777777", "switch": "#fde7dc", "gateway": "#fde7dc", "IO chiplet": "#fde7dc",
}

func (s *svg) node(p *panel, d *draw.Drawing, i int) {
	n, at := &p.stage.Nodes[i], p.at[i]
	if n.Kind == "router" {
		stroke := ""
		if n.Out > 0 { // a ring round those with links out of the cube
			stroke = ` stroke="` + colours[1] + `" stroke-width="3"`
		}
		s.add(`<circle cx="%d" cy="%d" r="6" fill="%s"%s/>`, at.x, at.y, fills[n.Kind], stroke)
		return
	}
	wide, high, letters := 58, 26, 11
	switch n.Kind {
	case "PE", "SRAM":
		wide, high, letters = 34, 15, 9
	case "cube":
		wide, high = 62, 34
	}
	round := 3
	if n.Kind == "switch" || n.Kind == "gateway" {
		round = 12
	}
	s.add(`<rect x="%d" y="%d" width="%d" height="%d" rx="%d" fill="%s" stroke="#444444"/>`, at.x-wide/2, at.y-high/2, wide, high, round, fills[n.Kind])
	text := label(n)
	if n.Kind != "cube" {
		s.text(at.x, at.y+4, "middle", letters, "#111111", text)
		return
	}
	s.text(at.x, at.y-3, "middle", letters, "#111111", text)
	s.pes(at.x, at.y+6, d)
}

// pes draws the PEs of a cube as little squares.
func (s *svg) pes(x, y int, d *draw.Drawing) {
	const most = 8
	cube := &d.Stages[len(d.Stages)-1]
	n := len(slices.DeleteFunc(slices.Clone(cube.Nodes), func(n draw.Node) bool { return n.Kind != "PE" }))
	for i := range min(n, most) {
		s.add(`<rect x="%d" y="%d" width="5" height="5" fill="#e0a030"/>`, x-min(n, most)*7/2+7*i+1, y)
	}
}

// legend lists the kinds of links with their rates, the memories and the bisection.
func (s *svg) legend(d *draw.Drawing, y int) {
	for i := range d.Kinds {
		k := &d.Kinds[i]
		text := fmt.Sprintf("%s: %s, %s GB/s", k.Stage, k.Name, ratesOf(k))
		if k.Line > 0 {
			text += fmt.Sprintf(" (%s of a line of %s)", shareOf(k.Share()), rateCell(k.Line))
		}
		s.add(`<line x1="20" y1="%d" x2="50" y2="%d" stroke="%s" stroke-width="3"/>`, y-4, y-4, colour(i))
		s.text(60, y, "start", 12, "#111111", fmt.Sprintf("%s, %v, %s", text, k.Delay, plural(int64(k.Links), "link", "links")))
		y += 20
	}
	y += 10
	for _, m := range d.Memories {
		s.text(20, y, "start", 12, "#111111", fmt.Sprintf("%s: %s × %s = %s, %s GB/s each",
			m.Name, count(int64(m.Count)), size(int64(m.Each)), size(int64(m.Each)*int64(m.Count)), rateCell(m.Rate)))
		y += 20
	}
	if b := d.Bisection; b != nil {
		s.text(20, y, "start", 12, "#111111", fmt.Sprintf("bisection: %v each way, by %s", b.Rate, plural(int64(len(b.Links)), "link", "links")))
	}
}
