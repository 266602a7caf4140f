package plot

import (
	"math"
	"slices"
	"strconv"

	"kernbench/unit"
)

// Scale maps the values of an axis to positions.
type Scale int

// The scales of axes.
const (
	Linear Scale = iota
	Log2         // ticks at powers of two
	Log10        // ticks at 1, 2 and 5 times powers of ten
)

// Axis is one of the two axes of a panel.
type Axis struct {
	Name  string
	Scale Scale
	Label func(float64) string // of a tick; nil: the number
	Ticks []float64            // where labels may be; nil: where the scale has them
}

func (a *Axis) label(v float64) string {
	if a.Label != nil {
		return a.Label(v)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// shows reports whether the scale can show a value.
func (a *Axis) shows(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (a.Scale == Linear || v > 0)
}

// place returns where a value is on an axis, in units of the scale.
func (a *Axis) place(v float64) float64 {
	switch a.Scale {
	case Log2:
		return math.Log2(v)
	case Log10:
		return math.Log10(v)
	}
	return v
}

// span is an axis with its ends, in points of the picture.
type span struct {
	axis     *Axis
	from, to float64 // values at the ends
	at, end  float64 // where these are
}

func (s *span) pos(v float64) float64 {
	a, b := s.axis.place(s.from), s.axis.place(s.to)
	return s.at + (s.end-s.at)*(s.axis.place(v)-a)/(b-a)
}

// extent returns the least and the largest value, and false if there is none.
func extent(values []float64) (least, most float64, ok bool) {
	if len(values) == 0 {
		return 0, 0, false
	}
	return slices.Min(values), slices.Max(values), true
}

// decadeSteps are the ticks of a log axis within a factor of ten, and those of a linear one.
var decadeSteps = []float64{1, 2, 5}

// niceDown returns the largest tick of a log axis that is not above a value; niceUp the least that
// is not below.
func niceDown(v float64) float64 {
	base := math.Pow(10, math.Floor(math.Log10(v)))
	best := base
	for _, s := range decadeSteps {
		if s*base <= v*(1+1e-9) {
			best = s * base
		}
	}
	return best
}

func niceUp(v float64) float64 {
	base := math.Pow(10, math.Floor(math.Log10(v)))
	for _, s := range decadeSteps {
		if s*base >= v*(1-1e-9) {
			return s * base
		}
	}
	return 10 * base
}

// widen returns the ends of an axis: of a y axis with ticks at both.
func (a *Axis) widen(least, most float64) (from, to float64) {
	switch a.Scale {
	case Log10:
		from, to = niceDown(least), niceUp(most)
		if from == to {
			from, to = niceDown(from*0.99), niceUp(to*1.01)
		}
	case Log2:
		pad := math.Exp2(max(0.11, 0.015*math.Log2(most/least))) // space for the markers at both ends
		from, to = least/pad, most*pad
		if most < 2*least { // with a power of two at least
			from, to = math.Exp2(math.Floor(math.Log2(least))), math.Exp2(math.Ceil(math.Log2(most)))
		}
		if from == to {
			from, to = from/2, to*2
		}
	default:
		step := linearStep(least, most)
		from, to = step*math.Floor(least/step+1e-9), step*math.Ceil(most/step-1e-9)
		if from == to {
			to += step
		}
	}
	return from, to
}

// linearStep returns a step that puts at most six ticks between two values.
func linearStep(least, most float64) float64 {
	d := most - least
	if d <= 0 {
		d = max(math.Abs(most), 1)
	}
	return niceUp(d / 5)
}

// ticks returns values between the ends of an axis, each with its label, at distances that leave
// space for the labels. need returns the length that a label takes along the axis.
func (s *span) ticks(need func(label string) float64) []float64 {
	a := s.axis
	long := math.Abs(s.end - s.at)
	fits := func(all []float64) bool {
		used, last := 0.0, math.Inf(-1)
		for _, v := range all {
			p, n := math.Abs(s.pos(v)-s.at), need(a.label(v))
			if p-n/2 < last {
				return false
			}
			last = p + n/2
			used += n
		}
		return used <= long || len(all) <= 1
	}
	for _, all := range s.candidates() {
		if len(all) > 0 && fits(all) {
			return all
		}
	}
	return nil
}

// candidates are sets of ticks, the densest first.
func (s *span) candidates() [][]float64 {
	a := s.axis
	within := func(v float64) bool { return v >= s.from*(1-1e-9) && v <= s.to*(1+1e-9) }
	if a.Scale == Linear {
		within = func(v float64) bool {
			eps := (s.to - s.from) * 1e-9
			return v >= s.from-eps && v <= s.to+eps
		}
	}
	var sets [][]float64
	thinned := func(all []float64) {
		for _, every := range []int{1, 2, 3, 4, 5, 8, 10, 20, 50, 100} {
			var some []float64
			for i := 0; i < len(all); i += every {
				some = append(some, all[i])
			}
			sets = append(sets, some)
		}
	}
	if len(a.Ticks) > 0 {
		var all []float64
		for _, v := range a.Ticks {
			if within(v) {
				all = append(all, v)
			}
		}
		thinned(all)
		return sets
	}
	switch a.Scale {
	case Log2:
		lo, hi := int(math.Ceil(math.Log2(s.from)-1e-9)), int(math.Floor(math.Log2(s.to)+1e-9))
		for _, every := range []int{1, 2, 5, 10, 20} {
			var some []float64
			for e := lo; e <= hi; e++ {
				if e%every == 0 {
					some = append(some, math.Exp2(float64(e)))
				}
			}
			sets = append(sets, some)
		}
	case Log10:
		lo, hi := int(math.Floor(math.Log10(s.from)-1e-9)), int(math.Ceil(math.Log10(s.to)+1e-9))
		powers := func(steps ...float64) (all []float64) {
			for e := lo; e <= hi; e++ {
				for _, m := range steps {
					if v := m * math.Pow(10, float64(e)); within(v) {
						all = append(all, v)
					}
				}
			}
			return all
		}
		sets = append(sets, powers(decadeSteps...))
		if tens := powers(1); len(tens) >= 3 {
			sets = append(sets, tens)
		}
		thinned(powers(decadeSteps...))
	default:
		step := linearStep(s.from, s.to)
		var all []float64
		for i := math.Ceil(s.from/step - 1e-9); i*step <= s.to+step*1e-9; i++ {
			all = append(all, i*step)
		}
		thinned(all)
	}
	return sets
}

// Bytes labels sizes: 4 KiB.
func Bytes(v float64) string { return unit.Bytes(math.Round(v)).String() }

// Nanoseconds labels times that are given in nanoseconds, in the unit that fits: 20 µs.
func Nanoseconds(ns float64) string {
	for _, u := range []struct {
		name string
		ns   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}, {"ns", 1}} {
		if math.Abs(ns) >= u.ns*(1-1e-9) {
			return three(ns/u.ns) + " " + u.name
		}
	}
	return three(ns) + " ns"
}

// Gigabytes labels rates that are given in GB/s: 20 GB/s, 500 MB/s.
func Gigabytes(gbs float64) string {
	for _, u := range []struct {
		name string
		gbs  float64
	}{{"TB/s", 1e3}, {"GB/s", 1}, {"MB/s", 1e-3}} {
		if math.Abs(gbs) >= u.gbs*(1-1e-9) {
			return three(gbs/u.gbs) + " " + u.name
		}
	}
	return three(gbs*1e6) + " kB/s"
}

// three prints three digits, without an exponent.
func three(v float64) string {
	digits := 0
	if a := math.Abs(v); a > 0 {
		digits = max(0, 2-int(math.Floor(math.Log10(a)+1e-9)))
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'f', min(digits, 12), 64), 64)
	return strconv.FormatFloat(v, 'f', -1, 64)
}
