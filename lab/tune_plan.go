package lab

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kernbench/bench"
	"kernbench/bound"
	"kernbench/collective"
	"kernbench/conf"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/store"
	"kernbench/tl"
	"kernbench/unit"
)

// tuner is a sweep under way.
type tuner struct {
	spec   *TuneSpec
	store  *store.Store
	out    *Tuned
	groups []*tuneGroup

	done, total int64           // points, for who waits
	told        map[string]bool // failures of which the reader knows
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
	base        *setting
	fingerprint string
	pes         []int32 // nil until the first algorithm is there
	solver      *bound.Solver
}

// tuneTarget is an algorithm with settings.
type tuneTarget struct {
	name     string
	settings string // over those that are configured; "": none
	x        *setting
	plan     *device.Plan
	points   []*Point // by size; nil: not measured
	skipped  bool     // too large from some size on
}

// plan loads what the spec names and finds all that could be measured.
func (t *tuner) plan() error {
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
	sweep := PerfSpec{Min: s.Min, Max: s.Max, Factor: s.Factor, Step: s.Step}
	sizes, err := sweep.sizes()
	if err != nil {
		return err
	}
	var whats []*collective.Collective
	for _, name := range s.Collectives {
		what, err := FindCollective(name)
		if err != nil {
			return err
		}
		whats = append(whats, what)
	}
	for _, topology := range s.Topologies {
		for _, ranks := range s.Ranks {
			m, err := t.machine(topology, ranks)
			if err != nil {
				return err
			}
			if ranks > m.base.machine.NumPEs() && len(s.Topologies) > 1 {
				t.note("%s has %d PEs: %d ranks are left out", m.name, m.base.machine.NumPEs(), ranks)
				continue
			}
			for _, what := range whats {
				if err := t.planCalls(m, what, sizes); err != nil {
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

// machine loads a machine with its configuration, of no algorithm yet.
func (t *tuner) machine(topology string, ranks int) (*tuneMachine, error) {
	b := &t.spec.Base
	x, err := load(Spec{
		Topology: topology, CCL: b.CCL, Sets: b.Sets, Ranks: ranks, Seed: b.Seed, Fidelity: b.Fidelity,
		Bench: bench.CCLHello.Name, Algorithm: algorithmsOf(collective.AllReduce.Name)[0],
	})
	if err != nil {
		return nil, err
	}
	name := topology
	if name == "" {
		name = defaultMachine
	}
	return &tuneMachine{name: name, base: x, fingerprint: x.topo.Fingerprint()}, nil
}

// defaultMachine is the preset that the built-in machine is.
const defaultMachine = "ahbm"

// planCalls plans a collective on a machine, for every type.
func (t *tuner) planCalls(m *tuneMachine, what *collective.Collective, sizes []unit.Bytes) error {
	targets, err := t.targets(m, what)
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
			count, elems := counts(what, g.call, size)
			switch last := len(g.sizes) - 1; {
			case count == 0 && largest(what, g.call) > 0, last >= 0 && g.sizes[last].elems == elems:
			case i > 0 && largest(what, g.call) == 0: // a barrier has no size
			default:
				c := g.call
				c.Elems = elems
				g.sizes = append(g.sizes, tuneSize{unit.Bytes(count) * parts(what, c) * unit.Bytes(typ.Size()), elems})
			}
		}
		if len(g.sizes) == 0 {
			return fmt.Errorf("%s of %d ranks: sizes up to %v have no element for each of them", what.Name, g.call.World, t.spec.Max)
		}
		c := g.call
		c.Elems = g.sizes[0].elems
		g.inPlace = fitsInPlace(what, c)
		for _, target := range targets {
			own := *target
			own.points = make([]*Point, len(g.sizes))
			g.targets = append(g.targets, &own)
		}
		t.groups = append(t.groups, g)
	}
	return nil
}

// targets lists the algorithms of a collective that can have the ranks of a machine, each as it is
// configured and with every combination of settings that is another for it.
func (t *tuner) targets(m *tuneMachine, what *collective.Collective) ([]*tuneTarget, error) {
	names := t.spec.Algorithms
	if len(names) == 0 {
		names = algorithmsOf(what.Name)
	}
	var all []*tuneTarget
	for _, name := range names {
		shape := t.shape(m, name)
		plain, err := t.target(m, what, name, shape)
		if err == nil {
			_, err = fewElements(what, plain.plan)
		}
		switch {
		case err != nil && len(t.spec.Algorithms) > 0:
			return nil, err
		case err != nil:
			t.note("%s: %v", m.name, err)
			continue
		}
		all = append(all, plain)
		known := map[string]bool{plain.key(t.spec.Program, m, what, collective.Call{}, false, -1): true}
		for _, settings := range withNone(t.spec.Vary) {
			v, err := t.target(m, what, name, append(slices.Clone(shape), settings...))
			if err != nil {
				return nil, err
			}
			key := v.key(t.spec.Program, m, what, collective.Call{}, false, -1)
			if !known[key] {
				known[key] = true
				all = append(all, v)
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no algorithm of %s can have these ranks: %s", what.Name, strings.Join(t.out.Notes, "; "))
	}
	m.pes = all[0].plan.PEs
	return all, nil
}

// withNone lists every choice of one value for each key, or of none: what is configured.
func withNone(vary []Variation) [][]Setting {
	all := [][]Setting{{}}
	for _, v := range vary {
		longer := slices.Clone(all)
		for _, c := range all {
			for _, value := range v.Values {
				longer = append(longer, append(slices.Clone(c), Setting{v.Key, value}))
			}
		}
		all = longer
	}
	return all
}

// shape is what an algorithm needs on a grid that has no square for its ranks, and of which nobody
// said how wide it is: that it is as near to a square as can be.
func (t *tuner) shape(m *tuneMachine, name string) []Setting {
	choice, err := device.ResolveAlgorithm(m.base.ccl, name)
	if err != nil || !choice.Topology.Planar || choice.Config.W > 0 || choice.Config.H > 0 {
		return nil
	}
	world := m.base.world
	if world == 0 {
		world = m.base.machine.NumPEs()
	}
	h := 1
	for n := 2; n*n <= world; n++ {
		if world%n == 0 {
			h = n
		}
	}
	if h*h == world || h == 1 {
		return nil // a square needs no word, and a line is none of it
	}
	return []Setting{{"w", fmt.Sprint(world / h)}}
}

// target makes an algorithm ready, on a device that is only asked whether it can be.
func (t *tuner) target(m *tuneMachine, what *collective.Collective, name string, settings []Setting) (*tuneTarget, error) {
	x := *m.base
	x.Algorithm = name
	var sets []string
	for _, s := range settings {
		if strings.Contains(s.Key, ".") {
			return nil, fmt.Errorf("key %s: tune varies settings of algorithms, such as n_slots; another machine is another table: use --set, or several topologies", s.Key)
		}
		sets = append(sets, s.Key+"="+s.Value)
	}
	var err error
	if x.ccl, err = x.ccl.With(name, sets); err != nil {
		return nil, err
	}
	executor := mock.New(mock.Options{Order: x.order, NoAtomics: !x.topo.Fabric.Atomics})
	defer executor.Close()
	dev, err := device.New(device.Config{Machine: x.machine, Topology: x.topo, CCL: x.ccl, Executor: executor, World: x.world})
	if err != nil {
		return nil, err
	}
	plan, err := dev.InstallIPCQ(name)
	switch {
	case err != nil:
		return nil, err
	case plan.Algorithm.Collective != what.Name:
		return nil, fmt.Errorf("algorithm %s performs %s, not %s", name, plan.Algorithm.Collective, what.Name)
	case plan.PerSIP():
		return nil, fmt.Errorf("algorithm %s: with rank_level: sip a rank is a SIP: what is measured goes between PEs", name)
	}
	var changes []string
	for _, set := range sets {
		if ok, err := m.change(plan, name, set); err != nil {
			return nil, err
		} else if ok {
			changes = append(changes, set)
		}
	}
	return &tuneTarget{name: name, settings: strings.Join(changes, " "), x: &x, plan: plan}, nil
}

// change tells whether a setting makes a difference to what an algorithm is configured with.
func (m *tuneMachine) change(plan *device.Plan, name, setting string) (bool, error) {
	key, _, _ := strings.Cut(setting, "=")
	switch {
	case (key == "n_slots" || key == "slot_size") && !hasRings(plan), key == "chunk_size" && !plan.Algorithm.Pipelined,
		key == "protocol" && onlyProtocol(m.base.topo):
		return false, nil
	}
	with, err := m.base.ccl.With(name, []string{setting})
	if err != nil {
		return false, err
	}
	before, after := m.base.resolved(name), with.Merge(name, with.Algorithms[name])
	return before.Settings != after.Settings || before.W != after.W || before.H != after.H || before.Topology != after.Topology, nil
}

// onlyProtocol tells whether all protocols of a machine take the same.
func onlyProtocol(t *conf.Topology) bool {
	s := &t.Software
	simple := s.Protocol("simple")
	return s.Protocol("ll") == simple && s.Protocol("ll128") == simple
}

// resolved is what an algorithm runs with when nobody says otherwise.
func (x *setting) resolved(name string) conf.Resolved {
	entry := x.ccl.Algorithms[name]
	if entry == nil {
		entry = &conf.Algorithm{}
	}
	return x.ccl.Merge(name, entry)
}

// key is a hash of everything that the time of a call depends on. Settings that a target has no use
// for are no part of it. With a size, neither is the size of a slot that holds all of that: so long
// a message is never cut.
func (v *tuneTarget) key(program string, m *tuneMachine, what *collective.Collective, c collective.Call, inPlace bool, size unit.Bytes) string {
	cfg := v.plan.Config
	cfg.Name, cfg.Settings.Algorithm, cfg.WorldSize, cfg.NElem = "", "", 0, 0
	if !hasRings(v.plan) {
		cfg.NSlots, cfg.SlotSize = 0, 0
	}
	if !v.plan.Algorithm.Pipelined {
		cfg.ChunkSize = 0
	}
	cfg.Protocol = "" // what it takes counts, by whatever name
	if size >= 0 && cfg.SlotSize >= max(size, oneSlot) {
		cfg.SlotSize = 0
	}
	data, err := json.Marshal(struct {
		Program, Machine, Algorithm, Collective, Fidelity string
		Config                                            conf.Resolved
		Call                                              collective.Call
		InPlace                                           bool
		Seed                                              uint64
		Protocol                                          tl.Protocol
		Start                                             unit.Time
	}{program, m.fingerprint, v.plan.Algorithm.Name, what.Name, m.base.fidelity.String(), cfg, c, inPlace, m.base.Seed, v.plan.Ring.Protocol, v.plan.Start})
	if err != nil {
		panic(err) // numbers and words have a JSON form
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// oneSlot is what a slot must hold at least to be of no further concern: algorithms send flags and
// lengths beside what they are called for.
const oneSlot = unit.KiB

// faster orders points: the faster, then what was measured, then what needs fewer settings.
func faster(a, b *Point) int {
	measured := func(p *Point) int {
		if p.Estimated {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(measured(a), measured(b)),
		cmp.Compare(strings.Count(a.Settings, "="), strings.Count(b.Settings, "=")),
		cmp.Compare(a.Algorithm, b.Algorithm), naturally(a.Settings, b.Settings))
}

// naturally orders texts with numbers in them as a person would: 4 before 16.
func naturally(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) }

// job is the run of a call.
func (g *tuneGroup) job(v *tuneTarget, c collective.Call) *perfJob {
	x := *v.x
	x.NElem, x.DType, x.Op = max(1, c.Elems), c.Type, c.Op
	x.program = bench.Once(g.inPlace, c.Root)
	return &perfJob{setting: &x, what: g.what, call: c, inPlace: g.inPlace, launch: v.plan.Start}
}

// point is what is known of a call before it is measured.
func (g *tuneGroup) point(t *tuner, v *tuneTarget, at int) *Point {
	c := g.call
	c.Elems = g.sizes[at].elems
	m := g.machine
	p := &Point{
		Key: v.key(t.spec.Program, m, g.what, c, g.inPlace, -1), Program: t.spec.Program,
		Topology: m.name, Machine: m.base.describe(), Fingerprint: m.fingerprint, Fidelity: m.base.fidelity.String(),
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

// bound keeps how fast a point could have been, unless that is known.
func (t *tuner) bound(g *tuneGroup, v *tuneTarget, p *Point) error {
	if p.Bound != nil || p.Error != "" {
		return nil
	}
	m := g.machine
	if m.solver == nil {
		var err error
		if m.solver, err = bound.New(m.base.machine, m.base.topo, m.pes); err != nil {
			return err
		}
	}
	c := g.call
	c.Elems = p.Elems
	options := boundOptions(v.x, v.plan)
	options.Pipeline = pipeline(v.plan, c)
	r, err := m.solver.Of(g.what, c, options)
	if err != nil {
		return nil // too large for its limits to be known
	}
	start := v.plan.Start // in software, of what was measured too
	p.Bound = &store.Bound{Hardware: r.Hardware + start, Configured: r.Limit + start}
	if b := r.Binding(); b != nil {
		p.Bound.HardwareLimit = string(b.Kind)
	}
	if b := r.Configured(); b != nil {
		p.Bound.ConfiguredLimit = string(b.Kind)
	}
	return t.store.PutBound(p.Key, p.Bound)
}
