package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kernbench/bench"
	"kernbench/check/bound"
	"kernbench/collective"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/store"
	"kernbench/unit"
)

// tuner is a sweep in progress.
type tuner struct {
	spec   *Spec
	store  *store.Store
	out    *Tuned
	groups []*tuneGroup

	done, total int64           // points, for the progress bar
	reported    map[string]bool // failures that have been printed
}

// tuneGroup is a call at all sizes, with everything that may perform it.
type tuneGroup struct {
	machine *tuneMachine
	what    *collective.Collective
	call    collective.Call // without a number of elements
	inPlace bool
	sizes   []tuneSize
	targets []*tuneTarget
}

type tuneSize struct {
	size  unit.Bytes
	elems int
}

// tuneMachine is a machine with its ranks, and its limits.
type tuneMachine struct {
	name        string // as it is asked for
	base        *run.Job
	fingerprint string
	pes         []int32 // nil until the first algorithm is there
	solver      *bound.Solver
}

// tuneTarget is an algorithm with settings.
type tuneTarget struct {
	name     string
	settings string // over those that are configured; "": none
	x        *run.Job
	plan     *device.Plan
	points   []*Point // by size; nil: not measured
	skipped  bool     // too large from some size on
}

// plan loads what the spec names and finds all that could be measured.
func (t *tuner) plan(ctx context.Context) error {
	s := t.spec
	if err := s.check(); err != nil {
		return err
	}
	if len(s.Topologies) == 0 {
		s.Topologies = []string{s.Base.Topology}
	}
	if len(s.Ranks) == 0 {
		s.Ranks = []int{s.Base.Ranks}
	}
	if len(s.Types) == 0 {
		s.Types = []dtype.Type{dtype.F32}
	}
	sizes, err := s.sizes()
	if err != nil {
		return err
	}
	var whats []*collective.Collective
	for _, name := range s.Collectives {
		what, err := sweep.FindCollective(name)
		if err != nil {
			return err
		}
		whats = append(whats, what)
	}
	for _, topology := range s.Topologies {
		for _, ranks := range s.Ranks {
			m, err := t.machine(topology, ranks)
			if few, ok := errors.AsType[*run.TooManyRanks](err); ok && len(s.Topologies) > 1 {
				t.note("%s has %d PEs: %d ranks are left out", cmp.Or(topology, defaultMachine), few.Have, ranks)
				continue
			}
			if err != nil {
				return err
			}
			for _, what := range whats {
				if err := t.planCalls(ctx, m, what, sizes); err != nil {
					return err
				}
			}
		}
	}
	if len(t.groups) == 0 {
		return fmt.Errorf("nothing to tune: %s", strings.Join(t.out.Notes, "; "))
	}
	for _, g := range t.groups {
		t.total += int64(len(g.targets) * len(g.sizes))
	}
	return nil
}

// sizes lists the sizes of a sweep. If some are estimated, it adds the size up to which calls are
// measured, and its half. auto without a table extrapolates from these two sizes, too.
func (s *Spec) sizes() ([]unit.Bytes, error) {
	all, err := (sweep.Sizes{Min: s.Min, Max: s.Max, Factor: s.Factor, Step: s.Step}).List()
	if err != nil || s.Max <= s.MeasureTo {
		return all, err
	}
	for _, size := range []unit.Bytes{s.MeasureTo / 2, s.MeasureTo} {
		if size >= s.Min {
			all = append(all, size)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// machine loads a machine with its configuration, of no algorithm yet.
func (t *tuner) machine(topology string, ranks int) (*tuneMachine, error) {
	b := &t.spec.Base
	x, err := run.Load(run.Spec{
		Topology: topology, CCL: b.CCL, Sets: b.Sets, Ranks: ranks, Seed: b.Seed, Fidelity: b.Fidelity, Limits: b.Limits,
		Bench: bench.CCLHello.Name, Algorithm: sweep.AlgorithmsOf(collective.AllReduce.Name)[0],
	})
	if err != nil {
		return nil, err
	}
	name := topology
	if name == "" {
		name = defaultMachine
	}
	m := &tuneMachine{name: name, base: x, fingerprint: x.Machine.Topology().Fingerprint()}
	t.out.MadeBy.Add(m.fingerprint)
	return m, nil
}

// defaultMachine is the preset that the built-in machine is.
const defaultMachine = "ahbm"

// planCalls plans a collective on a machine, for every type.
func (t *tuner) planCalls(ctx context.Context, m *tuneMachine, what *collective.Collective, sizes []unit.Bytes) error {
	targets, err := t.targets(ctx, m, what)
	if err != nil {
		return err
	}
	for _, typ := range t.spec.Types {
		g := &tuneGroup{machine: m, what: what, call: collective.Call{World: targets[0].plan.World, Type: typ}}
		if what.Reduces {
			g.call.Op = t.spec.Op
		}
		if what.Rooted {
			if g.call.Root = t.spec.Root; g.call.Root < 0 || g.call.Root >= g.call.World {
				return fmt.Errorf("root %d: the ranks are 0 to %d", g.call.Root, g.call.World-1)
			}
		}
		for i, size := range sizes {
			count, elems := sweep.Counts(what, g.call, size)
			switch last := len(g.sizes) - 1; {
			case count == 0 && sweep.Largest(what, g.call) > 0, last >= 0 && g.sizes[last].elems == elems:
			case i > 0 && sweep.Largest(what, g.call) == 0: // a barrier has no size
			default:
				c := g.call
				c.Elems = elems
				g.sizes = append(g.sizes, tuneSize{unit.Bytes(count) * sweep.Parts(what, c) * unit.Bytes(typ.Size()), elems})
			}
		}
		if len(g.sizes) == 0 {
			return fmt.Errorf("%s of %d ranks: sizes up to %v have no element per rank", what.Name, g.call.World, t.spec.Max)
		}
		c := g.call
		c.Elems = g.sizes[0].elems
		g.inPlace = sweep.FitsInPlace(what, c)
		for _, target := range targets {
			own := *target
			own.points = make([]*Point, len(g.sizes))
			g.targets = append(g.targets, &own)
		}
		t.groups = append(t.groups, g)
	}
	return nil
}

// job returns the run of a call.
func (g *tuneGroup) job(v *tuneTarget, c collective.Call) *sweep.Case {
	return &sweep.Case{Job: v.x.OneCall(c, g.inPlace), What: g.what, Call: c, InPlace: g.inPlace, Launch: v.plan.Start}
}

// point returns what is known of a call before it is measured.
func (g *tuneGroup) point(t *tuner, v *tuneTarget, at int) *Point {
	c := g.call
	c.Elems = g.sizes[at].elems
	m := g.machine
	p := &Point{
		Key: v.key(t.spec.Program, m, g.what, c, g.inPlace, -1), Program: t.spec.Program,
		Topology: m.name, Machine: m.base.Machine.Describe(), Fingerprint: m.fingerprint, Fidelity: m.base.AtFidelity(),
		Collective: g.what.Name, Algorithm: v.name, Settings: v.settings, Type: c.Type.String(), Op: "none", Root: -1,
		Ranks: c.World, Size: g.sizes[at].size, Elems: c.Elems, InPlace: g.inPlace,
	}
	if g.what.Reduces {
		p.Op = c.Op.String()
	}
	if g.what.Rooted {
		p.Root = c.Root
	}
	return p
}
