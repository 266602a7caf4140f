package draw

import (
	"fmt"

	"kernbench/plot/scene"
)

// routers draws a cube: its mesh of routers with what is at each.
func (d *Drawing) routers(i int, s *Stage) block {
	const cellWide, partHigh, site = 36.0, 10.0, 5.0
	w, h := s.Dims[0], 1
	if len(s.Dims) > 1 {
		h = s.Dims[1]
	}
	columns, rows := min(w, shownSide), min(h, shownSide)
	parts := make(map[int][]int)
	most := 1
	for n := range s.Nodes {
		if at := s.Nodes[n].At; at >= 0 {
			parts[at] = append(parts[at], n)
			most = max(most, len(parts[at]))
		}
	}
	high := float64(most)*(partHigh+2) + 8
	head := d.headOf(i, s)
	headWide, headHigh := head.size()
	gridWide, gridHigh := float64(columns)*cellWide, float64(rows)*high
	text := ""
	if left := w*h - columns*rows; left > 0 {
		text = fmt.Sprintf("and %s in further rows and columns", counted(left, "router"))
	}
	b := block{w: max(gridWide, headWide, scene.TextWidth(text, smallSize)) + 2*pad, h: headHigh + gridHigh + 2*pad + 3}
	if text != "" {
		b.h += smallSize + 3
	}
	b.draw = func(p *scene.Picture, x, y float64) {
		frame(p, x, y, b.w, b.h, scene.White, "")
		head.draw(p, x+pad, y+pad)
		x0, y0 := x+(b.w-gridWide)/2, y+pad+headHigh+3
		place := func(n int) (scene.Point, bool) {
			return scene.Point{X: x0 + float64(n%w)*cellWide + 6, Y: y0 + float64(n/w)*high + high - 5}, n%w < columns && n/w < rows
		}
		for _, j := range d.inOrder(s.Joins) {
			if !s.Nodes[j.From].Member || !s.Nodes[j.To].Member {
				continue
			}
			a, ok := place(j.From)
			c, ok2 := place(j.To)
			if ok && ok2 {
				stroke, tip := d.line(j, head.color, 0.8)
				p.Add(scene.Path{Points: []scene.Point{a, c}, Stroke: stroke, Tip: tip})
			}
		}
		for n := range s.Nodes {
			at, shown := place(n)
			if !s.Nodes[n].Member || !shown {
				continue
			}
			for k, part := range parts[n] {
				box := scene.Box{MinX: at.X + 4, MinY: at.Y - 6 - float64(k+1)*(partHigh+2) + 2,
					MaxX: at.X + cellWide - 8, MaxY: at.Y - 6 - float64(k)*(partHigh+2)}
				stroke, tip := d.line(joined(s, n, part), head.color, 0.6)
				p.Add(scene.Path{Points: []scene.Point{at, {X: box.MinX, Y: (box.MinY + box.MaxY) / 2}}, Stroke: stroke, Tip: tip})
				fill := peFill
				if s.Nodes[part].Kind != "PE" {
					fill = memoryFill
				}
				label(p, box, fill, s.Nodes[part].Name)
			}
			frame(p, at.X-site/2, at.Y-site/2, site, site, routerFill, s.Nodes[n].Name)
		}
		if text != "" {
			p.Add(scene.Text{At: scene.Point{X: x + pad, Y: y + b.h - pad}, Size: smallSize, Color: scene.Ink, Text: text})
		}
	}
	return b
}

// joined returns the joint of two nodes, in either direction.
func joined(s *Stage, a, b int) Joint {
	for _, j := range s.Joins {
		if j.From == a && j.To == b || j.From == b && j.To == a {
			return j
		}
	}
	return Joint{}
}
