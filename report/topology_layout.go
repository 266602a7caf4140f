package report

import (
	"math"
	"strings"

	"kernbench/machine"
	"kernbench/machine/draw"
)

// A panel is the picture of one network, with a place for each node that it shows.
type panel struct {
	stage         *draw.Stage
	width, height int
	at            []spot
	left          int // members without a place: too many
}

// spot is the middle of a node.
type spot struct {
	x, y  int
	shown bool
}

// The most that a panel shows: sites on a side of a grid, and members of any other network.
const (
	gridSide   = 16
	mostShown  = 48
	cellWide   = 96
	cellHigh   = 64
	routerCell = 72
)

// layOut places the nodes of a network as its look says.
func layOut(s *draw.Stage) *panel {
	p := &panel{stage: s, at: make([]spot, len(s.Nodes))}
	var members, hubs []int
	for i := range s.Nodes {
		switch {
		case s.Nodes[i].Member:
			members = append(members, i)
		case s.Nodes[i].At < 0:
			hubs = append(hubs, i)
		}
	}
	switch {
	case s.Look.Layout == machine.Grid:
		p.grid(members, hubs)
	case s.Look.Layout == machine.Tiers:
		p.rows(members, hubs)
	default:
		p.circle(members, hubs)
	}
	return p
}

func (p *panel) put(node, x, y int) { p.at[node] = spot{x, y, true} }

// grid puts members in rows and columns, what else there is in a row above.
func (p *panel) grid(members, hubs []int) {
	s := p.stage
	w, h := s.Dims[0], 1
	if len(s.Dims) > 1 {
		h = s.Dims[1]
	}
	wide, high := cellWide, cellHigh
	if s.Member == "router" {
		wide, high = routerCell, routerCell
	}
	top := 0
	if len(hubs) > 0 {
		top = cellHigh
	}
	columns, rows := min(w, gridSide), min(h, gridSide)
	p.width, p.height = max(columns, len(hubs))*wide+40, top+rows*high+40
	for i, n := range members {
		x, y := i%w, i/w
		if x >= columns || y >= rows { // beyond, or in a further plane
			p.left++
			continue
		}
		p.put(n, 20+x*wide+wide/2, 20+top+y*high+high/2)
	}
	for i, n := range hubs {
		p.put(n, 20+(2*i+1)*columns*wide/(2*len(hubs)), 20+top/2)
	}
	for i, n := range s.Nodes { // beside the router that it is at
		if n.At >= 0 && p.at[n.At].shown {
			beside := 0
			for k := range i {
				if s.Nodes[k].At == n.At {
					beside++
				}
			}
			p.put(i, p.at[n.At].x+20, p.at[n.At].y-18+16*beside)
		}
	}
}

// circle puts members round, and hubs in the middle: one in the centre, several on a circle.
func (p *panel) circle(members, hubs []int) {
	shown := min(len(members), mostShown)
	p.left = len(members) - shown
	outer := max(110, 11*shown)
	if len(hubs) > 1 { // that circle is smaller
		outer = max(140, 18*len(hubs[:min(len(hubs), mostShown)]), 11*shown)
	}
	middle := outer + 50
	p.width, p.height = 2*middle, 2*middle
	round := func(i, n, radius int) (x, y int) {
		angle := 2 * math.Pi * float64(i) / float64(n)
		return middle + int(math.Round(float64(radius)*math.Sin(angle))), middle - int(math.Round(float64(radius)*math.Cos(angle)))
	}
	for i, n := range members[:shown] {
		x, y := round(i, shown, outer)
		p.put(n, x, y)
	}
	hubs = hubs[:min(len(hubs), mostShown)]
	for i, n := range hubs {
		x, y := middle, middle
		if len(hubs) > 1 {
			x, y = round(i, len(hubs), outer*3/5)
		}
		p.put(n, x, y)
	}
}

// rows puts members below and each tier of switches above the one before: as many links away from
// the members.
func (p *panel) rows(members, hubs []int) {
	s := p.stage
	tier := make([]int, len(s.Nodes))
	for i := range tier {
		tier[i] = -1
	}
	for _, n := range members {
		tier[n] = 0
	}
	next := make([][]int, len(s.Nodes))
	for _, j := range s.Joins {
		next[j.From], next[j.To] = append(next[j.From], j.To), append(next[j.To], j.From)
	}
	tiers := [][]int{members}
	for k := 0; k < len(tiers); k++ {
		var above []int
		for _, n := range hubs {
			if tier[n] >= 0 {
				continue
			}
			for _, below := range next[n] {
				if tier[below] == k {
					above = append(above, n)
					break
				}
			}
		}
		for _, n := range above {
			tier[n] = k + 1
		}
		if len(above) > 0 {
			tiers = append(tiers, above)
		}
	}
	widest := 0
	for k := range tiers {
		if k == 0 {
			p.left = max(0, len(tiers[k])-mostShown)
		}
		tiers[k] = tiers[k][:min(len(tiers[k]), mostShown)]
		widest = max(widest, len(tiers[k]))
	}
	const wide = 64
	p.width, p.height = widest*wide+40, len(tiers)*90+20
	for k, nodes := range tiers {
		for i, n := range nodes {
			p.put(n, 20+(2*i+1)*widest*wide/(2*len(nodes)), p.height-10-90*k-45)
		}
	}
}

// joint is how a link is drawn: straight, or in a bow where it would lie on others.
func (p *panel) joint(j *draw.Joint) (bow bool, ok bool) {
	a, b := p.at[j.From], p.at[j.To]
	if !a.shown || !b.shown {
		return false, false
	}
	s := p.stage
	if s.Look.Layout != machine.Grid || !s.Nodes[j.From].Member || !s.Nodes[j.To].Member {
		return false, true
	}
	wide, high := abs(a.x-b.x), abs(a.y-b.y)
	return wide > cellWide || high > cellWide || wide > 0 && high > 0, true
}

func abs(n int) int { return max(n, -n) }

// label is what stands in a node.
func label(n *draw.Node) string {
	switch n.Kind {
	case "router":
		return ""
	case "group":
		return "at " + n.Name
	}
	if i := strings.LastIndexByte(n.Name, '.'); i >= 0 && len(n.Name) > 12 {
		return n.Name[i+1:]
	}
	return n.Name
}
