package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"kernbench/unit"
)

// The parameters of the library in these tests, in this order: launch, the hop of three protocols,
// a message's overhead, and the rate. They are in ns and bytes per ns.
var (
	truth = []float64{6600, 600, 1900, 3400, 150, 230}
	wrong = []float64{2000, 1200, 1200, 1200, 50, 400}
)

// library returns the programs of a library of 8 ranks at a size, as planes over its parameters
// near at. They are a ring and a tree, each with three protocols.
func library(size float64, at []float64) []Program {
	var all []Program
	for _, a := range []struct{ steps, bytes float64 }{{14, 14. / 8}, {6, 3}} {
		for k, efficiency := range []float64{0.5, 0.9375, 1} {
			g := Program{Slope: make([]float64, len(at))}
			g.Slope[0], g.Slope[1+k] = 1, a.steps
			g.Slope[4] = a.steps + math.Floor(a.bytes*size/(1<<20))
			g.Slope[5] = a.bytes * size / efficiency
			for i, v := range at {
				if i == 5 {
					v = 1 / v
				}
				g.Time += g.Slope[i] * v
			}
			all = append(all, g)
		}
	}
	return all
}

// measured returns the table of a library with true parameters, seen from wrong ones. Every third
// size is held out.
func measured(noise float64, random *rand.Rand) *Problem {
	p := &Problem{}
	for i, v := range wrong {
		p.Params = append(p.Params, Param{At: v, Prior: v, Min: 1e-3, Max: 1e9, Inverse: i == 5})
	}
	for i := 3; i < 31; i++ {
		size := float64(int64(1) << i)
		row := Row{Measured: math.Inf(1), Fitted: i%3 != 1, Programs: library(size, wrong)}
		for _, g := range library(size, truth) {
			row.Measured = min(row.Measured, g.Time)
		}
		if noise > 0 {
			row.Measured *= 1 + noise*(2*random.Float64()-1)
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

// TestFitFindsTheParameters: those with which the table was made. What the table tells only
// together, a hop's latency and its overhead, is found together, and each of them less well. With
// noise, times are as near as noise is, and the true parameters lie in the ranges of the fit.
func TestFitFindsTheParameters(t *testing.T) {
	for _, test := range []struct {
		noise                 float64
		together, alone, time float64 // how far off each may be
	}{{0, 0.01, 0.2, 0.003}, {0.05, 0.3, math.Inf(1), 0.05}} {
		t.Run(fmt.Sprint(test.noise), func(t *testing.T) {
			p := measured(test.noise, rand.New(rand.NewPCG(1, 2)))
			got := p.Fit()
			t.Logf("%.4g", got)
			near := func(name string, got, want, most float64) {
				if off := math.Abs(math.Log(got / want)); off > most {
					t.Errorf("%s: %.4g, want %.4g within %v", name, got, want, most)
				}
			}
			near("launch", got[0], truth[0], test.together)
			near("rate", got[5], truth[5], test.together)
			for i := 1; i <= 3; i++ {
				near(fmt.Sprint("hop of protocol ", i), got[i]+got[4], truth[i]+truth[4], test.together)
			}
			near("overhead", got[4], truth[4], test.alone)
			clean := measured(0, nil)
			for i := range clean.Rows {
				now, _ := clean.Time(i, got)
				near(fmt.Sprint("row ", i), now, clean.Rows[i].Measured, test.time)
			}
			for i := range got {
				low, high := p.Range(got, i)
				if truth[i] < low*0.97 || truth[i] > high*1.03 {
					t.Errorf("parameter %d: from %.4g to %.4g, and the truth is %.4g", i, low, high, truth[i])
				}
			}
		})
	}
}

// TestTogether: a table of one program determines the sum of the start and the hops. Both change
// by one factor, the fixed part of a hop included, and the rate by its own. A held value stays.
func TestTogether(t *testing.T) {
	const factor, hops, fixed = 1.5, 14, 400
	p := &Problem{Together: true}
	for _, prior := range []float64{6000, 200, 250} {
		p.Params = append(p.Params, Param{At: prior, Prior: prior, Min: 1e-3, Max: 1e9})
	}
	p.Params[1].Fixed = fixed
	p.Params[2].Inverse = true
	for bytes := 8.; bytes < 1e9; bytes *= 8 {
		latency := 6000. + hops*(200+fixed)
		p.Rows = append(p.Rows, Row{Measured: factor*latency + bytes/200, Fitted: true, Programs: []Program{
			{Time: latency + bytes/250, Slope: []float64{1, hops, bytes}}}})
	}
	near := func(got []float64, want ...float64) {
		t.Helper()
		for i := range want {
			if math.Abs(got[i]/want[i]-1) > 0.01 {
				t.Errorf("%.4g, want %.4g", got, want)
				return
			}
		}
	}
	near(p.Fit(), 9000, 500, 200)
	held := p.descend(p.starts(), map[int]float64{0: 9000 - hops*100}, 0.3, 0.1)
	near(held, 9000-hops*100, 600, 200)
}

// TestFitDoesNotSeeWhatIsHeldOut: what stands there changes nothing.
func TestFitDoesNotSeeWhatIsHeldOut(t *testing.T) {
	p := measured(0, nil)
	before := p.Fit()
	for i := range p.Rows {
		if !p.Rows[i].Fitted {
			p.Rows[i].Measured *= 100
		}
	}
	after := p.Fit()
	if fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("%v, then %v", before, after)
	}
}

// TestRange: narrow around what the table tells, without an end where it tells nothing.
func TestRange(t *testing.T) {
	p := measured(0, nil)
	for i := range p.Rows {
		p.Rows[i].Programs = p.Rows[i].Programs[:1] // a ring with the first protocol alone
		p.Rows[i].Measured = p.time(&p.Rows[i].Programs[0], truth)
	}
	got := p.Fit()
	for i, want := range []struct{ low, high float64 }{
		0: {0, 18000}, // launch and 14 hops are one constant
		1: {0, 1300},
		2: {0, math.Inf(1)}, // no row uses the protocol
		3: {0, math.Inf(1)},
		5: {200, 270},
	} {
		if i == 4 {
			continue
		}
		low, high := p.Range(got, i)
		if low < want.low || low > got[i] || high < got[i] || high > want.high {
			t.Errorf("parameter %d: %.4g from %.4g to %.4g, want it within %v", i, got[i], low, high, want)
		}
		if (i == 2 || i == 3) && (low != 0 || !math.IsInf(high, 1)) {
			t.Errorf("parameter %d: from %.4g to %.4g, and nothing tells about it", i, low, high)
		}
		if i == 5 && (low == 0 || math.IsInf(high, 1)) {
			t.Errorf("rate from %.4g to %.4g", low, high)
		}
	}
}

// TestFewSizesDoNotPullTheRest: sizes that no parameters explain spoil the others little.
func TestFewSizesDoNotPullTheRest(t *testing.T) {
	p := measured(0, nil)
	for i := 10; i < 13; i++ {
		p.Rows[i].Measured *= 1.5
	}
	got := p.Fit()
	for i := 15; i < len(p.Rows); i++ {
		if now, _ := p.Time(i, got); math.Abs(math.Log(now/p.Rows[i].Measured)) > 0.03 {
			t.Errorf("row %d: %.4g, want %.4g", i, now, p.Rows[i].Measured)
		}
	}
}

func TestExcluded(t *testing.T) {
	points := parseFile(t, "mi300x_8gpu_xgmi_allreduce.tsv").Points
	for i, why := range Excluded(points) {
		if excluded := points[i].Size <= 512; (why != "") != excluded {
			t.Errorf("%v: %q", points[i].Size, why)
		}
	}
	falls := Falls(points)
	if len(falls) != 1 || falls[0].From != 512 || falls[0].To != unit.KiB {
		t.Errorf("%v", falls)
	}
	for _, name := range []string{"a100_8gpu_nvswitch_azure_allreduce.tsv", "b200_8gpu_allreduce.tsv"} {
		points := parseFile(t, name).Points
		for i, why := range Excluded(points) {
			if why != "" {
				t.Errorf("%s, %v: %s", name, points[i].Size, why)
			}
		}
	}
}
