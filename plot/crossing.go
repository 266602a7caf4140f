package plot

import (
	"math"
	"slices"
)

// Crossings returns where the best of the computed curves changes between two neighbouring values
// of x, on straight lines of log-log axes. A curve that ties with the best of the previous value is
// no change. Where one of the two curves has no point, there is no crossing.
func Crossings(curves []Curve, better Better) []Crossing {
	if better == Neither {
		return nil
	}
	at := make([]map[float64]float64, len(curves))
	var xs []float64
	for i, c := range curves {
		at[i] = map[float64]float64{}
		if c.Role != Computed {
			continue
		}
		for _, p := range c.Points {
			if p.X > 0 && p.Y > 0 {
				at[i][p.X] = p.Y
				xs = append(xs, p.X)
			}
		}
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	best := func(x float64, before int) int {
		b := -1
		if before >= 0 {
			if _, ok := at[before][x]; ok {
				b = before
			}
		}
		for i := range curves {
			y, ok := at[i][x]
			if ok && (b < 0 || better == Lower && y < at[b][x] || better == Higher && y > at[b][x]) {
				b = i
			}
		}
		return b
	}
	var all []Crossing
	last := -1
	for i, x := range xs {
		now := best(x, last)
		if i > 0 && last >= 0 && now != last {
			for _, c := range between(xs[i-1], x, at, last, now, better) {
				all = append(all, Crossing{c.at, curves[c.from].Name, curves[c.to].Name})
			}
		}
		last = now
	}
	return all
}

// change is a point at which one curve becomes the best instead of another.
type change struct {
	at       XY
	from, to int
}

// between follows the best of the lines between two values of x, from one curve to another.
func between(x0, x1 float64, at []map[float64]float64, from, to int, better Better) []change {
	sign := 1.0
	if better == Higher {
		sign = -1
	}
	// line returns the logarithms at both ends, where less is better.
	line := func(i int) (a, b float64, ok bool) {
		y0, ok0 := at[i][x0]
		y1, ok1 := at[i][x1]
		return sign * math.Log(y0), sign * math.Log(y1), ok0 && ok1
	}
	var all []change
	done := 0.0
	for now := from; now != to; {
		a0, a1, ok := line(now)
		if !ok {
			return nil
		}
		next, where := -1, 2.0
		for i := range at {
			b0, b1, ok := line(i)
			if i == now || !ok || b1 >= a1 { // it was not worse before
				continue
			}
			f := (b0 - a0) / ((b0 - a0) + (a1 - b1))
			if f >= done-1e-12 && (f < where || f == where && i == to) {
				next, where = i, f
			}
		}
		if next < 0 {
			return nil
		}
		x := x0 * math.Pow(x1/x0, where)
		all = append(all, change{XY{x, math.Exp(sign * (a0 + where*(a1-a0)))}, now, next})
		now, done = next, where
	}
	return all
}
