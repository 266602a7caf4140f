package lab

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
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
	Exhaustive bool     // all types and operations at all sizes, not a covering set
	Seed       uint64   //
	Limits     exec.Limits

	Row      func(TestRow)    // gets the rows as they come; may be nil
	Progress func(p Progress) // may be nil
}

// TestRanks are the world sizes of a test that names none.
var TestRanks = []int{1, 2, 3, 4, 5, 7, 8, 16, 31}

// testCounts are elements per rank: none to share out, fewer than ranks, not divisible, a
// chunk for everybody, more than a slot of 4 KiB holds. Of a collective that gives each rank
// a block they are the elements of a block.
func testCounts(what *collective.Collective, world int) []int {
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
	for _, name := range names {
		for _, world := range ranks {
			if s.Progress != nil {
				s.Progress(Progress{Phase: "test", Done: int64(len(sum.Rows)), Total: int64(len(names) * len(ranks))})
			}
			row := x.testRow(ctx, name, world, s.Exhaustive)
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

// testCases are all counts for f16 sums, and of types × operations every pair once, at
// counts that take turns.
func testCases(what *collective.Collective, world int, exhaustive bool) []testCase {
	ops, counts := tl.ReduceOps(), testCounts(what, world)
	if !what.Reduces {
		ops = ops[:1]
	}
	var cases []testCase
	for _, n := range counts {
		cases = append(cases, testCase{n, dtype.F16, ops[0]})
	}
	for i, t := range dtype.Types() {
		for k, op := range ops {
			for j, n := range counts {
				turn := (i*len(ops) + k) % len(counts)
				if (exhaustive || j == turn) && (t != dtype.F16 || op != ops[0]) {
					cases = append(cases, testCase{n, t, op})
				}
			}
		}
	}
	return cases
}

// testRow tests an algorithm at one world size.
func (x *setting) testRow(ctx context.Context, name string, world int, exhaustive bool) (row TestRow) {
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
	if err := x.possible(choice, what, world); err != nil {
		row.Skipped = err.Error()
		return row
	}
	for _, c := range testCases(what, world, exhaustive) {
		if alg.Check != nil && alg.Check(world, c.n) != nil {
			continue // the algorithm says that it cannot
		}
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

// possible reports whether an algorithm and its topology can have a world of that size.
func (x *setting) possible(c *device.Choice, what *collective.Collective, world int) error {
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
		for _, n := range testCounts(what, world) {
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
