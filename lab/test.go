package lab

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/collective"
	"kernbench/device"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/fault"
	"kernbench/tl"
	"kernbench/topology"
)

// TestSpec says which algorithms to test, on what.
type TestSpec struct {
	Topology string   // as in Spec; it bounds the world sizes
	CCL      string   //
	Sets     []string //

	Algorithms []string // entries of ccl.yaml or of the library; nil: the whole library
	Ranks      []int    // world sizes; nil: TestRanks

	Ops    []tl.ReduceOp // that are tested, those that an algorithm does not support left out; nil: all
	Types  []dtype.Type  // that are tested, as Ops; nil: all
	Counts []int         // elements per rank; nil: numbers that are hard in different ways

	Exhaustive bool   // all types and operations at all sizes, not a covering set
	Seed       uint64 //
	Limits     exec.Limits

	Row      func(TestRow)    // gets the rows as they come; may be nil
	Progress func(p Progress) // may be nil
}

// TestRanks are the world sizes of a test that names none.
var TestRanks = []int{1, 2, 3, 4, 5, 7, 8, 16, 31}

// counts are elements per rank: none to share out, fewer than ranks, not divisible, a
// chunk for everybody, more than a slot of 4 KiB holds. Of a collective that gives each rank
// a block they are the elements of a block.
func (s *TestSpec) counts(what *collective.Collective, world int) []int {
	if s.Counts != nil {
		return s.Counts
	}
	counts := []int{1, 2, 7, 8, 32, 100, 4097}
	if what.Blocks {
		for i := range counts {
			counts[i] *= world
		}
	}
	return counts
}

// TestRow is an algorithm at one world size.
type TestRow struct {
	Algorithm string        `json:"algorithm"`
	World     int           `json:"world_size"`
	Cases     int           `json:"cases"` // element counts × types × operations that were run
	OK        int           `json:"ok"`
	Failed    int           `json:"failed"`
	Skipped   string        `json:"skipped,omitempty"` // why nothing was run, where the algorithm or its topology cannot
	First     string        `json:"first_failure,omitempty"`
	Command   string        `json:"reproduce,omitempty"` // shows the first failure again
	WallTime  time.Duration `json:"wall_time_ns"`
}

// TestSummary counts what a test found.
type TestSummary struct {
	Rows    []TestRow `json:"rows"`
	Cases   int       `json:"cases"`
	Failed  int       `json:"failed"`
	Skipped int       `json:"skipped"` // rows
}

// OK reports whether something was tested and nothing failed.
func (s *TestSummary) OK() bool { return s.Cases > 0 && s.Failed == 0 }

// Test runs algorithms on the default executor for checking over world sizes, element counts, types and
// operations, and judges every result by provenance and by value. The error is a mistake
// in the spec; what an algorithm does wrong is in the rows.
func Test(ctx context.Context, s TestSpec) (*TestSummary, error) {
	x, err := load(Spec{
		Topology: s.Topology, CCL: s.CCL, Sets: s.Sets, Seed: s.Seed, Limits: s.Limits,
		Bench: bench.CCLHello.Name, VerifyData: true, Executor: exec.Default(exec.Checking).Name,
	})
	if err != nil {
		return nil, err
	}
	names := s.Algorithms
	if len(names) == 0 {
		for _, a := range algorithm.All() {
			names = append(names, a.Name)
		}
	}
	for _, name := range names {
		if _, err := device.ResolveAlgorithm(x.ccl, name); err != nil {
			return nil, err
		}
	}
	ranks := s.Ranks
	if len(ranks) == 0 {
		ranks = TestRanks
	}
	for _, world := range ranks {
		if world < 1 {
			return nil, fmt.Errorf("%d ranks: at least 1 is needed", world)
		}
	}
	sum := &TestSummary{Rows: []TestRow{}}
	for _, n := range s.Counts {
		if n < 1 {
			return nil, fmt.Errorf("%d elements per rank: at least 1 is needed", n)
		}
	}
	for _, name := range names {
		for _, world := range ranks {
			if s.Progress != nil {
				s.Progress(Progress{Phase: "test", Done: int64(len(sum.Rows)), Total: int64(len(names) * len(ranks))})
			}
			row := x.testRow(ctx, &s, name, world)
			if ctx.Err() != nil {
				return sum, ctx.Err()
			}
			sum.Rows = append(sum.Rows, row)
			sum.Cases += row.Cases
			sum.Failed += row.Failed
			if row.Skipped != "" {
				sum.Skipped++
			}
			if s.Row != nil {
				s.Row(row)
			}
		}
	}
	return sum, nil
}

// testCase is one run of a test.
type testCase struct {
	n   int
	typ dtype.Type
	op  tl.ReduceOp
}

// cases are all counts for sums of f16, or of the first type and operation that are tested, and
// of types × operations every pair once, at counts that take turns. With Exhaustive, or with
// Counts, they are every pair at every count. What the row of the algorithm refuses is left out.
func (s *TestSpec) cases(a *algorithm.Algorithm, what *collective.Collective, world int) []testCase {
	ops, types, counts := s.Ops, s.Types, s.counts(what, world)
	switch {
	case !what.Reduces:
		ops = []tl.ReduceOp{tl.Sum}
	case ops == nil:
		ops = tl.ReduceOps()
	}
	if types == nil {
		types = dtype.Types()
	}
	ops = slices.DeleteFunc(slices.Clone(ops), func(op tl.ReduceOp) bool { return a.Ops != nil && !slices.Contains(a.Ops, op) })
	types = slices.DeleteFunc(slices.Clone(types), func(t dtype.Type) bool { return a.Types != nil && !slices.Contains(a.Types, t) })
	if len(ops) == 0 || len(types) == 0 {
		return nil
	}
	usual := types[0]
	if slices.Contains(types, dtype.F16) {
		usual = dtype.F16
	}
	var cases []testCase
	for _, n := range counts {
		cases = append(cases, testCase{n, usual, ops[0]})
	}
	for i, t := range types {
		for k, op := range ops {
			for j, n := range counts {
				turn := (i*len(ops) + k) % len(counts)
				if (s.Exhaustive || s.Counts != nil || j == turn) && (t != usual || op != ops[0]) {
					cases = append(cases, testCase{n, t, op})
				}
			}
		}
	}
	return slices.DeleteFunc(cases, func(c testCase) bool {
		return what.Check(collective.Call{World: world, Elems: c.n, Type: c.typ, Op: c.op}) != nil ||
			a.Check != nil && a.Check(world, c.n) != nil
	})
}

// testRow tests an algorithm at one world size.
func (x *setting) testRow(ctx context.Context, s *TestSpec, name string, world int) (row TestRow) {
	row = TestRow{Algorithm: name, World: world}
	start := time.Now()
	defer func() {
		row.WallTime = time.Since(start)
		// Runs keep their panics to themselves; what an algorithm's row says of sizes is asked here.
		if v := recover(); v != nil {
			row.Cases, row.Failed = row.Cases+1, row.Failed+1
			row.First = cmp.Or(row.First, fmt.Sprintf("panic: %v\n%s", v, debug.Stack()))
		}
	}()
	choice, err := device.ResolveAlgorithm(x.ccl, name)
	if err != nil {
		row.Skipped = err.Error()
		return row
	}
	alg := choice.Algorithm
	races := alg.Window != nil // what passes through rings has its order
	what, err := collective.Lookup(alg.Collective)
	if err != nil {
		row.Cases, row.Failed, row.First = 1, 1, err.Error()
		return row
	}
	if x, err = x.sized(choice, world); err == nil {
		err = x.possible(s, choice, what, world)
	}
	if err != nil {
		row.Skipped = err.Error()
		return row
	}
	cases := s.cases(alg, what, world)
	if len(cases) == 0 {
		row.Skipped = "it supports none of the operations, types and counts that are tested"
	}
	for _, c := range cases {
		y := *x
		y.Algorithm, y.Ranks, y.world, y.NElem, y.DType, y.Op = name, world, world, c.n, c.typ, c.op
		y.Race = &races
		r, err := y.run(ctx)
		row.Cases++
		if err == nil && r.OK() {
			row.OK++
			continue
		}
		row.Failed++
		if row.First == "" {
			row.First = fmt.Sprintf("%d × %v, %v: %s", c.n, c.typ, c.op, firstWrong(r, err))
			row.Command = y.command()
		}
		if is[*fault.Stalled](err) {
			break // each further case would wait as long
		}
	}
	return row
}

// sized is the setting with a machine that holds a world: the default machine gets as many SIPs as
// that takes. One that the spec describes stays as it is.
func (x *setting) sized(c *device.Choice, world int) (*setting, error) {
	have, each := x.machine.NumPEs(), x.machine.NumPEs()/x.machine.SIPs()
	if c.Config.RankLevel == "sip" {
		have, each = x.machine.SIPs(), 1
	}
	named := slices.ContainsFunc(x.Sets, func(s string) bool { return strings.HasPrefix(s, "system.") })
	if world <= have || x.Topology != "" || named {
		return x, nil
	}
	s := x.Spec
	s.Sets = append(slices.Clone(s.Sets), fmt.Sprintf("system.sips.count=%d", (world+each-1)/each))
	return load(s)
}

// possible reports whether an algorithm and its topology can have a world of that size.
func (x *setting) possible(s *TestSpec, c *device.Choice, what *collective.Collective, world int) error {
	cfg, alg := &c.Config, c.Algorithm
	have, ranks := x.machine.NumPEs(), "PEs"
	if cfg.RankLevel == "sip" {
		have, ranks = x.machine.SIPs(), "SIPs"
	}
	if world > have {
		return fmt.Errorf("the machine has %d %s", have, ranks)
	}
	_, err := c.Topology.Fit(world, topology.Grid{W: cfg.W, H: cfg.H})
	if err != nil {
		return err
	}
	if alg.Check != nil {
		for _, n := range s.counts(what, world) {
			if err = alg.Check(world, n); err == nil {
				return nil
			}
		}
	}
	return err
}

// firstWrong says what a run found first: in a line, or for a hazard in a few.
func firstWrong(r *Result, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case len(r.Failures) > 0:
		return r.Failures[0].String()
	}
	for _, v := range r.Verdicts {
		if v.State == Failed && v.Question == races && len(r.Hazards) > 0 {
			return v.String() + "\n" + r.Hazards[0].String()
		}
		if v.State == Failed {
			return v.String()
		}
	}
	return "the result is not right"
}

// command is what a person types to see a run again.
func (x *setting) command() string {
	s := fmt.Sprintf("kernbench run --bench %s --algorithm %s --ranks %d --n-elem %d --dtype %v --op %v --platform %s --verify-data",
		x.Bench, x.Algorithm, x.Ranks, x.NElem, x.DType, x.Op, x.Executor)
	for _, f := range []struct{ flag, value string }{{"topology", x.Topology}, {"ccl", x.CCL}} {
		if f.value != "" {
			s += fmt.Sprintf(" --%s %s", f.flag, f.value)
		}
	}
	for _, set := range x.Sets {
		s += fmt.Sprintf(" --set '%s'", set)
	}
	if x.Input != "" {
		s += fmt.Sprintf(" --input '%s'", x.Input)
	}
	if x.Seed != 0 {
		s += fmt.Sprintf(" --seed %d", x.Seed)
	}
	return s
}
