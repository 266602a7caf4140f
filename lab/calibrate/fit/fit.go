package fit

import (
	"math"
	"slices"
)

// Fit finds the values with the smallest loss. It begins at several places, always the same ones:
// the fastest program of a row changes with the values, so that there are several valleys.
func (p *Problem) Fit() []float64 {
	return p.descend(p.starts(), nil, 0.3, 0.1, 0.01)
}

// starts returns the values for which times are known, and those with each parameter, and all
// latencies together, above and below.
func (p *Problem) starts() [][]float64 {
	at := make([]float64, len(p.Params))
	for i := range p.Params {
		at[i] = p.Params[i].At
	}
	all := [][]float64{at}
	for _, factor := range []float64{3, 1. / 3} {
		together := slices.Clone(at)
		for i := range at {
			one := slices.Clone(at)
			one[i] *= factor
			all = append(all, one)
			if !p.Params[i].Inverse {
				together[i] *= factor
			}
		}
		all = append(all, together)
	}
	return all
}

// descend goes downhill from each of the starts with the first of the sizes of a simplex. It
// continues from the best with each of the other sizes. Held parameters keep their values. It works
// on logarithms: all parameters are above 0 and known to a factor, if at all.
func (p *Problem) descend(starts [][]float64, held map[int]float64, sizes ...float64) []float64 {
	var free, joint []int // joint: all that the last axis changes
	for i := range p.Params {
		if _, ok := held[i]; ok {
			continue
		}
		if p.joint(i) {
			joint = append(joint, i)
		} else {
			free = append(free, i)
		}
	}
	axes := len(free) + min(1, len(joint))
	values := func(x []float64) []float64 {
		v := make([]float64, len(p.Params))
		for i := range v {
			v[i] = held[i]
		}
		for k, i := range free {
			v[i] = math.Exp(math.Max(math.Log(p.Params[i].Min), math.Min(math.Log(p.Params[i].Max), x[k])))
		}
		for _, i := range joint {
			q := &p.Params[i]
			v[i] = math.Max(q.Min, math.Min(q.Max, q.times(math.Exp(x[axes-1]))))
		}
		return v
	}
	if axes == 0 {
		return values(nil)
	}
	least, best := math.Inf(1), []float64(nil)
	down := func(from []float64, size float64) {
		x, loss := minimize(func(x []float64) float64 { return p.Loss(values(x)) }, from, size)
		if best == nil || loss < least {
			least, best = loss, x
		}
	}
	for _, s := range starts {
		x := make([]float64, axes)
		for k, i := range free {
			x[k] = math.Log(s[i])
		}
		for _, i := range joint {
			x[axes-1] += math.Log(p.Params[i].factor(s[i])) / float64(len(joint))
		}
		down(x, sizes[0])
	}
	for _, size := range sizes[1:] {
		down(best, size)
	}
	return values(best)
}

// Clear is the rise of the mean deviation at which a value counts as contradicted by the table.
const Clear = 0.01

// widest is the largest factor that Range tries.
const widest = 10

// Range returns the interval of a parameter in which the mean deviation rises by less than Clear,
// with all others fitted anew. A bound is 0 or infinite if the deviation does not rise within the
// searched range: the table does not determine that side.
func (p *Problem) Range(fitted []float64, param int) (low, high float64) {
	return p.edge(fitted, param, -1), p.edge(fitted, param, 1)
}

// edge looks in one direction, in steps that double, and then halves the last one.
func (p *Problem) edge(fitted []float64, param int, direction float64) float64 {
	most := p.Deviation(fitted) + Clear
	at := func(d float64) float64 { return fitted[param] * math.Exp(direction*d) }
	from := fitted
	tolerates := func(d float64) bool {
		refit := p.descend([][]float64{from}, map[int]float64{param: at(d)}, 0.05)
		if p.Deviation(refit) > most {
			return false
		}
		from = refit
		return true
	}
	const first, fine = 0.02, 0.02 // as factors, about
	inside, outside := 0.0, first
	for ; ; outside = 2 * outside {
		if outside = min(outside, math.Log(widest)); outside == inside {
			return at(math.Inf(1))
		}
		if !tolerates(outside) {
			break
		}
		inside = outside
	}
	for outside-inside > fine {
		middle := (inside + outside) / 2
		if tolerates(middle) {
			inside = middle
		} else {
			outside = middle
		}
	}
	return at(inside)
}
