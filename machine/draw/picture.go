package draw

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kernbench/plot/scene"
)

// The measures of a picture, in points.
const (
	titleSize = 9.0
	textSize  = 7.0
	smallSize = 6.0
	pad       = 6.0
	gap       = 16.0 // between members, for their links
	boxWide   = 36.0 // a member that is not drawn in detail
	boxHigh   = 22.0
	leastWide = 240.0 // of a picture

	switchText = 200.0 // what switches do, in a line of the head of a network
)

// The fills of boxes, from outside in, and of their parts.
const (
	lineInk     scene.Color = 0x444444
	groupFill   scene.Color = 0xf7f7f7
	memberFill  scene.Color = 0xe3edf6
	switchFill  scene.Color = 0xf6e3d3
	activeFill  scene.Color = 0xf2b98f // a switch that copies or reduces
	routerFill  scene.Color = 0xbdbdbd
	peFill      scene.Color = 0xd3ecdf
	memoryFill  scene.Color = 0xf6efc8
	chipletFill scene.Color = 0xe8d9ea
)

// linkColors are the colours of links, one for each network.
var linkColors = []scene.Color{0x0072b2, 0xd55e00, 0x009e73, 0xa0457f, 0x7a5c00}

// A block is a part of a picture with its size, which is drawn at a place.
type block struct {
	w, h float64
	draw func(p *scene.Picture, x, y float64)
}

// Picture draws the machine as one nested picture. It has the outermost network, in its first
// member the network within it, and so on to a PE. The other members are boxes. If there are many,
// only the first are shown.
func (d *Drawing) Picture(about []scene.Fact) *scene.Picture {
	inner, last := d.innermost()
	for i := last - 1; i >= 0; i-- {
		if s := &d.Stages[i]; members(s) > 1 {
			inner = d.network(i, s, inner)
		}
	}
	p := &scene.Picture{Title: d.Name + ": " + d.Machine, About: about}
	p.Width = max(inner.w+2*pad, leastWide)
	y := pad
	for _, line := range scene.Wrap(fmt.Sprintf("%s: %s, %s", d.Name, d.Machine, counted(d.PEs, "PE")), titleSize, p.Width-2*pad) {
		y += titleSize
		text(p, pad, y, titleSize, line)
		y += 2
	}
	y += 4
	inner.draw(p, (p.Width-inner.w)/2, y)
	y = d.key(p, y+inner.h+6)
	p.Height = y + pad
	return p
}

// members counts those of a stage.
func members(s *Stage) int {
	n := 0
	for i := range s.Nodes {
		if s.Nodes[i].Member {
			n++
		}
	}
	return n
}

// innermost draws the inside of the last network with several members. That is a cube with its
// routers. A cube with one PE is drawn as a device without routers, which lead nowhere else. It
// returns the stage that it stands for.
func (d *Drawing) innermost() (block, int) {
	last := len(d.Stages) - 1
	cube := &d.Stages[last]
	if d.meshed() {
		return d.routers(last, cube), last
	}
	return d.device(last), last
}

// meshed reports whether a cube is drawn with its routers: it has several PEs.
func (d *Drawing) meshed() bool {
	pes := 0
	for _, n := range d.Stages[len(d.Stages)-1].Nodes {
		if n.Kind == "PE" {
			pes++
		}
	}
	return pes > 1
}

// device draws a PE with its memories.
func (d *Drawing) device(last int) block {
	name := d.outer(last)
	if name == "" {
		name = d.Stages[last-1].Nodes[0].Name
	}
	title := name + ": one PE"
	lines := []string{"PE"}
	for _, m := range d.Memories {
		lines = append(lines, fmt.Sprintf("%s %v, %v", m.Name, m.Each, m.Rate))
	}
	wide := scene.TextWidth(title, textSize)
	for _, l := range lines {
		wide = max(wide, scene.TextWidth(l, smallSize)+8)
	}
	const line = 11.0
	b := block{w: wide + 2*pad, h: pad + textSize + 4 + line*float64(len(lines)) + pad}
	b.draw = func(p *scene.Picture, x, y float64) {
		frame(p, x, y, b.w, b.h, memberFill, "")
		text(p, x+pad, y+pad+textSize-1, textSize, title)
		for i, l := range lines {
			fill := memoryFill
			if i == 0 {
				fill = peFill
			}
			at := y + pad + textSize + 4 + line*float64(i)
			label(p, scene.Box{MinX: x + pad, MinY: at, MaxX: x + b.w - pad, MaxY: at + line - 2}, fill, l)
		}
	}
	return b
}

// head is the text above a network: its title, a line for each kind of its links, and what its
// switches do.
type head struct {
	title    string
	links    []string
	switches []string
	color    scene.Color
}

func (h *head) size() (wide, high float64) {
	wide = scene.TextWidth(h.title, textSize)
	for _, l := range h.links {
		wide = max(wide, 18+scene.TextWidth(l, smallSize))
	}
	for _, l := range h.switches {
		wide = max(wide, 18+scene.TextWidth(l, smallSize))
	}
	return wide, textSize + 3 + float64(len(h.links)+len(h.switches))*(smallSize+2.5)
}

func (h *head) draw(p *scene.Picture, x, y float64) {
	y += textSize
	text(p, x, y, textSize, h.title)
	for _, l := range h.links {
		y += smallSize + 2.5
		p.Add(scene.Path{Points: []scene.Point{{X: x, Y: y - 2}, {X: x + 14, Y: y - 2}}, Stroke: scene.Stroke{Color: h.color, Width: 1}})
		text(p, x+18, y, smallSize, l)
	}
	for i, l := range h.switches {
		y += smallSize + 2.5
		if i == 0 {
			p.Add(scene.Rect{Box: scene.Box{MinX: x + 3, MinY: y - 5, MaxX: x + 11, MaxY: y + 1}, Fill: scene.Filled(activeFill),
				Stroke: scene.Stroke{Color: lineInk, Width: 0.4}})
		}
		text(p, x+18, y, smallSize, l)
	}
}

// headOf returns the head of a stage, with each rate once.
func (d *Drawing) headOf(i int, s *Stage) head {
	title := TitleOf(s)
	if outer := d.outer(i); outer != "" {
		title = outer + ", " + title
	}
	h := head{title: title, color: linkColors[i%len(linkColors)]}
	if d.use != nil { // colours of lines are for use
		h.color = lineInk
	}
	var used []int
	for k := range d.Kinds {
		if d.Kinds[k].Stage == s.Name {
			used = append(used, k)
		}
	}
	done := map[int]bool{}
	for _, k := range used {
		if done[k] {
			continue
		}
		done[k] = true
		one := &d.Kinds[k]
		name, delay := one.Name, one.Delay.Spaced()
		if a, b, oneWay := strings.Cut(one.Name, " -> "); oneWay {
			for _, o := range used {
				if other := &d.Kinds[o]; !done[o] && other.Name == b+" -> "+a && other.Rate == one.Rate &&
					other.Line == one.Line && other.Parallel == one.Parallel {
					name, done[o] = a+" <-> "+b, true
					if other.Delay != one.Delay {
						delay += " and back " + other.Delay.Spaced()
					}
				}
			}
		}
		rate := one.Rate.String()
		if one.Parallel > 1 {
			rate = strconv.Itoa(one.Parallel) + " × " + rate
		}
		text := name + ": " + rate + ", " + delay
		if share := one.Share(); share > 0 && share != 1 {
			text += fmt.Sprintf(", %.0f %% of the line", 100*share)
		}
		h.links = append(h.links, text)
	}
	if s.Switches != nil {
		h.switches = scene.Wrap(s.Switches.Text(), smallSize, switchText)
	}
	return h
}

// TitleOf returns a title with the members of a network.
func TitleOf(s *Stage) string {
	n := members(s)
	text := s.Name + ": "
	switch {
	case n == 1:
		text += "one " + s.Member
	case s.Look.Title != "":
		text += strings.ReplaceAll(s.Look.Title, "%s", counted(n, s.Member))
	case len(s.Dims) > 1:
		sizes := make([]string, len(s.Dims))
		for i, n := range s.Dims {
			sizes[i] = strconv.Itoa(n)
		}
		text += fmt.Sprintf("%s of %s %s", s.Network, strings.Join(sizes, " × "), strings.TrimPrefix(counted(2, s.Member), "2 "))
	default:
		text += fmt.Sprintf("%s of %s", strings.ReplaceAll(s.Network, "_", " "), counted(n, s.Member))
	}
	if s.Count > 1 {
		text += fmt.Sprintf(", one of %s alike", thousands(s.Count))
	}
	return text
}

// counted returns a count with a name of several words, the first of which takes the plural.
func counted(n int, what string) string {
	first, rest, _ := strings.Cut(what, " ")
	if n != 1 {
		first += "s"
	}
	return strings.TrimSuffix(fmt.Sprintf("%s %s %s", thousands(n), first, rest), " ")
}

// thousands prints a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// key writes the meaning of the boxes, and the figures of memories and halves of the machine.
func (d *Drawing) key(p *scene.Picture, y float64) float64 {
	kinds := d.drawnKinds()
	boxes := []struct {
		fill scene.Color
		name string
		has  func(kind string) bool
	}{
		{memberFill, d.memberNames(kinds), func(k string) bool { return k == "SIP" || k == "cube" || k == "group" }},
		{switchFill, "switch or gateway", func(k string) bool { return k == "switch" || k == "gateway" }},
		{chipletFill, "IO chiplet", func(k string) bool { return k == "IO chiplet" }},
		{routerFill, "router", func(k string) bool { return k == "router" }},
		{peFill, "PE", func(k string) bool { return k == "PE" }},
		{memoryFill, "memory", func(k string) bool { return k == "SRAM" || k == "PE" }},
	}
	x, high := pad, smallSize+4
	for _, b := range boxes {
		if !slices.ContainsFunc(kinds, b.has) {
			continue
		}
		wide := 12 + scene.TextWidth(b.name, smallSize) + 8
		if x+wide > p.Width-pad {
			x, y = pad, y+high
		}
		p.Add(scene.Rect{Box: scene.Box{MinX: x, MinY: y, MaxX: x + 8, MaxY: y + 6}, Fill: scene.Filled(b.fill),
			Stroke: scene.Stroke{Color: lineInk, Width: 0.4}})
		text(p, x+12, y+smallSize-0.5, smallSize, b.name)
		x += wide
	}
	y += high
	y = d.useKey(p, y)
	var lines []string
	var all []string
	for _, m := range d.Memories {
		all = append(all, fmt.Sprintf("%s %s × %v, each %v", m.Name, thousands(m.Count), m.Each, m.Rate))
	}
	if one := strings.Join(all, "; "); scene.TextWidth(one, smallSize) <= p.Width-2*pad {
		all = []string{one}
	}
	lines = append(lines, all...)
	if b := d.Bisection; b != nil {
		lines = append(lines, fmt.Sprintf("bisection: %v each way between %s and the rest", b.Rate, counted(b.Ranks, "PE")))
	}
	for _, l := range lines {
		for _, part := range scene.Wrap(l, smallSize, p.Width-2*pad) {
			y += smallSize
			text(p, pad, y, smallSize, part)
			y += 2
		}
	}
	return y
}

// memberNames returns the kinds of the members' boxes, such as SIP or cube.
func (d *Drawing) memberNames(kinds []string) string {
	var names []string
	for i := range d.Stages {
		if i+1 < len(d.Stages) && members(&d.Stages[i]) > 1 && d.Stages[i].Nodes[0].Kind == "group" {
			names = append(names, d.Stages[i+1].Name)
		}
	}
	for _, k := range []string{"SIP", "cube"} {
		if slices.Contains(kinds, k) {
			names = append(names, k)
		}
	}
	return strings.Join(names, " or ")
}

// drawnKinds lists the kinds of nodes in the picture.
func (d *Drawing) drawnKinds() []string {
	var kinds []string
	last := len(d.Stages) - 1
	for i := range d.Stages {
		s := &d.Stages[i]
		if i < last && members(s) <= 1 {
			continue
		}
		for k := range s.Nodes {
			if kind := s.Nodes[k].Kind; i < last || d.meshed() || kind == "PE" || kind == "SRAM" {
				kinds = append(kinds, kind)
			}
		}
	}
	return kinds
}

// text writes a line.
func text(p *scene.Picture, x, y, size float64, s string) {
	p.Add(scene.Text{At: scene.Point{X: x, Y: y}, Size: size, Color: scene.Ink, Text: s})
}

// frame draws a box.
func frame(p *scene.Picture, x, y, w, h float64, fill scene.Color, tip string) {
	p.Add(scene.Rect{
		Box: scene.Box{MinX: x, MinY: y, MaxX: x + w, MaxY: y + h}, Fill: &fill, Round: 2,
		Stroke: scene.Stroke{Color: lineInk, Width: 0.6}, Tip: tip,
	})
}

// label draws a box with a name in its middle, shortened to fit.
func label(p *scene.Picture, b scene.Box, fill scene.Color, name string) {
	frame(p, b.MinX, b.MinY, b.MaxX-b.MinX, b.MaxY-b.MinY, fill, name)
	if short := scene.Shorten(name, smallSize, b.MaxX-b.MinX-2); short != "" {
		p.Add(scene.Text{At: scene.Point{X: (b.MinX + b.MaxX) / 2, Y: (b.MinY+b.MaxY)/2 + 0.35*smallSize},
			Anchor: scene.Middle, Size: smallSize, Color: scene.Ink, Text: short})
	}
}
