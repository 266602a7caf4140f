package view

import (
	"fmt"
	"slices"

	"kernbench/plot/scene"
	"kernbench/unit"
)

// The measures of pictures, in points: as wide as a page of a journal (178 mm).
const (
	pictureWide  = 178 / 25.4 * 72
	pictureEdge  = 6.0
	titleSize    = 9.0
	smallSize    = 6.0
	laneHigh     = 8.0
	mostLanes    = 64
	mostHot      = 40  // links of a heat map
	pictureCells = 400 // columns of time
)

// reasonColors are the colours that pages have for reasons.
var reasonColors = map[string]scene.Color{
	"launch": 0xc9c9c9, "issue": 0x8a8a2b, "serialisation": 0x0072b2, "link latency": 0x6cc0ee, "router": 0x009e73,
	"queueing": 0xd55e00, "credit stall": 0xcc79a7, "memory port": 0xe3cf1f, "arithmetic": 0xe69f00, "protocol": 0x882255,
	"poll or wake-up": 0x332288, "random delay": 0x777777, "imbalance": 0xd8d8d8,
}

func reasonColor(name string) scene.Color {
	if c, ok := reasonColors[name]; ok {
		return c
	}
	return 0xb0b0b0
}

// newPicture begins a picture with a title and lines below, and returns where they end.
func newPicture(title string, notes []string, about []scene.Fact) (*scene.Picture, float64) {
	p := &scene.Picture{Width: pictureWide, Title: title, About: about}
	y := pictureEdge
	for _, line := range scene.Wrap(title, titleSize, p.Width-2*pictureEdge) {
		y += titleSize
		write(p, pictureEdge, y, titleSize, scene.Start, line)
		y += 2
	}
	for _, note := range notes {
		for _, line := range scene.Wrap(note, smallSize, p.Width-2*pictureEdge) {
			y += smallSize
			write(p, pictureEdge, y, smallSize, scene.Start, line)
			y += 1.5
		}
	}
	return p, y + 4
}

func write(p *scene.Picture, x, y, size float64, anchor scene.Anchor, text string) {
	p.Add(scene.Text{At: scene.Point{X: x, Y: y}, Size: size, Anchor: anchor, Color: scene.Ink, Text: text})
}

func fill(p *scene.Picture, x, y, w, h float64, c scene.Color, tip string) {
	p.Add(scene.Rect{Box: scene.Box{MinX: x, MinY: y, MaxX: x + w, MaxY: y + h}, Fill: &c, Tip: tip})
}

// clock draws an axis of time below y, with ticks at round times, and returns where it ends.
func clock(p *scene.Picture, left, right, top, y float64, length unit.Time) float64 {
	step := unit.Time(1)
	for length/step > 8 {
		switch digit := leading(step); {
		case length/(step*2) <= 8:
			step *= 2
		case digit == 1 && length/(step*5) <= 8:
			step *= 5
		default:
			step *= 10
		}
	}
	line := scene.Stroke{Color: scene.Light, Width: 0.4}
	for t := unit.Time(0); t <= length; t += step {
		x := left + (right-left)*float64(t)/float64(length)
		label := t.Spaced()
		half := scene.TextWidth(label, smallSize) / 2
		p.Add(scene.Path{Points: []scene.Point{{X: x, Y: top}, {X: x, Y: y}}, Stroke: line})
		write(p, min(max(x, pictureEdge+half), p.Width-pictureEdge-half), y+smallSize+2, smallSize, scene.Middle, label)
	}
	return y + smallSize + 4
}

// leading returns the first digit of a time.
func leading(t unit.Time) unit.Time {
	for t >= 10 {
		t /= 10
	}
	return t
}

// TimelinePicture draws what each rank did over time. Own work has the whole height of a lane.
// Waits have half, in the colour of the reason that took most of each interval. The critical path
// is a black line. Of more than 64 ranks there is one lane for each class of equal ranks. Of many
// classes there are only the first.
func (r *Run) TimelinePicture(about []scene.Fact) (*scene.Picture, error) {
	t := r.Timeline
	if t == nil || len(t.Lanes) == 0 {
		return nil, fmt.Errorf("%s has no time line: the run was not explained", r.Name)
	}
	lanes, left := t.pictured()
	notes := []string{"high: own work; low: waiting for others; black line: the critical path"}
	if left > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d lanes are shown", len(lanes), len(lanes)+left))
	}
	p, y := newPicture(r.Name+": "+t.Length.Spaced(), notes, about)
	wide := 0.0
	for _, l := range lanes {
		wide = max(wide, scene.TextWidth(l.name, smallSize))
	}
	x0, x1 := pictureEdge+min(wide, 90)+4, p.Width-pictureEdge
	top := y
	bottom := top + float64(len(lanes))*(laneHigh+2)
	end := clock(p, x0, x1, top, bottom, t.Length)
	used := map[string]bool{}
	at := map[int]float64{} // of a rank: the middle of its lane
	for i, lane := range lanes {
		ly := top + float64(i)*(laneHigh+2)
		for _, rank := range lane.ranks {
			at[rank] = ly + laneHigh/2
		}
		write(p, x0-4, ly+laneHigh-1.5, smallSize, scene.End, scene.Shorten(lane.name, smallSize, 90))
		for _, s := range t.cells(lane.Lane) {
			high := laneHigh
			what := lane.name + ", own work, "
			if !s.own {
				high, what = laneHigh/2, lane.name+", waits, "
			}
			reason := t.Reasons[s.reason]
			used[reason] = true
			from, to := unit.Time(float64(t.Length)*float64(s.from)/pictureCells), unit.Time(float64(t.Length)*float64(s.to)/pictureCells)
			fill(p, x0+(x1-x0)*float64(s.from)/pictureCells, ly+laneHigh-high, (x1-x0)*float64(s.to-s.from)/pictureCells, high,
				reasonColor(reason), fmt.Sprintf("%s%s, %s to %s", what, reason, from.Spaced(), to.Spaced()))
		}
	}
	t.pathLine(p, x0, x1, at)
	reasonKey(p, end, used, t.Reasons)
	return p, nil
}

// reasonKey draws the legend of reasons, and sets the height of a picture.
func reasonKey(p *scene.Picture, y float64, used map[string]bool, reasons []string) {
	x := pictureEdge
	y += 3
	for _, reason := range reasons {
		if !used[reason] {
			continue
		}
		wide := 12 + scene.TextWidth(reason, smallSize) + 10
		if x+wide > p.Width-pictureEdge {
			x, y = pictureEdge, y+smallSize+4
		}
		fill(p, x, y, 8, 6, reasonColor(reason), "")
		write(p, x+12, y+smallSize-0.5, smallSize, scene.Start, reason)
		x += wide
	}
	p.Height = y + smallSize + 4 + pictureEdge
}

// picturedLane is a lane of a picture: that of a rank, or of one that stands for several.
type picturedLane struct {
	*Lane
	name  string
	ranks []int
}

// pictured returns the lanes that a picture has, and how many are left out.
func (t *Timeline) pictured() (lanes []picturedLane, left int) {
	if len(t.Lanes) <= mostLanes {
		for _, l := range t.Lanes {
			lanes = append(lanes, picturedLane{l, fmt.Sprintf("rank %d", l.Rank), []int{l.Rank}})
		}
		return lanes, 0
	}
	for _, c := range t.Classes[:min(len(t.Classes), mostLanes)] {
		l := picturedLane{Lane: t.Lanes[c.Rank], name: fmt.Sprintf("rank %d", t.Lanes[c.Rank].Rank)}
		if more := len(c.Ranks) - 1; more > 0 {
			l.name += fmt.Sprintf(" and %d alike", more)
		}
		for _, i := range c.Ranks {
			l.ranks = append(l.ranks, t.Lanes[i].Rank)
		}
		lanes = append(lanes, l)
	}
	return lanes, len(t.Classes) - len(lanes)
}

// cell is an interval of columns of a lane with one reason.
type cell struct {
	from, to int
	reason   int
	own      bool
}

// cells returns what a lane did by columns: of each the reason and the kind of most of its bins.
func (t *Timeline) cells(l *Lane) []cell {
	var all []cell
	n := len(l.Bins)
	bins := (int64(t.Length) + int64(t.Width) - 1) / int64(t.Width)
	for c := range pictureCells {
		lo := int(bins * int64(c) / pictureCells)
		hi := max(lo+1, int(bins*int64(c+1)/pictureCells))
		count := map[cell]int{}
		var best cell
		for b := lo; b < min(hi, n); b++ {
			if l.Bins[b]&15 == 0 {
				continue
			}
			k := cell{reason: int(l.Bins[b]&15) - 1, own: l.Bins[b]>>4 >= 8}
			if count[k]++; count[k] > count[best] {
				best = k
			}
		}
		if len(count) == 0 {
			continue
		}
		if m := len(all) - 1; m >= 0 && all[m].to == c && all[m].reason == best.reason && all[m].own == best.own {
			all[m].to = c + 1
			continue
		}
		best.from, best.to = c, c+1
		all = append(all, best)
	}
	return all
}

// pathLine draws the critical path through lanes.
func (t *Timeline) pathLine(p *scene.Picture, x0, x1 float64, at map[int]float64) {
	if t.Path == nil {
		return
	}
	var line []scene.Point
	start := unit.Time(0)
	draw := func() {
		if len(line) > 1 {
			p.Add(scene.Path{Points: line, Stroke: scene.Stroke{Color: scene.Black, Width: 0.7}, Tip: "critical path"})
		}
		line = nil
	}
	for i := range t.Path.Start {
		start += unit.Time(t.Path.Start[i])
		of := t.Path.Of[i]
		y, shown := at[int(t.Operations.Rank[of])]
		if of == 0 || !shown {
			draw()
			continue
		}
		from := x0 + (x1-x0)*float64(start)/float64(t.Length)
		to := x0 + (x1-x0)*float64(start+unit.Time(t.Path.Length[i]))/float64(t.Length)
		if n := len(line); n >= 2 && line[n-1].Y == y && from-line[n-1].X < 0.01 {
			line[n-1].X = to // one piece
		} else {
			line = append(line, scene.Point{X: from, Y: y}, scene.Point{X: to, Y: y})
		}
	}
	draw()
}

// heatStops are the colours of use, from none to all of the time.
var heatStops = []scene.Color{0xffffff, 0xfee391, 0xfe9929, 0xcc4c02, 0x4d1a02}

// heat returns the colour of a share.
func heat(f float64) scene.Color {
	x := min(max(f, 0), 0.9999) * float64(len(heatStops)-1)
	i := int(x)
	a, b := heatStops[i], heatStops[i+1]
	mix := func(shift uint) scene.Color {
		from, to := float64(a>>shift&0xff), float64(b>>shift&0xff)
		return scene.Color(from+(to-from)*(x-float64(i))+0.5) << shift
	}
	return mix(16) | mix(8) | mix(0)
}

// share prints a part as a percentage, with two digits if it is small.
func share(part float64) string {
	switch {
	case part <= 0:
		return "0 %"
	case part < 0.0001:
		return "< 0.01 %"
	case part < 0.0995:
		return fmt.Sprintf("%.2g %%", 100*part)
	}
	return fmt.Sprintf("%.0f %%", 100*part)
}

// niceShare returns the least of 1, 2, 4, 10, 20, 40 and 100 % that is not below a part.
func niceShare(part float64) float64 {
	for _, f := range []float64{0.01, 0.02, 0.04, 0.1, 0.2, 0.4} {
		if part <= f {
			return f
		}
	}
	return 1
}

// HeatPicture draws how much of each interval of time links were busy. Each link has a row: the
// fullest queues first, then the busiest links. Next to a row is how long messages queued there in
// all. The darkest colour is for the busiest interval.
func (r *Run) HeatPicture(about []scene.Fact) (*scene.Picture, error) {
	l := r.Links
	if l == nil || len(l.Links) == 0 || r.Timeline == nil {
		return nil, fmt.Errorf("%s used no links: there is no heat map", r.Name)
	}
	links := l.Links[:min(len(l.Links), mostHot)]
	notes := []string{"a row for each link: how much of the time it was busy; right: use of the whole time, and time that messages queued there"}
	if l.All > len(links) {
		notes = append(notes, fmt.Sprintf("%d of %s that carried something, the longest queues first, then the busiest", len(links),
			unit.Count(l.All, "link")))
	}
	p, y := newPicture(r.Name+": use of links in "+r.Timeline.Length.Spaced(), notes, about)
	wide, right := 0.0, 0.0
	sums := make([]string, len(links))
	for i, one := range links {
		wide = max(wide, scene.TextWidth(one.Name, smallSize))
		sums[i] = share(one.Used) + ", " + one.Queued.Spaced()
		right = max(right, scene.TextWidth(sums[i], smallSize))
	}
	wide = min(wide, 160)
	x0, x1 := pictureEdge+wide+4, p.Width-pictureEdge-right-4
	top := y
	bottom := top + float64(len(links))*laneHigh
	most := 0.0
	for _, one := range links {
		if len(one.Busy) > 0 {
			most = max(most, l.busiest()*float64(slices.Max(one.Busy))/255)
		}
	}
	darkest := niceShare(most)
	for i, one := range links {
		ly := top + float64(i)*laneHigh
		write(p, x0-4, ly+laneHigh-2, smallSize, scene.End, scene.Shorten(one.Name, smallSize, wide))
		write(p, p.Width-pictureEdge, ly+laneHigh-2, smallSize, scene.End, sums[i])
		n := len(one.Busy)
		for lo := 0; lo < n; {
			hi := lo + 1
			for hi < n && one.Busy[hi]>>3 == one.Busy[lo]>>3 && (one.Busy[hi] > 0) == (one.Busy[lo] > 0) {
				hi++
			}
			if one.Busy[lo] > 0 {
				from, to := unit.Time(lo)*l.Width, min(unit.Time(hi)*l.Width, r.Timeline.Length)
				part := l.busiest() * float64(one.Busy[lo]) / 255
				scale := (x1 - x0) / float64(r.Timeline.Length)
				fill(p, x0+scale*float64(from), ly+0.5, scale*float64(to-from), laneHigh-1, heat(part/darkest),
					fmt.Sprintf("%s: busy %s of the time, %s to %s", one.Name, share(part), from.Spaced(), to.Spaced()))
			}
			lo = hi
		}
	}
	p.Add(scene.Rect{Box: scene.Box{MinX: x0, MinY: top, MaxX: x1, MaxY: bottom}, Stroke: scene.Stroke{Color: scene.Grey, Width: 0.5}})
	y = clock(p, x0, x1, bottom, bottom+1, r.Timeline.Length) + 3
	x := x0
	for i, f := range []float64{0, 0.25, 0.5, 0.75, 1} {
		fill(p, x, y, 14, 6, heat(f), "")
		p.Add(scene.Rect{Box: scene.Box{MinX: x, MinY: y, MaxX: x + 14, MaxY: y + 6}, Stroke: scene.Stroke{Color: scene.Grey, Width: 0.4}})
		name := share(f * darkest)
		switch {
		case i == 0:
			name = "idle"
		case f*darkest == 1:
			name = "busy all the time"
		case i == 4:
			name += " of the time"
		}
		write(p, x+17, y+smallSize-0.5, smallSize, scene.Start, name)
		x += 17 + scene.TextWidth(name, smallSize) + 8
	}
	p.Height = y + smallSize + 4 + pictureEdge
	return p, nil
}
