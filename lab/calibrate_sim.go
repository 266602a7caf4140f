package lab

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strconv"

	"kernbench/bench"
	"kernbench/calibrate"
	"kernbench/unit"
)

// simulated is a run: a program at a size, on the machine with some values of its parameters.
type simulated struct {
	values  string
	program int
	elems   int
}

// wanted is a run that is yet to be made.
type wanted struct {
	key  simulated
	on   *setting
	plus unit.Time // start of the collective
}

// settingsOf are values as settings of a machine.
func (c *calibration) settingsOf(values []float64) []Setting {
	var all []Setting
	for i := range c.params {
		all = append(all, c.params[i].settings(values[i])...)
	}
	return all
}

func (p *modelParam) settings(value float64) []Setting {
	var all []Setting
	for k, key := range p.keys {
		v := value
		if p.plus != nil {
			v += p.plus[k]
		}
		all = append(all, Setting{key, p.text(v)})
	}
	return all
}

// text is a value as a file has it, and as it is simulated: whole ps, and MB/s.
func (p *modelParam) text(v float64) string { return strconv.FormatFloat(rounded(v), 'f', -1, 64) }

func rounded(v float64) float64 { return math.Round(v*1e3) / 1e3 }

// simulate makes those runs of programs, at sizes by their elements, that have not been made yet.
func (c *calibration) simulate(ctx context.Context, values []float64, programs []int, elems func(program int) []int) error {
	settings := c.settingsOf(values)
	id := fmt.Sprint(settings)
	var jobs []wanted
	for _, k := range programs {
		var t *perfTarget
		for _, n := range elems(k) {
			key := simulated{id, k, n}
			if _, done := c.memo[key]; done {
				continue
			}
			if t == nil {
				g := &c.programs[k]
				with := settings
				if len(c.result.Protocols) > 1 {
					with = append(append([]Setting{}, settings...), Setting{"protocol", g.protocol})
				}
				one, err := c.plan.target(g.algorithm, with)
				if err != nil {
					return err
				}
				t = &one
			}
			call := c.call
			call.Elems = n
			if check := t.plan.Algorithm.Check; check != nil && refusal(check, call) != nil {
				c.memo[key] = 0
				continue
			}
			inPlace := fitsInPlace(c.plan.what, call) && (c.table.InPlace || !c.programs[k].apart)
			x := *t.x
			x.NElem, x.DType, x.Op, x.program = max(1, n), call.Type, call.Op, bench.Once(inPlace, call.Root)
			jobs = append(jobs, wanted{key, &x, t.plan.Start})
			c.memo[key] = 0 // asked for once
		}
	}
	return c.run(ctx, jobs)
}

// run makes runs, as many beside each other as there are processors.
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
			c.spec.Progress(Progress{Phase: fmt.Sprintf("calibrate, round %d", c.result.Rounds), Done: int64(done), Total: int64(len(jobs))})
		}
		for ctx.Err() == nil && next < len(jobs) && running < runtime.GOMAXPROCS(0) {
			j := &jobs[next]
			next, running = next+1, running+1
			go func() {
				out, err := j.on.once(ctx, pass{quiet: true})
				if err != nil {
					ends <- ended{j, 0, err}
					return
				}
				ends <- ended{j, out.launches[0].Result.Duration() + j.plus, nil}
			}()
		}
		if running == 0 {
			break
		}
		e := <-ends
		running, done = running-1, done+1
		switch {
		case ctx.Err() != nil:
		case e.err != nil && isInternal(e.err):
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

// anchors are the elements of the two sizes from which times of larger ones follow.
func (c *calibration) anchors() (low, high int) {
	_, high = counts(c.plan.what, c.call, c.spec.Largest)
	_, low = counts(c.plan.what, c.call, c.spec.Largest/2)
	return low, high
}

// time is that of a program at a row, in ns; NaN where it has none. Beyond the largest size that is
// simulated time goes on as it went between that and its half.
func (c *calibration) time(id string, program, row int) float64 {
	at := func(elems int) float64 {
		if t := c.memo[simulated{id, program, elems}]; t > 0 {
			return t.Ns()
		}
		return math.NaN()
	}
	if n := c.rows[row].elems; n > 0 {
		return at(n)
	}
	low, high := c.anchors()
	perByte := (at(high) - at(low)) / float64(c.spec.Largest-c.spec.Largest/2)
	return at(high) + perByte*float64(c.rows[row].Size-c.spec.Largest)
}

// elemsOf are the elements of all runs that rows need.
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

// Programs that take so many times what the fastest takes at a size of at least so much, are left
// out of all larger ones: what they lose by their bytes they never win back.
const (
	hopeless     = 3
	hopelessFrom = unit.MiB
)

// times makes all runs that rows need: small sizes first, so that hopeless programs are not run
// at large ones.
func (c *calibration) times(ctx context.Context, values []float64, rows []int) error {
	var small, large []int
	for _, i := range rows {
		if c.rows[i].Size <= hopelessFrom {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	all := upTo(len(c.programs))
	_, probe := counts(c.plan.what, c.call, hopelessFrom)
	first := append(c.elemsOf(small), probe)
	if err := c.simulate(ctx, values, all, func(int) []int { return first }); err != nil {
		return err
	}
	id := c.id(values)
	fastest := math.Inf(1)
	for k := range all {
		if t := c.memo[simulated{id, k, probe}]; t > 0 {
			fastest = min(fastest, t.Ns())
		}
	}
	var hopeful []int
	for k := range all {
		if t := c.memo[simulated{id, k, probe}]; t > 0 && t.Ns() <= hopeless*fastest {
			hopeful = append(hopeful, k)
		}
	}
	then := c.elemsOf(large)
	return c.simulate(ctx, values, hopeful, func(int) []int { return then })
}

func (c *calibration) id(values []float64) string { return fmt.Sprint(c.settingsOf(values)) }

// planes makes a problem for the fit of what is simulated near some values: the times of all
// programs that come near the fastest, and how they change with each parameter.
func (c *calibration) planes(ctx context.Context, values []float64, rows []int, free []int) (*calibrate.Problem, error) {
	if err := c.times(ctx, values, rows); err != nil {
		return nil, err
	}
	id := c.id(values)
	near := make([][]int, len(rows)) // programs
	needs := make([][]int, len(c.programs))
	for r, i := range rows {
		fastest := math.Inf(1)
		for k := range c.programs {
			if t := c.time(id, k, i); t < fastest {
				fastest = t
			}
		}
		for k := range c.programs {
			const promising = 2
			if t := c.time(id, k, i); t <= promising*fastest {
				near[r] = append(near[r], k)
				needs[k] = append(needs[k], i)
			}
		}
	}
	p := &calibrate.Problem{}
	moved := make([]string, len(free)) // by parameter: the id of the values with it moved
	by := make([]float64, len(free))
	for f, i := range free {
		m := &c.params[i]
		p.Params = append(p.Params, calibrate.Param{At: values[i], Prior: m.base, Min: 1e-3, Max: 1e6, Inverse: m.rate})
		there := append([]float64{}, values...)
		there[i] = rounded(values[i]*1.05 + nudge(m))
		moved[f], by[f] = c.id(there), there[i]
		if m.name == paramLaunch {
			continue // times follow it, whatever runs
		}
		if err := c.simulate(ctx, there, upTo(len(c.programs)), func(k int) []int {
			if !c.affects(m, k) {
				return nil
			}
			return c.elemsOf(needs[k])
		}); err != nil {
			return nil, err
		}
	}
	for r, i := range rows {
		row := calibrate.Row{Measured: c.rows[i].Time.Ns(), Fitted: true}
		for _, k := range near[r] {
			g := calibrate.Program{Time: c.time(id, k, i), Slope: make([]float64, len(free))}
			for f, j := range free {
				m := &c.params[j]
				switch {
				case m.name == paramLaunch:
					g.Slope[f] = 1
				case c.affects(m, k):
					from, to := values[j], by[f]
					if m.rate {
						from, to = 1/from, 1/to
					}
					if s := (c.time(moved[f], k, i) - g.Time) / (to - from); !math.IsNaN(s) {
						g.Slope[f] = s
					}
				}
			}
			row.Programs = append(row.Programs, g)
		}
		if len(row.Programs) == 0 {
			return nil, fmt.Errorf("nothing can run at %v: %s", c.rows[i].Size, lastNote(c.result.Notes))
		}
		p.Rows = append(p.Rows, row)
	}
	return p, nil
}

// nudge is by how much a parameter is moved at least, so that whole picoseconds show it.
func nudge(m *modelParam) float64 {
	if m.rate {
		return 0
	}
	return 5
}

// affects tells whether the times of a program can depend on a parameter. Credits are seen as
// messages of ll are, whatever a program sends.
func (c *calibration) affects(m *modelParam, program int) bool {
	switch m.name {
	case "ll128", "simple":
		return c.programs[program].protocol == m.name
	}
	return true
}
