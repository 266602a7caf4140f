package plot

import (
	"cmp"
	"math"
	"slices"
)

// mostColoured is how many curves a reader tells apart by colour. Of more, the others are grey.
const mostColoured = 6

// others is the name of the grey curves in the legend.
const others = "others"

// shown returns the names of the computed curves that have a colour: all, or, of more than can be
// told apart, those that are nearest to the best over all values of x.
func (f *Figure) shown() map[string]bool {
	names := map[string]bool{}
	for i := range f.Panel {
		for _, c := range f.Panel[i].Curves {
			if c.Role == Computed {
				names[c.Name] = true
			}
		}
	}
	at := slices.IndexFunc(f.Panel, func(p Panel) bool { return p.Better != Neither })
	if len(names) <= mostColoured || at < 0 {
		return names
	}
	order := nearest(f.Panel[at].Curves, f.Panel[at].Better)
	clear(names)
	for _, name := range order[:min(len(order), mostColoured)] {
		names[name] = true
	}
	return names
}

// nearest lists computed curves: first those that are the best at most values of x, then those that
// come nearest to the best on average.
func nearest(curves []Curve, better Better) []string {
	sign := 1.0
	if better == Higher {
		sign = -1
	}
	best := map[float64]float64{} // logarithms, where less is better
	for _, c := range curves {
		for _, p := range c.Points {
			if y := sign * math.Log(p.Y); c.Role == Computed && p.Y > 0 {
				if b, known := best[p.X]; !known || y < b {
					best[p.X] = y
				}
			}
		}
	}
	type score struct {
		name string
		wins int
		mean float64
	}
	var all []score
	for _, c := range curves {
		if c.Role != Computed {
			continue
		}
		s := score{name: c.Name}
		sum, n := 0.0, 0
		for _, p := range c.Points {
			if p.Y <= 0 {
				continue
			}
			behind := sign*math.Log(p.Y) - best[p.X]
			if behind == 0 {
				s.wins++
			}
			sum, n = sum+behind, n+1
		}
		s.mean = math.Inf(1)
		if n > 0 {
			s.mean = sum / float64(n)
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b score) int { return cmp.Or(b.wins-a.wins, cmp.Compare(a.mean, b.mean)) })
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.name
	}
	return names
}
