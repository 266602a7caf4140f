package plot

import (
	"math"
	"slices"
)

// Crossings returns where the best of the computed curves changes between two neighbouring values
// of x, on straight lines of log-log axes. A curve that ties with the best of the value before is
// no change, and where one of the two curves has no point, there is no crossing.
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
			if c, ok := crossing(xs[i-1], x, at[last], at[now]); ok {
				all = append(all, Crossing{c, curves[last].Name, curves[now].Name})
			}
		}
		last = now
	}
	return all
}

// crossing returns where two lines between two values of x cross.
func crossing(x0, x1 float64, a, b map[float64]float64) (XY, bool) {
	a0, ok0 := a[x0]
	a1, ok1 := a[x1]
	b0, ok2 := b[x0]
	b1, ok3 := b[x1]
	if !ok0 || !ok1 || !ok2 || !ok3 {
		return XY{}, false
	}
	before, behind := math.Log(a0/b0), math.Log(a1/b1)
	if before == behind {
		return XY{}, false
	}
	f := before / (before - behind)
	if f < 0 || f > 1 {
		return XY{}, false
	}
	return XY{x0 * math.Pow(x1/x0, f), a0 * math.Pow(a1/a0, f)}, true
}
