package draw

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"kernbench/machine"
)

// The largest grid, and the longest list of switches, that a sketch shows.
const (
	sketchSide  = 16
	sketchLines = 12
)

// Sketch draws a network with letters, a line after the other.
func Sketch(s *Stage) []string {
	var members, hubs []int
	for i := range s.Nodes {
		if s.Nodes[i].Member {
			members = append(members, i)
		} else if s.Nodes[i].At < 0 {
			hubs = append(hubs, i)
		}
	}
	var lines []string
	switch {
	case len(members) <= 1 && s.Member != "router":
	case s.Look.Layout == machine.Line:
		names := namesOf(s, members)
		if len(names) > 8 {
			names = slices.Concat(names[:4], []string{"..."}, names[len(names)-2:])
		}
		lines = append(lines, strings.Join(append(names, names[0]), " -- "))
	case s.Look.Layout == machine.EachOther:
		lines = append(lines, runsOf(namesOf(s, members))+" -- each other")
	case s.Look.Layout == machine.Grid:
		lines = grid(s)
	}
	for i, hub := range hubs {
		if i == sketchLines {
			lines = append(lines, fmt.Sprintf("... and %d more", len(hubs)-i))
			break
		}
		var at, beyond []int
		for _, j := range s.Joins {
			other := -1
			switch hub {
			case j.From:
				other = j.To
			case j.To:
				other = j.From
			}
			switch {
			case other < 0:
			case s.Nodes[other].Member:
				at = append(at, other)
			default:
				beyond = append(beyond, other)
			}
		}
		line := s.Nodes[hub].Name
		for _, others := range [][]int{at, beyond} {
			if slices.Sort(others); len(others) > 0 {
				line += " -- " + runsOf(namesOf(s, slices.Compact(others)))
			}
		}
		lines = append(lines, line)
	}
	if s.Member == "router" {
		lines = append(lines, "* links out of the cube")
	}
	return lines
}

func namesOf(s *Stage, nodes []int) []string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = s.Nodes[n].Name
	}
	return names
}

// runsOf writes names that count up as from-to.
func runsOf(names []string) string {
	var parts []string
	for lo := 0; lo < len(names); {
		prefix, n := numbered(names[lo])
		hi := lo + 1
		for ; hi < len(names); hi++ {
			if p, k := numbered(names[hi]); n < 0 || p != prefix || k != n+hi-lo {
				break
			}
		}
		switch {
		case hi-lo > 2:
			parts = append(parts, names[lo]+"-"+strconv.Itoa(n+hi-lo-1))
		default:
			parts = append(parts, names[lo:hi]...)
		}
		lo = hi
	}
	if len(parts) > 8 {
		parts = append(parts[:7], fmt.Sprintf("... (%d)", len(names)))
	}
	return strings.Join(parts, ", ")
}

// numbered parts a name from the number at its end; -1: there is none.
func numbered(name string) (prefix string, n int) {
	prefix = strings.TrimRight(name, "0123456789")
	n, err := strconv.Atoi(name[len(prefix):])
	if err != nil {
		return name, -1
	}
	return prefix, n
}

// grid draws the members of a mesh or torus: the first two dimensions of it.
func grid(s *Stage) []string {
	w, h := s.Dims[0], 1
	if len(s.Dims) > 1 {
		h = s.Dims[1]
	}
	if w > sketchSide || h > sketchSide {
		return []string{fmt.Sprintf("%s to %s, row by row", s.Nodes[0].Name, s.Nodes[w*h-1].Name)}
	}
	cells, wide := make([]string, w*h), 0
	for i := range cells {
		cells[i] = cellOf(s, i)
		wide = max(wide, utf8.RuneCountInString(cells[i]))
	}
	joined := func(a, b int) bool {
		return slices.ContainsFunc(s.Joins, func(j Joint) bool { return j.From == a && j.To == b || j.From == b && j.To == a })
	}
	around := func(a, b, n int) string {
		if n > 2 && joined(a, b) {
			return "~"
		}
		return " "
	}
	var lines []string
	column := func(mark func(x int) string) {
		var line strings.Builder
		line.WriteString(" ")
		for x := range w {
			text := mark(x)
			line.WriteString(text + strings.Repeat(" ", wide+2-utf8.RuneCountInString(text)))
		}
		if text := strings.TrimRight(line.String(), " "); text != "" {
			lines = append(lines, text)
		}
	}
	wrapped := func(x int) string { return around(x, (h-1)*w+x, h) }
	column(wrapped)
	for y := range h {
		var line strings.Builder
		line.WriteString(around(y*w, y*w+w-1, w))
		for x := range w {
			cell := cells[y*w+x]
			line.WriteString(cell)
			fill := " "
			if x+1 < w && joined(y*w+x, y*w+x+1) {
				fill = "-"
			}
			if x+1 < w {
				line.WriteString(strings.Repeat(fill, wide+2-utf8.RuneCountInString(cell)))
			}
		}
		lines = append(lines, line.String()+around(y*w, y*w+w-1, w))
		if y+1 < h {
			column(func(x int) string {
				if joined(y*w+x, y*w+w+x) {
					return "|"
				}
				return ""
			})
		}
	}
	column(wrapped)
	for i, n := range s.Dims[min(2, len(s.Dims)):] {
		lines = append(lines, fmt.Sprintf("dimension %d: %d of these planes", i+3, n))
	}
	if s.Look.Wraps {
		lines = append(lines, "~ goes round to the other side")
	}
	return lines
}

// cellOf returns a member in a grid: its name or, of a router, what is at it.
func cellOf(s *Stage, i int) string {
	n := &s.Nodes[i]
	if n.Kind != "router" {
		return n.Name
	}
	var at []string
	for k := range s.Nodes {
		if other := &s.Nodes[k]; !other.Member && other.At == i {
			at = append(at, other.Name)
		}
	}
	text := "o"
	if len(at) > 0 {
		text = runsOf(at)
	}
	if n.Out > 0 {
		text += "*"
	}
	return text
}
