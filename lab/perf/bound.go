package perf

import (
	"context"
	"reflect"
	"slices"

	"kernbench/check/bound"
	"kernbench/collective"
	"kernbench/conf"
	"kernbench/device"
	"kernbench/lab/limits"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
)

// Bound holds the limits of a row: with the rings of its algorithm as configured, and on the
// machine with any algorithm.
type Bound struct {
	Us       *float64    `json:"bound_us"`       // nil: nothing limits it, or there is no clock
	Fraction *float64    `json:"bound_fraction"` // of the time of the faster placement; nil: none ended
	Limit    limits.Kind `json:"bound_limit"`    // the cause; "": none

	HardwareUs       *float64    `json:"hardware_bound_us"`
	HardwareFraction *float64    `json:"hardware_bound_fraction"`
	HardwareLimit    limits.Kind `json:"hardware_bound_limit"`
}

// perfSolver has the limits of one machine with its ranks, for all rows of all algorithms on it.
type perfSolver struct {
	topo   *conf.Topology
	pes    []int32
	solver *bound.Solver
}

// perfLimits has the inputs of the limits of one row.
type perfLimits struct {
	solver *bound.Solver
	job    *run.Job
	plan   *device.Plan
	call   collective.Call
}

// limits finds the inputs of limits for all rows of a target, except their calls. Without a clock
// there are no limits.
func (p *perfPlan) limits(t *perfTarget) error {
	if !p.spec.Bound && !p.extrapolates() && !p.auto || !p.sweep.Timed {
		return nil
	}
	t.limits.job, t.limits.plan = t.Job, t.Plan
	for _, known := range p.solvers {
		if slices.Equal(known.pes, t.Plan.PEs) && reflect.DeepEqual(known.topo, t.Job.Machine.Topology()) {
			t.limits.solver = known.solver
			return nil
		}
	}
	solver, err := bound.New(t.Job.Machine, t.Plan.PEs)
	if err != nil {
		return err
	}
	t.limits.solver = solver
	p.solvers = append(p.solvers, perfSolver{t.Job.Machine.Topology(), t.Plan.PEs, solver})
	return nil
}

// bound returns the limits of a row that has ended. A call has none if no algorithm can perform it
// or it is too large. The traffic of an algorithm does not count if its kernels cannot be recorded.
func (p *perfPlan) bound(ctx context.Context, r *Row) {
	if !p.spec.Bound {
		return
	}
	r.Bound = &Bound{}
	on, timed := p.bounded[r]
	if !timed {
		return
	}
	options := limits.BoundOptions(on.job, on.plan, on.call)
	if at := r.faster(); at != nil && !options.Ideal {
		options.Transfers, _ = limits.Transfers(ctx, on.job, on.plan.Name, on.call, at == r.InPlace)
	}
	limits, err := on.solver.Limits(p.what, on.call, options)
	if err != nil {
		if r.Note == "" {
			r.Note = "no bound: " + err.Error()
		}
		return
	}
	r.Us, r.Fraction, r.Limit = r.against(limits.Configured())
	r.HardwareUs, r.HardwareFraction, r.HardwareLimit = r.against(limits.Binding())
}

// against returns a limit's time, and its ratio to the time of the faster placement.
func (r *Row) against(limit *bound.Bound) (us, fraction *float64, kind limits.Kind) {
	if limit == nil {
		return nil, nil, ""
	}
	if at := r.faster(); at != nil {
		f := float64(limit.Time+r.Launch) / float64(at.Time)
		fraction = &f
	}
	long := (limit.Time + r.Launch).Ns() / 1e3 // after the same start as in the measurement
	return &long, fraction, limit.Kind
}

// faster returns the placement with the shorter time, or nil if neither ended.
func (r *Row) faster() (best *sweep.Placement) {
	for _, at := range r.Placements() {
		if at.Err == nil && at.Time > 0 && (best == nil || at.Time < best.Time) {
			best = at
		}
	}
	return best
}
