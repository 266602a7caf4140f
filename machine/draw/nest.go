package draw

import (
	"fmt"
	"math"
	"slices"

	"kernbench/machine"
	"kernbench/plot/scene"
)

// The most that a picture shows of a network.
const (
	shownSide = 10 // sites on a side of a grid
	shownRow  = 8  // members or switches in a row
)

// A plan holds the positions of the shown nodes of a network.
type plan struct {
	stage *Stage
	at    map[int]scene.Box // by node, from the corner of the plan
	row   map[int][2]int    // row and place in it; of a grid none
	w, h  float64
	rest  []rest // what is not shown
	wraps map[int]bool
}

// rest is a box for nodes that are not shown.
type rest struct {
	box  scene.Box
	text string
}

// network draws a network with its first member in detail.
func (d *Drawing) network(i int, s *Stage, first block) block {
	var p *plan
	if s.Look.Layout == machine.Grid {
		p = gridPlan(s, first)
	} else {
		p = rowsPlan(s, first)
	}
	h := d.headOf(i, s)
	wide, high := h.size()
	b := block{w: max(p.w, wide) + 2*pad, h: high + p.h + 2*pad + 3}
	b.draw = func(to *scene.Picture, x, y float64) {
		frame(to, x, y, b.w, b.h, groupFill, "")
		h.draw(to, x+pad, y+pad)
		d.drawPlan(to, i, p, h.color, first, x+(b.w-p.w)/2, y+pad+high+3)
	}
	return b
}

// outer names what a stage is inside of: the first member of the nearest network around it with
// several members; "" if there is none.
func (d *Drawing) outer(i int) string {
	for i--; i >= 0; i-- {
		if members(&d.Stages[i]) > 1 {
			return d.nameOf(i, 0)
		}
	}
	return ""
}

// nameOf names a member of a stage: of a group by the network within it.
func (d *Drawing) nameOf(i, member int) string {
	s := &d.Stages[i]
	if s.Nodes[member].Kind == "group" && i+1 < len(d.Stages) {
		return fmt.Sprintf("%s %d", d.Stages[i+1].Name, member)
	}
	return s.Nodes[member].Name
}

// drawPlan draws links, and boxes on top of them.
func (d *Drawing) drawPlan(to *scene.Picture, stage int, p *plan, color scene.Color, first block, x, y float64) {
	from := len(to.Items)
	for _, j := range d.inOrder(p.stage.Joins) {
		stroke, tip := d.line(j, color, 0.9)
		a, ok := p.at[j.From]
		b, ok2 := p.at[j.To]
		if !ok || !ok2 {
			continue
		}
		for _, line := range p.lines(j.From, j.To, a, b) {
			to.Add(scene.Path{Points: line, Stroke: stroke, Tip: tip})
		}
	}
	var detail *scene.Box
	for n := range p.stage.Nodes {
		box, shown := p.at[n]
		if !shown {
			continue
		}
		node := &p.stage.Nodes[n]
		switch {
		case n == 0 && node.Member:
			detail = &box
		case node.Member:
			label(to, box, memberFill, d.nameOf(stage, n))
		case node.Kind == "IO chiplet":
			label(to, box, chipletFill, node.Name)
		case node.Kind == "switch" && p.stage.Switches != nil:
			label(to, box, activeFill, node.Name)
		default:
			label(to, box, switchFill, node.Name)
		}
	}
	for _, r := range p.rest {
		to.Add(scene.Text{At: scene.Point{X: (r.box.MinX + r.box.MaxX) / 2,
			Y: (r.box.MinY+r.box.MaxY)/2 + 0.35*smallSize}, Anchor: scene.Middle, Size: smallSize, Color: scene.Ink, Text: r.text})
	}
	to.Move(from, x, y)
	if detail != nil {
		first.draw(to, x+detail.MinX, y+detail.MinY)
	}
}

// middle returns the middle of a box.
func middle(b scene.Box) scene.Point {
	return scene.Point{X: (b.MinX + b.MaxX) / 2, Y: (b.MinY + b.MaxY) / 2}
}

// lines returns the lines of a link. They may lie below boxes, which are drawn on top.
func (p *plan) lines(from, to int, a, b scene.Box) [][]scene.Point {
	ma, mb := middle(a), middle(b)
	ra, rowed := p.row[from]
	rb, rowed2 := p.row[to]
	if !rowed || !rowed2 {
		return p.gridLines(from, to, a, b)
	}
	if ra[0] != rb[0] { // to another row: straight up to what is wider
		if b.MinX <= ma.X && ma.X <= b.MaxX && b.MaxX-b.MinX > 2*boxWide {
			mb.X = ma.X
		}
		if a.MinX <= mb.X && mb.X <= a.MaxX && a.MaxX-a.MinX > 2*boxWide {
			ma.X = mb.X
		}
		if a.MinY < b.MinY {
			ma.Y, mb.Y = a.MaxY, b.MinY
		} else {
			ma.Y, mb.Y = a.MinY, b.MaxY
		}
		return [][]scene.Point{{ma, mb}}
	}
	apart := ra[1] - rb[1]
	if apart < 0 {
		apart = -apart
	}
	if apart <= 1 {
		return [][]scene.Point{{ma, mb}}
	}
	// An arc above the row, from top to top.
	high := arcHeight(apart)
	top := min(a.MinY, b.MinY)
	var arc []scene.Point
	const steps = 48
	for k := range steps + 1 {
		f := float64(k) / steps
		arc = append(arc, scene.Point{X: ma.X + (mb.X-ma.X)*(1-math.Cos(math.Pi*f))/2, Y: top - high*math.Sin(math.Pi*f)})
	}
	return [][]scene.Point{arc}
}

// arcHeight returns how high an arc between nodes of a row goes that are so far apart.
func arcHeight(apart int) float64 { return 4 + 4*float64(apart) }

// gridLines returns those of a grid. They are straight between neighbours and up to the level
// above. Lines that wrap around have an end at each border.
func (p *plan) gridLines(from, to int, a, b scene.Box) [][]scene.Point {
	ma, mb := middle(a), middle(b)
	nodes := p.stage.Nodes
	if !nodes[from].Member || !nodes[to].Member {
		hub, box := b, &ma
		if !nodes[from].Member {
			hub, box = a, &mb
		}
		if hub.MinX <= box.X && box.X <= hub.MaxX {
			if nodes[from].Member {
				mb.X = ma.X
			} else {
				ma.X = mb.X
			}
		}
		return [][]scene.Point{{ma, mb}}
	}
	const end = 6.0
	switch {
	case !p.wraps[from] || !p.wraps[to] || near(a, b):
		return [][]scene.Point{{ma, mb}}
	case a.MinY == b.MinY: // round the row
		left, right := a, b
		if a.MinX > b.MinX {
			left, right = b, a
		}
		return [][]scene.Point{
			{middle(left), {X: left.MinX - end, Y: middle(left).Y}},
			{middle(right), {X: right.MaxX + end, Y: middle(right).Y}},
		}
	}
	top, bottom := a, b
	if a.MinY > b.MinY {
		top, bottom = b, a
	}
	return [][]scene.Point{
		{middle(top), {X: middle(top).X, Y: top.MinY - end}},
		{middle(bottom), {X: middle(bottom).X, Y: bottom.MaxY + end}},
	}
}

// near reports whether two boxes of a grid are neighbours.
func near(a, b scene.Box) bool {
	dx := max(a.MinX-b.MaxX, b.MinX-a.MaxX)
	dy := max(a.MinY-b.MaxY, b.MinY-a.MaxY)
	return dx <= gap+1e-9 && dy <= gap+1e-9
}

// gridPlan places members in rows and columns. The first row and column are as wide as what is
// drawn in their first member. What else there is stands in a row above.
func gridPlan(s *Stage, first block) *plan {
	p := &plan{stage: s, at: map[int]scene.Box{}, row: map[int][2]int{}, wraps: map[int]bool{}}
	w, h := s.Dims[0], 1
	if len(s.Dims) > 1 {
		h = s.Dims[1]
	}
	columns, rows := min(w, shownSide), min(h, shownSide)
	margin, y := 0.0, 0.0
	if s.Look.Wraps {
		margin, y = 10, 10
	}
	column := func(x int) (from, to float64) {
		if x == 0 {
			return margin, margin + first.w
		}
		from = margin + first.w + gap + float64(x-1)*(boxWide+gap)
		return from, from + boxWide
	}
	_, right := column(columns - 1)
	var hubs []int
	for i := range s.Nodes {
		if !s.Nodes[i].Member && s.Nodes[i].At < 0 {
			hubs = append(hubs, i)
		}
	}
	for k, n := range hubs {
		wide := (right - margin - float64(len(hubs)-1)*gap) / float64(len(hubs))
		x := margin + float64(k)*(wide+gap)
		p.at[n] = scene.Box{MinX: x, MinY: 0, MaxX: x + wide, MaxY: 14}
	}
	if len(hubs) > 0 {
		y += 14 + gap
	}
	for r := range rows {
		high := boxHigh
		if r == 0 {
			high = first.h
		}
		for c := range columns {
			from, to := column(c)
			n := r*w + c
			p.at[n] = scene.Box{MinX: from, MinY: y, MaxX: to, MaxY: y + high}
			p.wraps[n] = s.Look.Wraps
		}
		y += high + gap
	}
	p.w, p.h = right+margin, y-gap+margin
	text := ""
	if left := w*h - columns*rows; left > 0 {
		text = fmt.Sprintf("and %s in further rows and columns", thousands(left))
	}
	planes := 1
	for _, n := range s.Dims[min(2, len(s.Dims)):] {
		planes *= n
	}
	if planes > 1 {
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("one of %d planes, joined one to the next", planes)
	}
	if s.Look.Wraps && (columns > 2 || rows > 2) {
		if text != "" {
			text += "; "
		}
		text += "ends at a border lead round to the other side"
	}
	if text != "" {
		p.w = max(p.w, scene.TextWidth(text, smallSize))
		p.rest = append(p.rest, rest{scene.Box{MinX: 0, MinY: p.h + 2, MaxX: p.w, MaxY: p.h + 2 + smallSize}, text})
		p.h += smallSize + 4
	}
	return p
}

// tiers sorts switches by how far they are from members, the nearest first.
func tiers(s *Stage) [][]int {
	far := make([]int, len(s.Nodes))
	var next []int
	for i := range s.Nodes {
		if far[i] = -1; s.Nodes[i].Member {
			far[i] = 0
			next = append(next, i)
		}
	}
	adjacent := make([][]int, len(s.Nodes))
	for _, j := range s.Joins {
		adjacent[j.From] = append(adjacent[j.From], j.To)
		adjacent[j.To] = append(adjacent[j.To], j.From)
	}
	for k := 0; k < len(next); k++ {
		for _, o := range adjacent[next[k]] {
			if far[o] < 0 {
				far[o] = far[next[k]] + 1
				next = append(next, o)
			}
		}
	}
	var all [][]int
	for i := range s.Nodes {
		if s.Nodes[i].Member || s.Nodes[i].At >= 0 {
			continue
		}
		t := max(far[i], 1)
		for len(all) < t {
			all = append(all, nil)
		}
		all[t-1] = append(all[t-1], i)
	}
	return all
}

// some returns the first nodes of a row and the last, if they are too many, and how many are left
// out.
func some(nodes []int) (shown []int, left int) {
	if len(nodes) <= shownRow {
		return nodes, 0
	}
	return append(append([]int(nil), nodes[:shownRow-1]...), nodes[len(nodes)-1]), len(nodes) - shownRow
}

// rowsPlan places members in a row, and switches in rows above, by how far they are from members.
// If there is a switch and an IO chiplet, the chiplet is below.
func rowsPlan(s *Stage, first block) *plan {
	p := &plan{stage: s, at: map[int]scene.Box{}, row: map[int][2]int{}}
	var row []int
	for i := range s.Nodes {
		if s.Nodes[i].Member {
			row = append(row, i)
		}
	}
	row, left := some(row)
	dots := fmt.Sprintf("… %s …", thousands(left))
	p.w = first.w + float64(len(row)-1)*(boxWide+gap)
	if left > 0 {
		p.w += scene.TextWidth(dots, smallSize)
	}
	all := tiers(s)
	below := -1 // an IO chiplet next to a switch: the links to both are straight
	if len(all) == 1 && len(all[0]) == 2 {
		if i := slices.IndexFunc(all[0], func(n int) bool { return s.Nodes[n].Kind == "IO chiplet" }); i >= 0 {
			below = all[0][i]
			all[0] = slices.Delete(all[0], i, i+1)
		}
	}
	shown := make([][]int, len(all))
	for t := range all {
		shown[t], _ = some(all[t])
		p.w = max(p.w, float64(len(shown[t]))*(boxWide+gap)-gap)
	}
	y := 0.0
	for t := len(all) - 1; t >= 0; t-- {
		y += p.arcs(shown[t])
		wide := min(4*boxWide, p.w/float64(len(shown[t]))-gap)
		if len(shown[t]) == 1 {
			wide = p.w
		}
		for k, n := range shown[t] {
			x := (float64(k)+0.5)*p.w/float64(len(shown[t])) - wide/2
			p.at[n], p.row[n] = scene.Box{MinX: x, MinY: y, MaxX: x + wide, MaxY: y + 14}, [2]int{t + 1, k}
		}
		y += 14
		if more := len(all[t]) - len(shown[t]); more > 0 {
			text := fmt.Sprintf("and %s like these", counted(more, s.Nodes[all[t][0]].Kind))
			p.w = max(p.w, scene.TextWidth(text, smallSize))
			p.rest = append(p.rest, rest{scene.Box{MinX: 0, MinY: y + 2, MaxX: p.w, MaxY: y + 2 + smallSize}, text})
			y += smallSize + 4
		}
		y += gap
	}
	y += p.arcs(row)
	x := 0.0
	for k, n := range row {
		wide := boxWide
		switch {
		case k == 0:
			wide = first.w
		case left > 0 && k == len(row)-1:
			dot := scene.TextWidth(dots, smallSize)
			p.rest = append(p.rest, rest{scene.Box{MinX: x - gap, MinY: y, MaxX: x + dot, MaxY: y + first.h}, dots})
			x += dot
		}
		p.at[n], p.row[n] = scene.Box{MinX: x, MinY: y, MaxX: x + wide, MaxY: y + first.h}, [2]int{0, k}
		x += wide + gap
	}
	p.h = y + first.h
	if below >= 0 {
		p.at[below], p.row[below] = scene.Box{MinX: 0, MinY: p.h + gap, MaxX: p.w, MaxY: p.h + gap + 14}, [2]int{-1, 0}
		p.h += gap + 14
	}
	return p
}

// arcs returns the height that arcs between nodes of a row take.
func (p *plan) arcs(row []int) float64 {
	place := map[int]int{}
	for k, n := range row {
		place[n] = k
	}
	most := 0
	for _, j := range p.stage.Joins {
		a, ok := place[j.From]
		b, ok2 := place[j.To]
		if ok && ok2 {
			most = max(most, max(a-b, b-a))
		}
	}
	if most <= 1 {
		return 0
	}
	return arcHeight(most) + 2
}
