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
	Fraction *float64    `json:"bound_fraction"` // of what the faster placement took; nil: none came to its end
	Limit    limits.Kind `json:"bound_limit"`    // that it comes from; "": none

	HardwareUs       *float64    `json:"hardware_bound_us"`
	HardwareFraction *float64    `json:"hardware_bound_fraction"`
	HardwareLimit    limits.Kind `json:"hardware_bound_limit"`
}

// perfSolver knows the limits of one machine with its ranks, for all rows of all algorithms there.
type perfSolver struct {
	topo   *conf.Topology
	pes    []int32
	solver *bound.Solver
}

// perfLimits is what the limits of one row depend on.
type perfLimits struct {
	solver  *bound.Solver
	job     *run.Job
	plan    *device.Plan
	options bound.Options // but for the pipeline, which is the call's
	call    collective.Call
}

// limits finds out what limits depend on for all rows of a target, but for their calls. Nothing
// is compared with times that there are not.
func (p *perfPlan) limits(t *perfTarget) error {
	if !p.spec.Bound && !p.extrapolates() || !p.sweep.Timed {
		return nil
	}
	t.limits.job, t.limits.plan, t.limits.options = t.Job, t.Plan, limits.BoundOptions(t.Job, t.Plan)
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
	on.options.Pipeline = limits.Pipeline(on.plan, on.call)
	if at := r.faster(); at != nil && !on.options.Ideal {
		on.options.Transfers, _ = limits.Transfers(ctx, on.job, on.plan.Name, on.call, at == r.InPlace)
	}
	limits, err := on.solver.Of(p.what, on.call, on.options)
	if err != nil {
		if r.Note == "" {
			r.Note = "no bound: " + err.Error()
		}
		return
	}
	r.Us, r.Fraction, r.Limit = r.against(limits.Configured())
	r.HardwareUs, r.HardwareFraction, r.HardwareLimit = r.against(limits.Binding())
}

// against returns a limit's time, and the ratio of the faster placement to it.
func (r *Row) against(limit *bound.Bound) (us, fraction *float64, kind limits.Kind) {
	if limit == nil {
		return nil, nil, ""
	}
	if at := r.faster(); at != nil {
		f := float64(limit.Time+r.Launch) / float64(at.Time)
		fraction = &f
	}
	long := (limit.Time + r.Launch).Ns() / 1e3 // behind the same start as what was measured
	return &long, fraction, limit.Kind
}

// faster is the placement that took less, or nil if neither came to its end.
func (r *Row) faster() (best *sweep.Placement) {
	for _, at := range r.Placements() {
		if at.Err == nil && at.Time > 0 && (best == nil || at.Time < best.Time) {
			best = at
		}
	}
	return best
}
