package calibrate

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"kernbench/lab/calibrate/fit"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// simulated identifies a run: a program at a size, and the values of the parameters on which its
// time depends. The start of a collective is not among them: it is added to the time of a run.
type simulated struct {
	values  string
	program int
	elems   int
}

// wanted is a run to make.
type wanted struct {
	key simulated
	on  *run.Job
}

// key returns the key of a run in memo.
func (c *calibration) key(values []float64, program, elems int) simulated {
	var id strings.Builder
	for i := range c.params {
		if m := &c.params[i]; !m.start && c.affects(m, program) {
			id.WriteString(m.text(values[i]))
			id.WriteByte(' ')
		}
	}
	return simulated{id.String(), program, elems}
}

// start returns the start of a collective with the protocol of a program, in ns.
func (c *calibration) start(values []float64, program int) float64 {
	m := &c.params[0]
	if m.plus == nil {
		return values[c.startParam]
	}
	return values[c.startParam] + m.plus[slices.Index(protocols, c.programs[program].protocol)]
}

// settingsOf returns values of parameters as settings of a machine.
func settingsOf(params []modelParam, values []float64) []sweep.Setting {
	var all []sweep.Setting
	for i := range params {
		if !params[i].start { // a start is added to the time of a run
			all = append(all, params[i].settings(values[i])...)
		}
	}
	return all
}

func (p *modelParam) settings(value float64) []sweep.Setting {
	var all []sweep.Setting
	for k, key := range p.keys {
		v := value
		if p.plus != nil {
			v = max(0, v+p.plus[k])
		}
		all = append(all, sweep.Setting{Key: key, Value: p.text(v)})
	}
	return all
}

// text returns a value as files and simulations use it: in whole ps or MB/s.
func (p *modelParam) text(v float64) string { return strconv.FormatFloat(rounded(v), 'f', -1, 64) }

func rounded(v float64) float64 { return math.Round(v*1e3) / 1e3 }

// simulate makes the runs of programs that memo lacks. elems returns the sizes of a program, in
// elements.
func (c *calibration) simulate(ctx context.Context, values []float64, programs []int, elems func(program int) []int) error {
	settings := settingsOf(c.params, values)
	var jobs []wanted
	for _, k := range programs {
		var t *sweep.Target
		for _, n := range elems(k) {
			key := c.key(values, k, n)
			if _, done := c.memo[key]; done {
				continue
			}
			if t == nil {
				g := &c.programs[k]
				with := settings
				if len(c.result.Protocols) > 1 {
					with = append(append([]sweep.Setting{}, settings...), sweep.Setting{Key: "protocol", Value: g.protocol})
				}
				one, err := sweep.NewTarget(&c.spec.Base, c.what, g.algorithm, with)
				if err != nil {
					return err
				}
				t = &one
			}
			call := c.call
			call.Elems = n
			if sweep.Refusal(t.Plan, call) != nil {
				c.memo[key] = 0
				continue
			}
			inPlace := sweep.FitsInPlace(c.what, call) && (c.table.InPlace || !c.programs[k].apart)
			jobs = append(jobs, wanted{key, t.Job.OneCall(call, inPlace)})
			c.memo[key] = 0 // no second run
		}
	}
	return c.run(ctx, jobs)
}

// run performs jobs, as many in parallel as there are processors.
func (c *calibration) run(ctx context.Context, jobs []wanted) error {
	type ended struct {
		job  *wanted
		time unit.Time
		err  error
	}
	ends := make(chan ended)
	next, running, done := 0, 0, 0
	for next < len(jobs) || running > 0 {
		if c.spec.Progress != nil {
			c.spec.Progress(run.Progress{Phase: fmt.Sprintf("calibrate, round %d", c.result.Rounds),
				Done: int64(done), Total: int64(len(jobs))})
		}
		for ctx.Err() == nil && next < len(jobs) && running < runtime.GOMAXPROCS(0) {
			j := &jobs[next]
			next, running = next+1, running+1
			go func() {
				out, err := j.on.Execute(ctx, run.Pass{Quiet: true})
				if err != nil {
					ends <- ended{j, 0, err}
					return
				}
				ends <- ended{j, out.Launches[0].Result.Duration(), nil}
			}()
		}
		if running == 0 {
			break
		}
		e := <-ends
		running, done = running-1, done+1
		switch {
		case ctx.Err() != nil:
		case e.err != nil && run.IsInternal(e.err):
			return e.err
		case e.err != nil:
			if g := &c.programs[e.job.key.program]; !c.failed[g.algorithm] {
				c.failed[g.algorithm] = true
				c.note("%s does not run at all sizes: %v", g.algorithm, e.err)
			}
		default:
			c.memo[e.job.key] = e.time
			c.result.Simulations++
		}
	}
	return ctx.Err()
}

// anchors returns the elements of the two sizes from which larger ones are extrapolated.
func (c *calibration) anchors() (low, high int) {
	_, high = sweep.Counts(c.what, c.call, c.spec.Largest)
	_, low = sweep.Counts(c.what, c.call, c.spec.Largest/2)
	return low, high
}

// anchor returns a size from which larger ones are extrapolated, with its time.
func (c *calibration) anchor(values []float64, program, elems int) (sweep.Point, bool) {
	start := unit.Nanoseconds(c.start(values, program))
	t := c.memo[c.key(values, program, elems)]
	call := c.call
	call.Elems = elems
	return sweep.Point{Size: c.what.Bytes(call), Time: start + t}, t > 0
}

// time returns the time of a program at a row, in ns; NaN if it has none. Beyond the largest
// simulated size, the time is extrapolated from that size and its half, as perf does.
func (c *calibration) time(values []float64, program, row int) float64 {
	if n := c.rows[row].elems; n > 0 {
		if t := c.memo[c.key(values, program, n)]; t > 0 {
			return c.start(values, program) + t.Ns()
		}
		return math.NaN()
	}
	low, high := c.anchors()
	a, okLow := c.anchor(values, program, low)
	b, okHigh := c.anchor(values, program, high)
	if !okLow || !okHigh {
		return math.NaN()
	}
	return sweep.Onward(a, b, c.rows[row].Size).Ns()
}

// elemsOf returns the elements of all runs that rows need.
func (c *calibration) elemsOf(rows []int) []int {
	var all []int
	beyond := false
	for _, i := range rows {
		if n := c.rows[i].elems; n > 0 {
			all = append(all, n)
		} else {
			beyond = true
		}
	}
	if beyond {
		low, high := c.anchors()
		all = append(all, low, high)
	}
	return all
}

// A program is left out at larger sizes if at both of two sizes it takes longer than the fastest
// by this factor. One that is slow at the smaller size alone starts late, and may win by its bytes.
// One that is slow at the larger size alone may win between the two.
const (
	slowFactor = 3
	slowFrom   = unit.MiB
	slowTo     = 16 * unit.MiB
)

// times makes all runs that rows need. It begins with small sizes, so that slow programs are not
// run at large ones.
func (c *calibration) times(ctx context.Context, values []float64, rows []int) error {
	var small, large []int
	for _, i := range rows {
		if c.rows[i].Size <= slowFrom {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	all := sweep.NumbersBelow(len(c.programs))
	_, low := sweep.Counts(c.what, c.call, slowFrom)
	_, high := sweep.Counts(c.what, c.call, min(slowTo, c.spec.Largest))
	probes := []int{low, high}
	if len(large) == 0 {
		probes = probes[:1]
	}
	first := append(c.elemsOf(small), probes...)
	if err := c.simulate(ctx, values, all, func(int) []int { return first }); err != nil {
		return err
	}
	isFast := make([]bool, len(all))
	for _, probe := range probes {
		fastest := math.Inf(1)
		for k := range all {
			if t := c.memo[c.key(values, k, probe)]; t > 0 {
				fastest = min(fastest, t.Ns())
			}
		}
		for k := range all {
			t := c.memo[c.key(values, k, probe)]
			isFast[k] = isFast[k] || t > 0 && t.Ns() <= slowFactor*fastest
		}
	}
	var fast []int
	for k := range all {
		if isFast[k] {
			fast = append(fast, k)
		}
	}
	then := c.elemsOf(large)
	return c.simulate(ctx, values, fast, func(int) []int { return then })
}

// problemAt makes a problem for the fit from the simulations at some values: the times of all
// programs near the fastest. addSlopes adds their slopes.
func (f *fitter) problemAt(ctx context.Context, values []float64, free []int) (*fitPoint, error) {
	p := &fitPoint{values: values, free: free, problem: &fit.Problem{Together: f.together}}
	for _, c := range f.tables {
		rows := c.rowsOf(ToFit)
		if err := c.times(ctx, values, rows); err != nil {
			return nil, err
		}
		for _, i := range rows {
			row := fit.Row{Measured: c.rows[i].Time.Ns(), Fitted: true}
			fastest, k := c.fastest(values, i)
			if k < 0 {
				return nil, fmt.Errorf("no program runs at %v: %s", c.rows[i].Size, lastNote(c.result.Notes))
			}
			at := nearRow{table: c, row: i}
			for k := range c.programs {
				const promising = 3
				if t := c.time(values, k, i); t <= promising*fastest {
					at.programs = append(at.programs, k)
					row.Programs = append(row.Programs, fit.Program{Time: t, Slope: make([]float64, len(free))})
				}
			}
			p.near, p.problem.Rows = append(p.near, at), append(p.problem.Rows, row)
		}
	}
	for _, i := range free {
		m := &f.params[i]
		p.problem.Params = append(p.problem.Params, fit.Param{At: values[i], Prior: m.base, Fixed: f.fixed(i), Inverse: m.rate})
	}
	p.limit(1) // until the slopes are known
	p.loss = p.problem.Loss(pick(values, free))
	return p, nil
}

// addSlopes finds the slope of times for each parameter, by a small change of it.
func (f *fitter) addSlopes(ctx context.Context, p *fitPoint) error {
	needs := map[*calibration][][]int{}
	for _, c := range f.tables {
		needs[c] = make([][]int, len(c.programs))
	}
	for _, at := range p.near {
		for _, k := range at.programs {
			needs[at.table][k] = append(needs[at.table][k], at.row)
		}
	}
	for n, i := range p.free {
		m := &f.params[i]
		there := append([]float64{}, p.values...)
		there[i] = rounded(p.values[i]*1.05 + visibleStep(m))
		from, to := p.values[i], there[i]
		if m.rate {
			from, to = 1/from, 1/to
		}
		for _, c := range f.tables {
			if m.start {
				break
			}
			if err := c.simulate(ctx, there, sweep.NumbersBelow(len(c.programs)), func(k int) []int {
				if !c.affects(m, k) {
					return nil
				}
				return c.elemsOf(needs[c][k])
			}); err != nil {
				return err
			}
		}
		for r, at := range p.near {
			for g, k := range at.programs {
				program := &p.problem.Rows[r].Programs[g]
				switch c := at.table; {
				case m.start:
					if c.startParam == i { // it is added to each time
						program.Slope[n] = 1
					}
				case c.affects(m, k):
					if s := (c.time(there, k, at.row) - program.Time) / (to - from); !math.IsNaN(s) {
						program.Slope[n] = s
					}
				}
			}
		}
	}
	return nil
}

// visibleStep returns the least change of a parameter that is visible in whole picoseconds.
func visibleStep(m *modelParam) float64 {
	if m.rate {
		return 0
	}
	return 5
}

// affects reports whether the times of a program can depend on a parameter. All programs depend on
// the parameters of ll, because credits have its latency.
func (c *calibration) affects(m *modelParam, program int) bool {
	switch m.name {
	case "ll128", "simple":
		return c.programs[program].protocol == m.name
	}
	return true
}
