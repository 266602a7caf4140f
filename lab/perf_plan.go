package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/collective"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/tl"
	"kernbench/unit"
)

// perfPlan is a sweep with everything loaded that it names.
type perfPlan struct {
	spec  *PerfSpec
	row   *exec.Row // of Base.Executor
	what  *collective.Collective
	sizes []unit.Bytes
	sweep *Sweep
	rows  []*PerfRow
	jobs  []*perfJob                    // by row, two at most for each
	apart map[*algorithm.Algorithm]bool // which leave results where they are told

	solvers []perfSolver // of machines with their ranks
	bounded map[*PerfRow]perfLimits

	refused leftOut // rows that an algorithm's Check refused

	call func(*PerfRow) string // what rows have in common of which only the fastest is shown; nil: all are
}

// perfJob is one run: a row with results in one of the two places.
type perfJob struct {
	messages, events int64 // of the simulation, when it has ended

	row     int
	setting *setting // with everything that the run needs
	what    *collective.Collective
	call    collective.Call
	inPlace bool
	bytes   unit.Bytes // of data that it moves; 0: none
	length  int64      // of the run, beside others: the more the longer; 0: nobody knows
	launch  unit.Time  // in software
}

// perfTarget is an algorithm on a machine with its settings.
type perfTarget struct {
	x        *setting
	plan     *device.Plan
	settings []Setting
	apart    bool       // results can go elsewhere than to the contributions
	limits   perfLimits // of no call yet
}

// planPerf finds out what is to be measured, and says what is wrong with it.
func planPerf(ctx context.Context, s *PerfSpec) (*perfPlan, error) {
	what, err := FindCollective(s.Collective)
	if err != nil {
		return nil, err
	}
	if s.Iterations < 0 || s.Warmup < 0 {
		return nil, fmt.Errorf("%d iterations after %d: neither can be negative", s.Iterations, s.Warmup)
	}
	p := &perfPlan{spec: s, what: what, apart: map[*algorithm.Algorithm]bool{}, bounded: map[*PerfRow]perfLimits{}}
	if p.sizes, err = s.sizes(); err != nil {
		return nil, err
	}
	if len(s.Types) == 0 {
		s.Types = []dtype.Type{dtype.F32}
	}
	if len(s.Ops) == 0 || !what.Reduces {
		s.Ops = []tl.ReduceOp{tl.Sum}
	}
	if p.row, err = executorOf(s.Base.Executor); err != nil {
		return nil, err
	}
	s.Base.Executor = p.row.Name
	p.sweep = &Sweep{
		Collective: what.Name, Executor: s.Base.Executor, Min: s.Min, Max: s.Max, Factor: s.Factor, Step: s.Step,
		Iterations: s.Iterations, Warmup: s.Warmup, Check: s.Check && p.row.Can(exec.Data), Bound: s.Bound, Timed: p.row.Can(exec.Clock),
		All: s.AllAlgorithms, MadeBy: NewMadeBy(s.Base.Command), Algorithms: []string{}, Varied: []Variation{}, Notes: []string{}, Rows: []PerfRow{},
	}
	for _, v := range s.Vary {
		if slices.ContainsFunc(p.sweep.Varied, func(other Variation) bool { return other.Key == v.Key }) {
			return nil, fmt.Errorf("key %s is varied twice: its values belong into one list", v.Key)
		}
		p.sweep.Varied = append(p.sweep.Varied, v)
	}
	auto, tuning, err := p.isAuto()
	switch {
	case err != nil:
		return nil, err
	case !auto && s.Base.Tuning != "":
		return nil, fmt.Errorf("tuning table %s: only the algorithm %s chooses by one: give --algorithm %[2]s too", s.Base.Tuning, algorithm.Auto)
	case tuning != nil:
		err = p.addTuned(ctx, tuning)
	default:
		if auto {
			s.Algorithms, s.AllAlgorithms = nil, true
		}
		err = p.addAll(ctx, auto)
	}
	if err != nil {
		return nil, err
	}
	refused := p.refused.notes()
	if len(p.rows) == 0 && len(refused) > 0 {
		return nil, fmt.Errorf("no algorithm of %s can be measured: %s", what.Name, strings.Join(refused, "; "))
	}
	for _, note := range refused {
		p.note("%s", note)
	}
	if len(p.rows) == 0 {
		return nil, fmt.Errorf("%s of %d ranks: sizes up to %v have no element for each of them", what.Name, p.sweep.Ranks, s.Max)
	}
	p.sweep.Planned = len(p.rows)
	if auto && tuning == nil {
		p.fastest()
	}
	p.notes()
	return p, nil
}

// addAll plans the rows of all targets, or of those that are right.
func (p *perfPlan) addAll(ctx context.Context, right bool) error {
	targets, err := p.targets()
	if err != nil {
		return err
	}
	for _, t := range targets {
		if right && !p.isRight(ctx, t) {
			continue
		}
		p.describe(t)
		if err := p.add(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// describe says in the head of the sweep what a target is, as far as all are alike.
func (p *perfPlan) describe(t perfTarget) {
	w := p.sweep
	w.MadeBy.Add(t.x.topo.Fingerprint())
	if len(w.Algorithms) == 0 {
		w.Ranks, w.Machine = t.plan.World, t.x.describe()
		w.Fidelity = t.x.fidelity
	}
	if t.plan.World != w.Ranks {
		w.Ranks = 0
	}
	if t.x.describe() != w.Machine {
		w.Machine = "machines that differ"
	}
	if !slices.Contains(w.Algorithms, t.plan.Name) {
		w.Algorithms = append(w.Algorithms, t.plan.Name)
	}
}

// targets lists every algorithm under every combination of what is varied.
func (p *perfPlan) targets() ([]perfTarget, error) {
	var all []perfTarget
	var out leftOut
	for _, settings := range combinations(p.spec.Vary) {
		names, err := p.algorithms(settings)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			t, err := p.target(name, settings)
			if err == nil && p.spec.AllAlgorithms {
				_, err = p.small(t)
			}
			switch {
			case err == nil:
				all = append(all, t)
			case p.spec.AllAlgorithms:
				out.add(name, err.Error())
			default:
				return nil, err
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no algorithm of %s can be measured: %s", p.what.Name, strings.Join(out.notes(), "; "))
	}
	for _, note := range out.notes() {
		p.note("%s", note)
	}
	return all, nil
}

// combinations lists every choice of one value for each key, the last key changing fastest.
func combinations(vary []Variation) [][]Setting {
	all := [][]Setting{{}}
	for _, v := range vary {
		var longer [][]Setting
		for _, c := range all {
			for _, value := range v.Values {
				longer = append(longer, append(slices.Clone(c), Setting{v.Key, value}))
			}
		}
		all = longer
	}
	return all
}

// algorithms are those to measure, by name.
func (p *perfPlan) algorithms(settings []Setting) ([]string, error) {
	switch {
	case p.spec.AllAlgorithms && len(p.spec.Algorithms) > 0:
		return nil, fmt.Errorf("algorithms %s, and all: one of the two", strings.Join(p.spec.Algorithms, ", "))
	case p.spec.AllAlgorithms:
		if _, err := p.load("", settings); err != nil {
			return nil, err // it would keep each of them from its run
		}
		return algorithmsOf(p.what.Name), nil
	case len(p.spec.Algorithms) > 0:
		return p.spec.Algorithms, nil
	}
	x, err := p.load("", settings)
	if err != nil {
		return nil, err
	}
	return []string{DefaultAlgorithm(x.ccl, p.what)}, nil
}

// load makes the setting of an algorithm, or of none.
func (p *perfPlan) load(algorithm string, settings []Setting) (*setting, error) {
	b := &p.spec.Base
	one := Spec{
		Topology: b.Topology, CCL: b.CCL, Sets: slices.Clone(b.Sets), Ranks: b.Ranks, Seed: b.Seed,
		Executor: b.Executor, Fidelity: b.Fidelity, Bench: bench.CCLHello.Name, Algorithm: algorithm, Limits: b.Limits,
	}
	for _, s := range settings {
		switch {
		case strings.Contains(s.Key, "."):
			one.Sets = append(one.Sets, s.Key+"="+s.Value)
		case algorithm != "": // for the entry itself: what it has of its own beats the defaults
			one.Sets = append(one.Sets, fmt.Sprintf("algorithms.%s.%s=%s", algorithm, s.Key, s.Value))
		}
	}
	return load(one)
}

// target makes an algorithm ready, on a device that is only asked whether it can be.
func (p *perfPlan) target(name string, settings []Setting) (t perfTarget, err error) {
	x, err := p.load(name, settings)
	if err != nil {
		return t, err
	}
	dev, err := device.New(device.Config{Machine: x.machine, Topology: x.topo, CCL: x.ccl, Row: x.row, World: x.world})
	if err != nil {
		return t, err
	}
	plan, err := dev.InstallIPCQ(name)
	switch {
	case err != nil:
		return t, err
	case plan.Algorithm.Collective != p.what.Name:
		return t, fmt.Errorf("algorithm %s performs %s, not %s", plan.Name, plan.Algorithm.Collective, p.what.Name)
	case plan.PerSIP():
		return t, fmt.Errorf("algorithm %s: with rank_level: sip a rank is a SIP: what is measured goes between PEs", plan.Name)
	}
	return perfTarget{x: x, plan: plan, settings: settings}, nil
}

// note adds what the reader of the whole sweep should know, once.
func (p *perfPlan) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(p.sweep.Notes, text) {
		p.sweep.Notes = append(p.sweep.Notes, text)
	}
}

func (p *perfPlan) notes() {
	s := p.spec
	untimed := p.row.Needs(exec.Clock)
	switch {
	case untimed != nil:
		p.note("%v: there are no times, and one iteration is all", untimed)
	case s.Iterations > 1 || s.Warmup > 0:
		p.note("time is simulated, from a machine at rest: the first iteration takes what all take, and is the only one")
	}
	if err := p.row.Needs(exec.Data); err != nil && s.Check {
		p.note("not checked: %v", err)
	}
	p.noteOverhead()
}
