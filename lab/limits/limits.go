// Package limits returns how fast a collective could be on a machine at each size. It has limits
// for any algorithm, and limits for the rings of one algorithm as configured. Each limit names its
// cause.
//
// It may import lab/run, lab/sweep, check/bound and packages below them. Start at Spec and
// Run.
package limits

import (
	"context"
	"fmt"
	"slices"

	"kernbench/bench"
	"kernbench/check/bound"
	"kernbench/collective"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/hw/noc"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/tl"
	"kernbench/unit"
)

// Spec selects the calls of a collective whose limits are computed.
type Spec struct {
	// Base has the machine, the ranks, the algorithm whose rings count, the type, the fidelity and,
	// with NElem, the one size. Its other fields are ignored.
	Base run.Spec

	Collective string // by its own name or that of nccl-tests
	Root       int    // ignored if the collective has none

	Min, Max unit.Bytes // of a call, in the sense of nccl-tests; ignored with Base.NElem
	Factor   int        // from one size to the next; or
	Step     unit.Bytes // what is added; one of the two is 0
}

// Limit is one limit of a collective, with its cause.
type Limit = bound.Bound

// Witness explains a limit.
type Witness = bound.Witness

// Kind is the cause of a limit.
type Kind = bound.Kind

// The kinds of limits.
const (
	ByDistance = bound.Distance
	ByNode     = bound.Node
	ByVolume   = bound.Volume
	ByCut      = bound.Cut
	ByFlow     = bound.Flow
	ByCompute  = bound.Compute
	ByMemory   = bound.Memory

	ByVector   = bound.Vector // this and those below: of one algorithm, as configured
	ByFanOut   = bound.FanOut
	BySlots    = bound.Slots
	ByPipeline = bound.Pipelined
	ByTraffic  = bound.Traffic
)

// Kinds lists them in the order of a row.
var Kinds = []Kind{ByDistance, ByNode, ByVolume, ByCut, ByFlow, ByCompute, ByMemory, ByVector, ByFanOut, BySlots, ByPipeline, ByTraffic}

// Limits holds the lower limits of a collective's time.
type Limits struct {
	Collective string  `json:"collective"`
	Machine    string  `json:"machine"`
	Fidelity   string  `json:"fidelity"`
	Ranks      int     `json:"ranks"`
	PEs        []int32 `json:"-"` // by rank
	Algorithm  string  `json:"algorithm"`
	Rings      bool    `json:"rings"` // the algorithm communicates by rings only, whose configuration limits it
	Type       string  `json:"type"`
	Root       int     `json:"root"` // -1 where there is none

	Reduces bool `json:"switches_reduce"` // switches combine loaded data, which the limits take into account
	Copies  bool `json:"switches_copy"`   // switches copy stored data, likewise

	Launch unit.Time `json:"launch_overhead_ps"` // of the algorithm in software, not included in the limits

	Rows  []Row    `json:"rows"`
	Notes []string `json:"notes"`

	MadeBy run.MadeBy `json:"made_by"`
}

// OfAlgorithm reports whether the result has limits of the algorithm as configured.
func (l *Limits) OfAlgorithm() bool {
	return l.Rings || slices.ContainsFunc(l.Rows, func(r Row) bool {
		return slices.ContainsFunc(r.Bounds, func(b Limit) bool { return b.Kind.OfAlgorithm() })
	})
}

// Row has every limit at one size.
type Row struct {
	Size  unit.Bytes `json:"size"`              // of a call, the numerator of algbw
	Elems int        `json:"elements_per_rank"` // elements of each rank's input (broadcast, scatter: of the root's)

	Bounds     []Limit   `json:"bounds"`
	Hardware   unit.Time `json:"hardware_ps"`      // of the machine, for any algorithm
	ByHardware Kind      `json:"hardware_binding"` // "": nothing limits it
	Configured unit.Time `json:"as_configured_ps"` // with the algorithm's rings, too
	Binding    Kind      `json:"as_configured_binding"`
	AlgBW      float64   `json:"algbw_gbs"` // at most, as configured; 0: nothing limits it
	BusBW      float64   `json:"busbw_gbs"`
}

// Run finds the limits of a collective. The error is a mistake in the spec, or the interruption by
// ctx; then the finished rows are returned too.
func Run(ctx context.Context, s Spec) (*Limits, error) {
	what, err := sweep.FindCollective(s.Collective)
	if err != nil {
		return nil, err
	}
	if s.Base.DType == dtype.Invalid {
		s.Base.DType = dtype.F32
	}
	x, l, plan, err := boundTarget(&s, what)
	if err != nil {
		return nil, err
	}
	if what.Rooted && (s.Root < 0 || s.Root >= l.Ranks) {
		return nil, fmt.Errorf("root %d: the ranks are 0 to %d", s.Root, l.Ranks-1)
	}
	l.Reduces, l.Copies = x.Machine.SwitchesReduce()
	solver, err := bound.New(x.Machine, l.PEs)
	if err != nil {
		return nil, err
	}
	calls, err := boundCalls(&s, what, l)
	if err != nil {
		return nil, err
	}
	for _, c := range calls {
		if ctx.Err() != nil {
			return l, ctx.Err()
		}
		r, err := limitsOf(ctx, &target{x, plan, solver, what}, c, BoundOptions(x, plan, c), l)
		if err != nil {
			return l, err
		}
		row := Row{Size: what.Bytes(c), Elems: c.Elems, Bounds: r.Bounds, Hardware: r.Hardware, Configured: r.Limit}
		if b := r.Binding(); b != nil {
			row.ByHardware = b.Kind
		}
		if b := r.Configured(); b != nil {
			row.Binding = b.Kind
			row.AlgBW = float64(row.Size) / b.Time.Ns()
			row.BusBW = row.AlgBW * what.BusFactor(c.World)
		}
		l.Rows = append(l.Rows, row)
	}
	return l, nil
}

// target is a collective on a machine, with the solver of its limits.
type target struct {
	job    *run.Job
	plan   *device.Plan // nil without an algorithm
	solver *bound.Solver
	what   *collective.Collective
}

// limitsOf returns the limits of a call: the lower of those in place and out of place.
func limitsOf(ctx context.Context, t *target, c collective.Call, o bound.Options, l *Limits) (best *bound.Result, err error) {
	if t.plan == nil || o.Ideal {
		return t.solver.Limits(t.what, c, o)
	}
	for _, inPlace := range []bool{false, true} {
		if inPlace && !sweep.FitsInPlace(t.what, c) {
			continue
		}
		if o.Transfers, err = Transfers(ctx, t.job, t.plan.Name, c, inPlace); ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil && len(l.Rows) == 0 && best == nil {
			l.Notes = append(l.Notes, fmt.Sprintf("the traffic of %s is not counted: %v", l.Algorithm, err))
		}
		r, err := t.solver.Limits(t.what, c, o)
		if err != nil {
			return nil, err
		}
		if best == nil || r.Limit < best.Limit {
			best = r
		}
	}
	return best, nil
}

// boundTarget loads the machine and the algorithm, and finds the ranks that take part. It returns
// no plan if no algorithm was requested and the default one does not support these ranks.
func boundTarget(s *Spec, what *collective.Collective) (*run.Job, *Limits, *device.Plan, error) {
	b := &s.Base
	one := run.Spec{
		Topology: b.Topology, CCL: b.CCL, Sets: b.Sets, Ranks: b.Ranks, Devices: b.Devices, Fidelity: b.Fidelity,
		Bench: bench.CCLHello.Name, Algorithm: b.Algorithm,
	}
	x, err := run.Load(one)
	if err != nil {
		return nil, nil, nil, err
	}
	name := b.Algorithm
	if name == "" {
		name = sweep.DefaultAlgorithm(x.Entries, what)
	}
	dev, err := x.Device()
	if err != nil {
		return nil, nil, nil, err
	}
	l := &Limits{
		Collective: what.Name, Machine: x.Machine.Describe(),
		MadeBy: run.NewMadeBy(b.Command, x.Machine.Topology().Fingerprint()), Fidelity: x.AtFidelity(), Algorithm: name,
		Type: b.DType.String(), Root: -1,
		Rows: []Row{}, Notes: []string{},
	}
	if what.Rooted {
		l.Root = s.Root
	}
	plan, err := dev.InstallIPCQ(name)
	switch {
	case err != nil && b.Algorithm == "" && x.World() <= x.Machine.NumPEs(): // no algorithm was requested
		l.Algorithm, l.PEs = "", x.Participants()
		l.Ranks = len(l.PEs)
		l.Notes = append(l.Notes, fmt.Sprintf("rings are not counted: %v", err))
		return x, l, nil, nil
	case err != nil:
		return nil, nil, nil, err
	case plan.Algorithm.Collective != what.Name:
		return nil, nil, nil, fmt.Errorf("algorithm %s performs %s, not %s", name, plan.Algorithm.Collective, what.Name)
	case plan.PerSIP():
		return nil, nil, nil, fmt.Errorf("algorithm %s: found rank_level sip, want pe: bound supports only ranks that are PEs", name)
	}
	l.PEs, l.Ranks, l.Rings, l.Launch = plan.PEs, plan.World, plan.Algorithm.Window == nil, plan.Start
	return x, l, plan, nil
}

// BoundOptions returns what limits depend on besides the machine and the call: rings limit an
// algorithm that communicates by rings alone. A nil plan means no algorithm.
func BoundOptions(x *run.Job, plan *device.Plan, c collective.Call) bound.Options {
	o := bound.Options{Ideal: x.AtFidelity() == noc.Ideal.String()}
	if plan != nil && plan.Algorithm.Window == nil {
		wiring, ring := plan.Rings(c)
		o.Rings = bound.Rings(x.Machine, plan.PEs, wiring, &ring)
		o.Pipeline = pipeline(plan, c, max(1, len(wiring)/max(1, len(plan.PEs))))
	}
	return o
}

// pipeline returns the ranks through which a call of a pipelined algorithm passes, in the first of
// its channels; nil: it has no such path.
func pipeline(plan *device.Plan, c collective.Call, channels int) *bound.Pipeline {
	if plan.Algorithm.Path == nil {
		return nil
	}
	w := plan.Algorithm.Path(c.World, c.Root)
	w.Parts *= channels
	return &bound.Pipeline{Ranks: w.Ranks, Parts: w.Parts, Piece: w.Piece(tl.Args{
		NElem: c.Elems, DType: c.Type, ChunkBytes: int64(plan.Config.ChunkSize), LatencyBytes: plan.LatencyBytes,
	}, plan.ScratchBytes/int64(channels))}
}

// boundCalls lists the calls of all sizes. Sizes with the same number of elements give one call.
func boundCalls(s *Spec, what *collective.Collective, l *Limits) ([]collective.Call, error) {
	c := collective.Call{World: l.Ranks, Type: s.Base.DType, Root: s.Root}
	if s.Base.NElem > 0 || sweep.Largest(what, c) == 0 { // a barrier has no size
		c.Elems = s.Base.NElem
		return []collective.Call{c}, nil
	}
	all, err := (sweep.Sizes{Min: s.Min, Max: s.Max, Factor: s.Factor, Step: s.Step}).List()
	if err != nil {
		return nil, err
	}
	var calls []collective.Call
	for i, size := range all {
		if _, elems := sweep.Counts(what, c, size); elems > 0 && elems != c.Elems {
			c.Elems = elems
			calls = append(calls, c)
			if is := what.Bytes(c); i == 0 && is != size {
				l.Notes = append(l.Notes, fmt.Sprintf("sizes are rounded down to whole elements: %v becomes %v", size, is))
			}
		}
	}
	if len(calls) == 0 {
		return nil, fmt.Errorf("%s of %d ranks: sizes up to %v have no element per rank", what.Name, l.Ranks, s.Max)
	}
	return calls, nil
}
