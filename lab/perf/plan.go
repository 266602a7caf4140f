package perf

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/tl"
	"kernbench/unit"
)

// perfPlan is a sweep with all its inputs loaded.
type perfPlan struct {
	spec       *Spec
	executor   *exec.Row // of Base.Executor
	what       *collective.Collective
	sizes      []unit.Bytes
	sweep      *Sweep
	rows       []*Row
	jobs       []*sweep.Case                 // by row, at most two for each
	outOfPlace map[*algorithm.Algorithm]bool // whether an algorithm can store results out of place

	solvers []perfSolver // one bound solver per machine and number of ranks
	bounded map[*Row]perfLimits

	refused leftOut // rows that an algorithm's Check refused

	auto  bool // only the fastest row of each call is measured and shown
	tuned map[*Row]tunedRow

	targets map[*Row]perfTarget // of auto
	events  eventCounts
	ruled   ruledOut

	simulateAll bool  // limits rule out no row, for tests
	countFirst  int64 // firstInstructions, or fewer for tests

	tried triedTargets
}

// perfTarget is an algorithm on a machine with its settings.
type perfTarget struct {
	sweep.Target
	outOfPlace bool            // results can be stored out of place
	protocol   string          // protocol that auto tries; "": the configured one
	tried      []sweep.Setting // settings of rings and pieces that auto tries

	shape  []sweep.Setting // extents of a grid, chosen by --algorithm auto or all
	limits perfLimits      // those that do not depend on the size
}

// planPerf returns the plan of the measurements, or an error for a mistake in the spec.
func planPerf(ctx context.Context, s *Spec) (*perfPlan, error) {
	what, err := sweep.FindCollective(s.Collective)
	if err != nil {
		return nil, err
	}
	if s.Iterations < 0 || s.Warmup < 0 {
		return nil, fmt.Errorf("%d iterations after %d warm-up iterations: neither can be negative", s.Iterations, s.Warmup)
	}
	p := &perfPlan{spec: s, what: what, outOfPlace: map[*algorithm.Algorithm]bool{}, bounded: map[*Row]perfLimits{},
		tuned: map[*Row]tunedRow{}, targets: map[*Row]perfTarget{}, events: eventCounts{}, ruled: ruledOut{}, tried: triedTargets{},
		countFirst: firstInstructions}
	if p.sizes, err = (sweep.Sizes{Min: s.Min, Max: s.Max, Factor: s.Factor, Step: s.Step}).List(); err != nil {
		return nil, err
	}
	if len(s.Types) == 0 {
		s.Types = []dtype.Type{dtype.F32}
	}
	if len(s.Ops) == 0 || !what.Reduces {
		s.Ops = []tl.ReduceOp{tl.Sum}
	}
	if p.executor, err = run.ExecutorOf(s.Base.Executor); err != nil {
		return nil, err
	}
	s.Base.Executor = p.executor.Name
	p.sweep = &Sweep{
		Collective: what.Name, NCCL: what.NCCLName(), Executor: s.Base.Executor, Min: s.Min, Max: s.Max, Factor: s.Factor, Step: s.Step,
		Iterations: s.Iterations, Warmup: s.Warmup, Check: s.Check && p.executor.Can(exec.Data), Bound: s.Bound,
		Timed: p.executor.Can(exec.Clock), All: s.AllAlgorithms, MadeBy: run.NewMadeBy(s.Base.Command), Algorithms: []string{},
		Varied: []sweep.Variation{}, Notes: []string{}, Rows: []Row{},
	}
	for _, v := range s.Vary {
		if slices.ContainsFunc(p.sweep.Varied, func(other sweep.Variation) bool { return other.Key == v.Key }) {
			return nil, fmt.Errorf("key %s is varied twice: give all its values in one list", v.Key)
		}
		p.sweep.Varied = append(p.sweep.Varied, v)
	}
	programs := files(s)
	filesOnly := len(programs) > 0 && len(s.Algorithms) == 0 && !s.AllAlgorithms
	auto, tuning, err := false, (*algorithm.Tuning)(nil), error(nil)
	if !filesOnly {
		auto, tuning, err = p.isAuto()
	}
	switch {
	case err != nil:
		return nil, err
	case filesOnly:
	case auto && len(programs) > 0:
		return nil, fmt.Errorf("algorithm %s and file %s: auto chooses from the library only; name algorithms to compare, or give all",
			algorithm.Auto, programs[0])
	case !auto && s.Base.Tuning != "":
		return nil, fmt.Errorf("tuning table %s: only the algorithm %s uses one: add --algorithm %[2]s",
			s.Base.Tuning, algorithm.Auto)
	default:
		if p.auto = auto && tuning == nil; p.auto {
			s.Algorithms, s.AllAlgorithms = nil, true
		}
		err = p.addRanks(ctx, auto, tuning)
	}
	if err != nil {
		return nil, err
	}
	if len(programs) > 0 && len(s.Ranks) > 1 {
		return nil, fmt.Errorf("file %s is for one number of ranks: give one number, or measure it alone", programs[0])
	}
	for _, name := range programs {
		if err := p.addFile(ctx, name); err != nil {
			return nil, err
		}
	}
	refused := p.refused.notes()
	if len(p.rows) == 0 && len(refused) > 0 {
		return nil, fmt.Errorf("no algorithm of %s can be measured: %s", what.Name, strings.Join(refused, "; "))
	}
	for _, note := range refused {
		p.note("%s", note)
	}
	if len(p.rows) == 0 {
		return nil, fmt.Errorf("%s of %d ranks: the largest size %v gives a rank no element: raise --maxbytes", what.Name, p.sweep.Ranks, s.Max)
	}
	for _, r := range p.rows {
		if p.tuned[r].anchor {
			continue
		}
		p.sweep.Sizes = append(p.sweep.Sizes, r.Size)
		p.sweep.Planned++
	}
	slices.Sort(p.sweep.Sizes)
	p.sweep.Sizes = slices.Compact(p.sweep.Sizes)
	if p.auto {
		p.sweep.Planned = len(slices.DeleteFunc(p.callGroups(), func(c *contest) bool { return c.anchor }))
		p.noteFastest()
	}
	p.notes()
	return p, nil
}

// addRanks plans the rows of the library for each number of ranks in turn. With a tuning table
// these are its rows, else those of all targets.
func (p *perfPlan) addRanks(ctx context.Context, auto bool, tuning *algorithm.Tuning) error {
	ranks, err := p.ranks()
	if err != nil {
		return err
	}
	for _, p.spec.Base.Ranks = range ranks {
		if tuning != nil {
			err = p.addTuned(ctx, tuning)
		} else {
			err = p.addAll(ctx, auto)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ranks lists the numbers of ranks that are measured.
func (p *perfPlan) ranks() ([]int, error) {
	all := p.spec.Ranks
	for i, n := range all {
		if slices.Contains(all[:i], n) {
			return nil, fmt.Errorf("%d ranks are in the list twice", n)
		}
	}
	switch len(all) {
	case 0:
		return []int{p.spec.Base.Ranks}, nil
	case 1:
		return all, nil
	}
	for _, v := range p.spec.Vary {
		if v.Key == "defaults.world_size" {
			return nil, fmt.Errorf("both key %s and the number of ranks are varied: vary one of the two", v.Key)
		}
	}
	p.sweep.RanksList = all
	return all, nil
}

// addAll plans the rows of all targets. With verified, only those whose results are right.
func (p *perfPlan) addAll(ctx context.Context, verified bool) error {
	targets, err := p.allTargets()
	if err != nil {
		return err
	}
	for i, t := range targets {
		if verified {
			p.progress("perf, checks of algorithms", i, len(targets))
			right := p.isVerified(ctx, t)
			if err := ctx.Err(); err != nil {
				return err // an interrupted check finds nothing
			}
			if !right {
				continue
			}
		}
		p.describe(t)
		if !verified {
			if err := p.add(ctx, t); err != nil {
				return err
			}
			continue
		}
		tried, err := p.withProtocols(t)
		if err != nil {
			return err
		}
		for _, t := range tried {
			if err := p.add(ctx, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// withProtocols returns a target of auto with each protocol of a machine on which they differ,
// unless the protocol is set or varied. Algorithms whose data switches combine or copy use simple
// only, because such data carry no flags.
func (p *perfPlan) withProtocols(t perfTarget) ([]perfTarget, error) {
	all := t.Job.Machine.Topology().Software().Protocols
	const key = "protocol"
	if p.isSet(key) || t.Plan.Config.Protocol != "simple" || t.Plan.Algorithm.Multimem || all.LL == all.Simple && all.LL128 == all.Simple {
		return []perfTarget{t}, nil
	}
	tried := []perfTarget{t}
	tried[0].protocol = "simple"
	for _, name := range []string{"ll128", "ll"} {
		one, err := p.target(t.Plan.Name, slices.Concat(t.Settings, t.shape, []sweep.Setting{{Key: key, Value: name}}))
		if err != nil {
			return nil, err
		}
		one.Settings, one.shape, one.protocol = t.Settings, t.shape, name
		tried = append(tried, one)
	}
	return tried, nil
}

// isSet reports whether the user sets or varies a key of algorithms.
func (p *perfPlan) isSet(key string) bool {
	return slices.ContainsFunc(p.spec.Vary, func(v sweep.Variation) bool { return strings.HasSuffix(v.Key, key) }) ||
		slices.ContainsFunc(p.spec.Base.Sets, func(set string) bool {
			name, _, _ := strings.Cut(set, "=")
			return strings.HasSuffix(strings.TrimSpace(name), key)
		})
}

// describe sets the properties of the sweep that all targets share.
func (p *perfPlan) describe(t perfTarget) {
	w := p.sweep
	w.MadeBy.Add(t.Job.Machine.Topology().Fingerprint())
	if len(w.Algorithms) == 0 {
		w.Ranks, w.Machine = t.Plan.World, t.Job.Machine.Describe()
		w.Fidelity = t.Job.AtFidelity()
	}
	if t.Plan.World != w.Ranks {
		w.Ranks = 0
	}
	if t.Job.Machine.Describe() != w.Machine {
		w.Machine = "machines that differ"
	}
	if !slices.Contains(w.Algorithms, t.Plan.Name) {
		w.Algorithms = append(w.Algorithms, t.Plan.Name)
	}
}

// allTargets lists every algorithm with every combination of the varied settings.
func (p *perfPlan) allTargets() ([]perfTarget, error) {
	var all []perfTarget
	var out leftOut
	for _, settings := range sweep.Combinations(p.spec.Vary) {
		names, err := p.algorithms(settings)
		if err != nil {
			return nil, err
		}
		x, err := p.load("", settings)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			var shape []sweep.Setting // extents of a grid, chosen by --algorithm auto or all
			if p.spec.AllAlgorithms {
				shape = sweep.Shape(x, name)
			}
			t, err := p.target(name, slices.Concat(settings, shape))
			t.Settings, t.shape = settings, shape
			if err == nil && p.spec.AllAlgorithms {
				_, err = t.Small()
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

// algorithms returns the names of the algorithms to measure.
func (p *perfPlan) algorithms(settings []sweep.Setting) ([]string, error) {
	switch {
	case p.spec.AllAlgorithms && len(p.spec.Algorithms) > 0:
		return nil, fmt.Errorf("found both a list of algorithms (%s) and all: give one of the two", strings.Join(p.spec.Algorithms, ", "))
	case p.spec.AllAlgorithms:
		if _, err := p.load("", settings); err != nil {
			return nil, err // an invalid configuration fails every algorithm
		}
		return sweep.AlgorithmsOf(p.what.Name), nil
	case len(p.spec.Algorithms) > 0:
		return p.spec.Algorithms, nil
	}
	x, err := p.load("", settings)
	if err != nil {
		return nil, err
	}
	return []string{sweep.DefaultAlgorithm(x.Entries, p.what)}, nil
}

// load makes the job of an algorithm. The algorithm "" gives a job without one.
func (p *perfPlan) load(algorithm string, settings []sweep.Setting) (*run.Job, error) {
	return sweep.Load(&p.spec.Base, algorithm, settings)
}

// target prepares an algorithm, on a device that only checks whether the machine supports it.
func (p *perfPlan) target(name string, settings []sweep.Setting) (perfTarget, error) {
	t, err := sweep.NewTarget(&p.spec.Base, p.what, name, settings)
	return perfTarget{Target: t}, err
}

// note adds a note to the sweep, once.
func (p *perfPlan) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(p.sweep.Notes, text) {
		p.sweep.Notes = append(p.sweep.Notes, text)
	}
}

func (p *perfPlan) notes() {
	s := p.spec
	untimed := p.executor.Needs(exec.Clock)
	switch {
	case untimed != nil:
		p.note("%v: there are no times, so only one iteration is run", untimed)
	case s.Iterations > 1 || s.Warmup > 0:
		p.note("time is simulated, from an idle machine: all iterations take the same time, so only one is run")
	}
	if err := p.executor.Needs(exec.Data); err != nil && s.Check {
		p.note("not checked: %v", err)
	}
	p.noteOverhead()
}

// noteOverhead adds a note if the times of a sweep include the start of a collective in software.
func (p *perfPlan) noteOverhead() {
	least, most := unit.MaxTime, unit.Time(0)
	for _, r := range p.rows {
		least, most = min(least, r.Launch), max(most, r.Launch)
	}
	switch {
	case most == 0:
	case least == most:
		p.note("times include the start of a collective in software, %v: the simulation begins after it", most)
	default:
		p.note("times include the start of a collective in software, %v to %v depending on the protocol: the simulation begins after it",
			least, most)
	}
}
