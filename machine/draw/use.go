package draw

import (
	"cmp"
	"fmt"
	"slices"

	"kernbench/machine"
	"kernbench/plot/scene"
	"kernbench/unit"
)

// LinkUse holds what one link did in a run.
type LinkUse struct {
	Link  string  // name of the link in the machine
	Part  float64 // of the time of the run that it was busy, from 0 to 1
	Bytes unit.Bytes
}

// use holds the use of links by their two ends. Of several links between two nodes it has the
// busiest.
type use struct{ links map[[2]machine.NodeID]LinkUse }

// PictureOfUse draws the machine as Picture does. Its lines have the colour of the part of the time
// that the busiest of their links was busy.
func (d *Drawing) PictureOfUse(links []LinkUse, about []scene.Fact) *scene.Picture {
	byName := make(map[string]LinkUse, len(links))
	for _, l := range links {
		byName[l.Link] = l
	}
	used := *d
	used.use = &use{map[[2]machine.NodeID]LinkUse{}}
	for i := range d.machine.NumLinks() {
		l := d.machine.Link(machine.LinkID(i))
		u, ok := byName[d.machine.LinkName(machine.LinkID(i))]
		if l.Port || !ok {
			continue
		}
		ends := [2]machine.NodeID{l.From, l.To}
		if old, known := used.use.links[ends]; !known || old.Part < u.Part {
			used.use.links[ends] = u
		}
	}
	return used.Picture(about)
}

// busiest returns the busiest link of a joint; false: none carried anything.
func (d *Drawing) busiest(j *Joint) (LinkUse, bool) {
	var most LinkUse
	found := false
	for _, ends := range j.ends {
		if u, ok := d.use.links[ends]; ok && (!found || u.Part > most.Part) {
			most, found = u, true
		}
	}
	return most, found
}

// inOrder returns joints in the order in which their lines are drawn: the busiest last, on top.
func (d *Drawing) inOrder(joins []Joint) []Joint {
	if d.use == nil {
		return joins
	}
	sorted := slices.Clone(joins)
	slices.SortStableFunc(sorted, func(a, b Joint) int {
		x, _ := d.busiest(&a)
		y, _ := d.busiest(&b)
		return cmp.Compare(x.Part, y.Part)
	})
	return sorted
}

// useSteps are the colours of links by the part of the time that they were busy.
var useSteps = []struct {
	upTo  float64
	color scene.Color
	name  string
}{
	{0.25, 0xf2b134, "busy up to 25 % of the time"},
	{0.5, 0xe8761f, "to 50 %"},
	{0.75, 0xb53a0c, "to 75 %"},
	{1, 0x4d1a02, "to 100 %"},
}

// idleColor is the color of links that carried nothing.
const idleColor scene.Color = 0xc4c4c4

// line returns the style of the line of a joint, and its text under the mouse.
func (d *Drawing) line(j Joint, color scene.Color, width float64) (scene.Stroke, string) {
	if d.use == nil {
		return scene.Stroke{Color: color, Width: width}, ""
	}
	u, ok := d.busiest(&j)
	if !ok {
		return scene.Stroke{Color: idleColor, Width: width}, "carried nothing"
	}
	return scene.Stroke{Color: useColor(u.Part), Width: 2 * width},
		fmt.Sprintf("%s: busy %.0f %% of the time, %v", u.Link, 100*u.Part, u.Bytes)
}

// useColor returns the colour for a part of the time.
func useColor(part float64) scene.Color {
	for _, s := range useSteps {
		if part <= s.upTo {
			return s.color
		}
	}
	return useSteps[len(useSteps)-1].color
}

// useKey writes the meaning of line colours, and the busiest link that is drawn. It returns where
// the key ends.
func (d *Drawing) useKey(p *scene.Picture, y float64) float64 {
	if d.use == nil {
		return y
	}
	x := pad
	add := func(color scene.Color, width float64, name string) {
		wide := 18 + scene.TextWidth(name, smallSize) + 8
		if x+wide > p.Width-pad {
			x, y = pad, y+smallSize+4
		}
		p.Add(scene.Path{Points: []scene.Point{{X: x, Y: y + 3}, {X: x + 14, Y: y + 3}}, Stroke: scene.Stroke{Color: color, Width: width}})
		text(p, x+18, y+smallSize-0.5, smallSize, name)
		x += wide
	}
	add(idleColor, 0.9, "carried nothing")
	for _, s := range useSteps {
		add(s.color, 1.8, s.name)
	}
	y += smallSize + 4
	var most LinkUse
	for _, j := range d.drawnJoints() {
		if u, ok := d.busiest(&j); ok && u.Part > most.Part {
			most = u
		}
	}
	sentence := "No link of the networks that are drawn carried anything."
	if most.Link != "" {
		sentence = fmt.Sprintf("A line stands for its busiest link. Of the networks that are drawn: %s, busy %.0f %% of the time, %v.",
			most.Link, 100*most.Part, most.Bytes)
	}
	for _, part := range scene.Wrap(sentence, smallSize, p.Width-2*pad) {
		y += smallSize
		text(p, pad, y, smallSize, part)
		y += 2
	}
	return y + 2
}

// drawnJoints lists the joints of the networks in the picture.
func (d *Drawing) drawnJoints() []Joint {
	var all []Joint
	last := len(d.Stages) - 1
	for i := range d.Stages {
		if s := &d.Stages[i]; i == last && d.meshed() || i < last && members(s) > 1 {
			all = append(all, s.Joins...)
		}
	}
	return all
}
