package plot

import (
	"slices"

	"kernbench/plot/scene"
	"kernbench/unit"
)

// The measures of a figure, in points.
const (
	Column      = 85 / 25.4 * 72 // the width of a column of a journal
	edge        = 4
	titleSize   = 8.0
	noteSize    = 6.0
	labelSize   = 6.5
	tickSize    = 6.0
	panelHeight = 88.0
	sampleWidth = 20.0 // of a line in the legend
)

// Picture draws a figure: as bars if there is only one value of x.
func (f *Figure) Picture() *scene.Picture {
	if bars := f.bars(); bars != nil {
		return bars.Picture()
	}
	p := &scene.Picture{Width: Column, Title: f.Title, About: f.About}
	y := heading(p, f.Title, f.Notes)
	styles, order := f.styles()
	x, left := f.spans(p.Width)
	var crossed []Crossing // of the first panel that has some
	for i := range f.Panel {
		panel := &f.Panel[i]
		ySpan, ok := panel.span()
		if !ok || x == nil {
			y = text(p, edge, y+labelSize+2, labelSize, scene.Ink, panel.Title+": nothing to show")
			continue
		}
		y = text(p, left, y+labelSize+2, labelSize, scene.Ink, scene.Shorten(panel.Title, labelSize, p.Width-left-edge)) + 1
		crossings := Crossings(colouredFirst(panel.Curves, styles), panel.Better)
		if crossed == nil {
			crossed = crossings
		}
		ySpan.at, ySpan.end = y+panelHeight, y
		grid(p, x, ySpan, left, i == len(f.Panel)-1)
		for _, c := range crossings {
			px := x.pos(c.At.X)
			p.Add(scene.Path{Points: []scene.Point{{X: px, Y: y}, {X: px, Y: y + panelHeight}}, Stroke: crossingStroke,
				Tip: c.To + " is better than " + c.From + " from about " + f.X.label(rounded(c.At.X)) + " on"})
		}
		panel.draw(p, x, ySpan, styles)
		y += panelHeight + 4
	}
	if x != nil {
		y += tickSize + 4
		y = text(p, (x.at+x.end)/2-scene.TextWidth(f.X.Name, labelSize)/2, y+labelSize+1, labelSize, scene.Ink, f.X.Name) + 2
	}
	y = legend(p, y, order, styles)
	p.Height = f.crossingLines(p, y, crossed) + edge
	return p
}

// heading writes a title and notes, and returns where they end.
func heading(p *scene.Picture, title string, notes []string) float64 {
	y := float64(edge)
	for _, line := range scene.Wrap(title, titleSize, p.Width-2*edge) {
		y = text(p, edge, y+titleSize, titleSize, scene.Ink, line) + 1
	}
	for _, note := range notes {
		for _, line := range scene.Wrap(note, noteSize, p.Width-2*edge) {
			y = text(p, edge, y+noteSize, noteSize, scene.Grey, line)
		}
	}
	return y + 2
}

// text writes a line, and returns where it ends.
func text(p *scene.Picture, x, y, size float64, color scene.Color, s string) float64 {
	p.Add(scene.Text{At: scene.Point{X: x, Y: y}, Size: size, Color: color, Text: s})
	return y + 0.25*size
}

var crossingStroke = scene.Stroke{Color: scene.Grey, Width: 0.6, Dash: []float64{1, 1.2}}

// crossingLines writes, below the legend, where the best curve changes.
func (f *Figure) crossingLines(p *scene.Picture, y float64, all []Crossing) float64 {
	for i, c := range all {
		if i == 0 {
			at := y + noteSize/2 + 1.5
			p.Add(scene.Path{Points: []scene.Point{{X: edge, Y: at}, {X: edge + sampleWidth, Y: at}}, Stroke: crossingStroke})
		}
		line := "≈ " + f.X.label(rounded(c.At.X)) + ": " + c.To + " overtakes " + c.From
		for _, part := range scene.Wrap(line, noteSize, p.Width-2*edge-sampleWidth-4) {
			y = text(p, edge+sampleWidth+4, y+noteSize+0.5, noteSize, scene.Ink, part)
		}
	}
	return y
}

// rounded keeps two digits: a crossing is not known better.
func rounded(v float64) float64 {
	unit := 1.0
	for v/unit >= 1024 {
		unit *= 1024
	}
	if v/unit < 10 {
		return float64(int(v/unit*4+0.5)) / 4 * unit
	}
	return float64(int(v/unit+0.5)) * unit
}

// colouredFirst sorts curves so that those with a colour come before those that they coincide with.
func colouredFirst(curves []Curve, styles map[string]style) []Curve {
	var first, rest []Curve
	for _, c := range curves {
		if styles[c.Name].faint {
			rest = append(rest, c)
		} else {
			first = append(first, c)
		}
	}
	return append(first, rest...)
}

// styles gives each name of a curve a style, in their order, and lists the names for the legend.
// Computed curves come first, then those that they are compared with.
func (f *Figure) styles() (map[string]style, []string) {
	all, order := map[string]style{}, []string{}
	count, shown, grey := map[Role]int{}, f.shown(), 0
	for i := range f.Panel {
		for _, c := range f.Panel[i].Curves {
			if _, known := all[c.Name]; known {
				continue
			}
			if c.Role == Computed && !shown[c.Name] {
				all[c.Name] = faint
				grey++
				continue
			}
			all[c.Name] = styleOf(c.Role, count[c.Role])
			count[c.Role]++
			order = append(order, c.Name)
		}
	}
	if grey > 0 {
		name := unit.Count(grey, "other")
		all[name] = faint
		order = append(order, name)
	}
	rank := func(name string) int {
		switch s := all[name]; {
		case s.role == Computed && !s.faint:
			return 0
		case s.role == Computed:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(order, func(a, b string) int { return rank(a) - rank(b) })
	return all, order
}

// spans lays the x axis over the width that the labels of the y axes leave.
func (f *Figure) spans(width float64) (x *span, left float64) {
	var xs []float64
	for i := range f.Panel {
		panel := &f.Panel[i]
		for _, c := range panel.Curves {
			for _, q := range c.Points {
				if f.X.shows(q.X) && panel.Y.shows(q.Y) {
					xs = append(xs, q.X)
				}
			}
		}
		if s, ok := panel.span(); ok {
			s.at, s.end = panelHeight, 0
			for _, v := range s.ticks(func(string) float64 { return tickSize + 2 }) {
				left = max(left, scene.TextWidth(panel.Y.label(v), tickSize))
			}
		}
	}
	left += edge + 4
	least, most, ok := extent(xs)
	if !ok {
		return nil, left
	}
	from, to := least, most
	switch {
	case f.X.Scale == Linear:
		if from == to {
			from, to = from-1, to+1
		}
	default:
		from, to = (&Axis{Scale: Log2}).widen(least, most)
	}
	return &span{&f.X, from, to, left, width - edge - 6}, left
}

// span returns the y axis of a panel with its ends, and false if no curve has a point.
func (p *Panel) span() (*span, bool) {
	var ys []float64
	for _, c := range p.Curves {
		for _, q := range c.Points {
			if p.Y.shows(q.Y) {
				ys = append(ys, q.Y)
			}
		}
	}
	least, most, ok := extent(ys)
	if !ok {
		return nil, false
	}
	if p.Y.Scale == Linear { // errors and shares: the axis includes 0
		least, most = min(least, 0), max(most, 0)
	}
	from, to := p.Y.widen(least, most)
	return &span{axis: &p.Y, from: from, to: to}, true
}

// grid draws a frame with ticks and their labels. Labels of x are drawn on request.
func grid(p *scene.Picture, x, y *span, left float64, labelled bool) {
	line := scene.Stroke{Color: scene.Light, Width: 0.4}
	for _, v := range y.ticks(func(string) float64 { return tickSize + 2 }) {
		at := y.pos(v)
		stroke := line
		if y.axis.Scale == Linear && v == 0 {
			stroke = scene.Stroke{Color: scene.Grey, Width: 0.6}
		}
		p.Add(scene.Path{Points: []scene.Point{{X: x.at, Y: at}, {X: x.end, Y: at}}, Stroke: stroke},
			scene.Text{At: scene.Point{X: left - 3, Y: at + 0.35*tickSize}, Anchor: scene.End, Size: tickSize,
				Color: scene.Ink, Text: y.axis.label(v)})
	}
	var last float64
	for _, v := range x.ticks(func(label string) float64 { return scene.TextWidth(label, tickSize) + 4 }) {
		at := x.pos(v)
		p.Add(scene.Path{Points: []scene.Point{{X: at, Y: y.end}, {X: at, Y: y.at}}, Stroke: line})
		half := scene.TextWidth(x.axis.label(v), tickSize) / 2
		middle := min(at, p.Width-1-half)
		if labelled && middle-half >= last {
			last = middle + half + 1
			p.Add(scene.Text{At: scene.Point{X: middle, Y: y.at + tickSize + 3}, Anchor: scene.Middle, Size: tickSize,
				Color: scene.Ink, Text: x.axis.label(v)})
		}
	}
	p.Add(scene.Rect{Box: scene.Box{MinX: x.at, MinY: y.end, MaxX: x.end, MaxY: y.at}, Stroke: scene.Stroke{Color: scene.Grey, Width: 0.6}})
}

// draw draws the curves of a panel, with their points on top.
func (p *Panel) draw(to *scene.Picture, x, y *span, styles map[string]style) {
	var points []scene.Item
	order := func(c Curve) int { // from the bottom
		switch {
		case styles[c.Name].faint:
			return 0
		case c.Role == Bound:
			return 1
		}
		return 2
	}
	curves := slices.Clone(p.Curves)
	slices.SortStableFunc(curves, func(a, b Curve) int { return order(a) - order(b) })
	for _, c := range curves {
		s := styles[c.Name]
		var line []scene.Point
		for _, q := range c.Points {
			if !x.axis.shows(q.X) || !p.Y.shows(q.Y) {
				continue
			}
			at := scene.Point{X: x.pos(q.X), Y: y.pos(q.Y)}
			line = append(line, at)
			if c.Role != Bound && !s.faint {
				points = append(points, s.point(at, c.Name+", "+x.axis.label(q.X)+": "+p.Y.label(q.Y)))
			}
		}
		if c.Role != Reference && len(line) > 1 {
			to.Add(scene.Path{Points: line, Stroke: s.stroke(), Tip: c.Name})
		}
	}
	to.Add(points...)
}

// legend writes the names of the curves, in as many columns as fit. A name that is wider than the
// figure takes several lines.
func legend(p *scene.Picture, y float64, names []string, styles map[string]style) float64 {
	const sample, line = sampleWidth, 9.0
	if len(names) == 0 {
		return y
	}
	widest := 0.0
	for _, n := range names {
		widest = max(widest, sample+4+scene.TextWidth(n, labelSize)+8)
	}
	columns := max(1, min(len(names), int((p.Width-2*edge)/widest)))
	cell := (p.Width - 2*edge) / float64(columns)
	for i, n := range names {
		x := edge + cell*float64(i%columns)
		at := y + line/2
		s := styles[n]
		if s.role != Reference {
			p.Add(scene.Path{Points: []scene.Point{{X: x, Y: at}, {X: x + sample, Y: at}}, Stroke: s.stroke()})
		}
		if s.role != Bound && !s.faint {
			p.Add(s.point(scene.Point{X: x + sample/2, Y: at}, ""))
		}
		for k, part := range scene.Wrap(n, labelSize, cell-sample-8) {
			if k > 0 {
				y += line - 1
			}
			text(p, x+sample+4, y+line/2+0.35*labelSize, labelSize, scene.Ink, part)
		}
		if (i+1)%columns == 0 || i == len(names)-1 {
			y += line
		}
	}
	return y
}
