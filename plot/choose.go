package plot

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// mostColoured is the number of curves that a reader can distinguish by colour. Further ones are
// grey.
const mostColoured = 6

// shown returns the names of the computed curves that get a colour. If there are more than colours,
// it takes those that are the best at some x. Then come those that are nearest to the best over all
// values of x. Of curves that coincide it takes one.
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
	clear(names)
	for _, name := range leading(f.Panel[at].Curves, f.Panel[at].Better) {
		names[name] = true
	}
	return names
}

// leading lists the curves that have a colour.
func leading(curves []Curve, better Better) []string {
	var order []*Curve // the nearest first
	for _, name := range nearest(curves, better) {
		order = append(order, &curves[slices.IndexFunc(curves, func(c Curve) bool { return c.Name == name })])
	}
	var chosen []*Curve
	add := func(c *Curve) {
		if len(chosen) < mostColoured && !slices.ContainsFunc(chosen, func(o *Curve) bool { return coincide(c, o) }) {
			chosen = append(chosen, c)
		}
	}
	best := map[float64]float64{}
	for _, c := range order {
		for _, p := range c.Points {
			if b, known := best[p.X]; p.Y > 0 && (!known || better == Lower && p.Y < b || better == Higher && p.Y > b) {
				best[p.X] = p.Y
			}
		}
	}
	for _, x := range slices.Sorted(maps.Keys(best)) {
		is := func(c *Curve) bool { return slices.Contains(c.Points, XY{x, best[x]}) }
		if !slices.ContainsFunc(chosen, is) {
			add(order[slices.IndexFunc(order, is)])
		}
	}
	for _, c := range order {
		add(c)
	}
	names := make([]string, len(chosen))
	for i, c := range chosen {
		names[i] = c.Name
	}
	return names
}

// coincide reports whether two curves look the same: they are equal to a thousandth wherever one of
// them has a point.
func coincide(a, b *Curve) bool {
	return len(a.Points) == len(b.Points) && !slices.ContainsFunc(a.Points, func(p XY) bool {
		return !slices.ContainsFunc(b.Points, func(q XY) bool { return p.X == q.X && math.Abs(p.Y-q.Y) <= 1e-3*math.Abs(q.Y) })
	})
}

// nearest lists computed curves. First come those that are the best at most values of x. Then come
// those that are nearest to the best on average, then those with short names.
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
	slices.SortStableFunc(all, func(a, b score) int {
		return cmp.Or(b.wins-a.wins, cmp.Compare(a.mean, b.mean), cmp.Compare(len(a.name), len(b.name)))
	})
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.name
	}
	return names
}
