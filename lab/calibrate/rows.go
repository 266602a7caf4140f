package calibrate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"kernbench/lab/calibrate/fit"
	"kernbench/lab/limits"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// conclude simulates all sizes, on the fitted machine and on the one before, and sums up.
func (c *calibration) conclude(ctx context.Context, before, fitted []float64) error {
	r := c.result
	all := sweep.NumbersBelow(len(c.rows))
	for _, values := range [][]float64{before, fitted} {
		if err := c.times(ctx, values, all); err != nil {
			return err
		}
	}
	var was []Row
	for i := range c.rows {
		row := &c.rows[i]
		one := Row{Size: row.Size, Measured: row.Time, Role: row.role, Why: row.why, Extrapolated: row.elems == 0}
		then, k := c.fastest(before, i)
		if k >= 0 {
			one.Before = unit.Nanoseconds(then)
		}
		t, k := c.fastest(fitted, i)
		if k < 0 {
			return fmt.Errorf("nothing can run at %v: %s", row.Size, lastNote(r.Notes))
		}
		one.Algorithm, one.Protocol = c.programs[k].algorithm, c.programs[k].protocol
		one.Simulated = unit.Nanoseconds(t)
		one.Error = float64(one.Simulated)/float64(one.Measured) - 1
		r.Rows = append(r.Rows, one)
		one.Error = float64(one.Before)/float64(one.Measured) - 1
		was = append(was, one)
	}
	r.choices = c.choices(fitted)
	r.Before = sumUp(was, ToFit, ToCheck)
	r.Fitted, r.HeldOut, r.Excluded = sumUp(r.Rows, ToFit), sumUp(r.Rows, ToCheck), sumUp(r.Rows, ToNone)
	r.Aside = r.Excluded
	r.Bands = c.bands(fitted)
	return c.find(ctx)
}

// sumUp returns the errors of rows with some roles.
func sumUp(rows []Row, roles ...Role) Errors {
	var e Errors
	sum := 0.0
	for i := range rows {
		if !slices.Contains(roles, rows[i].Role) || rows[i].Error <= -1 {
			continue
		}
		off := math.Abs(math.Log1p(rows[i].Error))
		e.Sizes++
		if sum += off; off > e.Largest {
			e.Largest, e.At = off, rows[i].Size
		}
	}
	if e.Sizes > 0 {
		e.Mean, e.Largest = math.Expm1(sum/float64(e.Sizes)), math.Expm1(e.Largest)
	}
	return e
}

// find adds findings: what in the table the model does not explain, and why.
func (c *calibration) find(ctx context.Context) error {
	r := c.result
	for _, f := range fit.Falls(c.table.Points) {
		c.finding("time falls from %v at %v to %v at %v: for fewer bytes the library runs a slower program. "+
			"The model takes the fastest program at each size, so its time never falls", f.Before, f.From, f.Then, f.To)
	}
	if err := c.impossible(ctx); err != nil {
		return err
	}
	const large = 0.15
	var off []string
	for i := range r.Rows {
		if row := &r.Rows[i]; row.Role != ToNone && math.Abs(math.Log1p(row.Error)) > math.Log1p(large) {
			off = append(off, fmt.Sprintf("%v (%+.0f %%)", row.Size, row.Error*100))
		}
	}
	if len(off) > 0 {
		c.finding("off by more than %.0f %%: %s", large*100, sweep.Joined(off))
	}
	return nil
}

func (c *calibration) finding(format string, args ...any) {
	c.result.Findings = append(c.result.Findings, fmt.Sprintf(format, args...))
}

// impossible reports sizes whose measured time no algorithm reaches on the machine before the fit,
// with any software. The real links are then faster, or reduce or copy in a switch.
func (c *calibration) impossible(ctx context.Context) error {
	what := c.what
	last := -1
	for i := range c.rows {
		if c.rows[i].elems > 0 {
			last = i
		}
	}
	if last < 0 {
		return nil
	}
	for _, m := range c.machines() {
		base := c.spec.Base
		base.Sets = append(slices.Clone(base.Sets), m.sets...)
		base.DType, base.NElem = c.call.Type, c.rows[last].elems
		limits, err := limits.Run(ctx, limits.Spec{Base: base, Collective: what.Name, Root: c.call.Root})
		if err != nil {
			return err
		}
		if len(limits.Rows) == 0 || limits.Rows[0].Hardware == 0 {
			continue
		}
		// Large sizes are limited by bytes alone, and rates hold for all of them.
		rate := float64(c.rows[last].Size) / limits.Rows[0].Hardware.Ns()
		var above []string
		for i := range c.rows {
			if bw := c.rows[i].AlgBW(); bw > rate*1.001 {
				above = append(above, fmt.Sprintf("%v (%.0f GB/s)", c.rows[i].Size, bw))
			}
		}
		if len(above) > 0 {
			c.finding("no algorithm without reductions or copies in the switches has an algbw above %.0f GB/s with %s; measured is more at %s",
				rate, m.name, sweep.Joined(above))
		}
	}
	return nil
}

// limitedMachine is a machine that may be too slow for what was measured.
type limitedMachine struct {
	name string
	sets []string
}

// machines returns the one as it was, with its links' usable rates, and with those of their lines.
func (c *calibration) machines() []limitedMachine {
	was := limitedMachine{name: "the links of " + c.spec.Base.Topology}
	x, err := sweep.Load(&c.spec.Base, "", nil)
	if err != nil {
		return []limitedMachine{was}
	}
	line := limitedMachine{name: "the line rate of its links"}
	for i, l := range x.Machine.Topology().System().Between() {
		if l.Link.Line > l.Link.BW {
			line.sets = append(line.sets, fmt.Sprintf("%s=%s", x.Machine.Topology().LevelKey(i, "link.bw_gbs"), l.Link.Line))
		}
	}
	if len(line.sets) == 0 {
		return []limitedMachine{was}
	}
	return []limitedMachine{was, line}
}

func lastNote(notes []string) string {
	if len(notes) == 0 {
		return "no program has a result"
	}
	return notes[len(notes)-1]
}
