// Package suite tests algorithms. It runs each on the executor for checking, over world sizes,
// element counts, types and operations, and judges every result by provenance and by value.
//
// It may import lab/run and packages below it. Start at Spec and Run.
package suite

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
	"kernbench/lab/run"
	"kernbench/tl"
	"kernbench/topology"
)

// Spec has the algorithms to test, and their sizes, types and operations.
type Spec struct {
	Topology string   // as in Spec; it bounds the world sizes
	CCL      string   //
	Sets     []string //

	Algorithms []string // entries of ccl.yaml or of the library; nil: the whole library
	Ranks      []int    // world sizes; nil: Ranks

	Ops    []tl.ReduceOp // to test, without those that an algorithm does not support; nil: all
	Types  []dtype.Type  // to test, as Ops; nil: all
	Counts []int         // elements per rank; nil: those of counts

	CalledAs   string // as in run.Spec
	Exhaustive bool   // all types and operations at all sizes, not a covering set
	Seed       uint64 //
	Limits     exec.Limits

	Row      func(Row)            // gets the rows as they come; may be nil
	Progress func(p run.Progress) // may be nil
}

// Ranks are the default world sizes of a test.
var Ranks = []int{1, 2, 3, 4, 5, 7, 8, 16, 31}

// counts returns numbers of elements per rank: one, fewer than ranks, not divisible, a chunk for
// each rank, and more than a slot holds. For a collective that gives each rank a block, they are
// the elements of a block.
func (s *Spec) counts(what *collective.Collective, world int) []int {
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

// Row is an algorithm at one world size.
type Row struct {
	Algorithm string        `json:"algorithm"`
	World     int           `json:"world_size"`
	Cases     int           `json:"cases"` // element counts × types × operations that were run
	OK        int           `json:"ok"`
	Failed    int           `json:"failed"`
	Skipped   string        `json:"skipped,omitempty"` // why nothing was run, if the algorithm or its topology does not support the size
	LeftOut   []LeftOut     `json:"left_out,omitempty"`
	First     string        `json:"first_failure,omitempty"`
	Command   string        `json:"reproduce,omitempty"` // reproduces the first failure
	WallTime  time.Duration `json:"wall_time_ns"`

	Fault   error        `json:"-"`                 // of the first failure; nil: its results were wrong
	Spec    run.Spec     `json:"-"`                 // of the first failure
	Repairs *run.Repairs `json:"repairs,omitempty"` // repairs that a caller has found
}

// LeftOut is element types that are not tested on a machine, with the reason.
type LeftOut struct {
	Types  []dtype.Type `json:"types"`
	Reason string       `json:"reason"`
}

// Summary counts what a test found.
type Summary struct {
	Rows    []Row `json:"rows"`
	Cases   int   `json:"cases"`
	Failed  int   `json:"failed"`
	Skipped int   `json:"skipped"` // rows
}

// OK reports whether something was tested and nothing failed.
func (s *Summary) OK() bool { return s.Cases > 0 && s.Failed == 0 }

// Run runs algorithms on the default executor for checking, over world sizes, element counts, types
// and operations. It judges every result by provenance and by value. The error is a mistake in the
// spec; mistakes of an algorithm are in the rows.
func Run(ctx context.Context, s Spec) (*Summary, error) {
	x, err := run.Load(run.Spec{
		Topology: s.Topology, CCL: s.CCL, Sets: s.Sets, Seed: s.Seed, Limits: s.Limits, CalledAs: s.CalledAs,
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
		if _, err := device.ResolveAlgorithm(x.Entries, name); err != nil {
			return nil, err
		}
	}
	ranks := s.Ranks
	if len(ranks) == 0 {
		ranks = Ranks
	}
	for _, world := range ranks {
		if world < 1 {
			return nil, fmt.Errorf("%d ranks: at least 1 is needed", world)
		}
	}
	sum := &Summary{Rows: []Row{}}
	for _, n := range s.Counts {
		if n < 1 {
			return nil, fmt.Errorf("%d elements per rank: at least 1 is needed", n)
		}
	}
	for _, name := range names {
		for _, world := range ranks {
			if s.Progress != nil {
				s.Progress(run.Progress{Phase: "test", Done: int64(len(sum.Rows)), Total: int64(len(names) * len(ranks))})
			}
			row := testRow(ctx, x, &s, name, world)
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

// cases returns all counts for sums of f16, or of the first type and operation that are tested. It
// adds every pair of types × operations once, at the counts in turn. With Exhaustive, or with
// Counts, they are every pair at every count. Cases that the algorithm's row rejects are left out,
// and those that the machine does not support.
func (s *Spec) cases(a *algorithm.Algorithm, what *collective.Collective, world int, lacks func(testCase) bool) []testCase {
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
	types = slices.DeleteFunc(types, func(t dtype.Type) bool {
		return !slices.ContainsFunc(ops, func(op tl.ReduceOp) bool { return !lacks(testCase{1, t, op}) })
	})
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
			a.Check != nil && a.Check(world, c.n) != nil || lacks(c)
	})
}

// testRow tests an algorithm at one world size.
func testRow(ctx context.Context, x *run.Job, s *Spec, name string, world int) (row Row) {
	row = Row{Algorithm: name, World: world}
	start := time.Now()
	defer func() {
		row.WallTime = time.Since(start)
		// Runs handle their panics; functions of the algorithm's row are called here.
		if v := recover(); v != nil {
			row.Cases, row.Failed = row.Cases+1, row.Failed+1
			row.First = cmp.Or(row.First, fmt.Sprintf("panic: %v\n%s", v, debug.Stack()))
		}
	}()
	resolved, err := device.ResolveAlgorithm(x.Entries, name)
	if err != nil {
		row.Skipped = err.Error()
		return row
	}
	alg := resolved.Algorithm
	races := alg.Window != nil // messages of rings are ordered
	what, err := collective.Lookup(alg.Collective)
	if err != nil {
		row.Cases, row.Failed, row.First = 1, 1, err.Error()
		return row
	}
	if x, err = sized(x, resolved, world); err == nil {
		err = possible(x, s, resolved, what, world)
	}
	if err != nil {
		row.Skipped = err.Error()
		return row
	}
	var plan *device.Plan
	if alg.Multimem && world > 1 {
		if plan, err = planOf(x, name, world); err != nil {
			row.Skipped = err.Error()
			return row
		}
	}
	cases := s.cases(alg, what, world, func(c testCase) bool { return row.leavesOut(plan, c) })
	switch {
	case len(cases) == 0 && row.LeftOut != nil:
		row.Skipped = "the switches of the machine reduce none of the types that are tested: " + row.LeftOut[0].Reason
	case len(cases) == 0:
		row.Skipped = "it supports none of the operations, types and counts that are tested"
	}
	for _, c := range cases {
		y := *x
		y.Algorithm, y.Ranks, y.NElem, y.DType, y.Op = name, world, c.n, c.typ, c.op
		y.Race = &races
		r, err := y.Run(ctx)
		row.Cases++
		if err == nil && r.OK() {
			row.OK++
			continue
		}
		row.Failed++
		if row.First == "" {
			row.First = fmt.Sprintf("%d × %v, %v: %s", c.n, c.typ, c.op, run.FirstWrong(r, err))
			row.Command, row.Fault, row.Spec = y.Reproduce(), err, y.Spec
		}
		if fault.IsStalled(err) {
			break // each further case would also run into the time limit
		}
	}
	return row
}

// planOf makes an algorithm ready for a world.
func planOf(x *run.Job, name string, world int) (*device.Plan, error) {
	dev, err := x.Device()
	if err != nil {
		return nil, err
	}
	return dev.InstallIPCQ(name, device.Install{World: world})
}

// leavesOut reports whether the switches of the machine do not reduce the type of a case, and notes
// it. A plan of nil has no switches.
func (r *Row) leavesOut(plan *device.Plan, c testCase) bool {
	if plan == nil {
		return false
	}
	err := plan.Combines(collective.Call{World: r.World, Elems: c.n, Type: c.typ, Op: c.op})
	if err == nil {
		return false
	}
	i := slices.IndexFunc(r.LeftOut, func(o LeftOut) bool { return o.Reason == err.Error() })
	if i < 0 {
		i = len(r.LeftOut)
		r.LeftOut = append(r.LeftOut, LeftOut{Reason: err.Error()})
	}
	if !slices.Contains(r.LeftOut[i].Types, c.typ) {
		r.LeftOut[i].Types = append(r.LeftOut[i].Types, c.typ)
	}
	return true
}

// sized returns the job with a machine that has enough PEs for a world. The default machine gets
// more SIPs. A machine of the spec is not changed.
func sized(x *run.Job, c *device.ResolvedAlgorithm, world int) (*run.Job, error) {
	have, each := x.Machine.NumPEs(), x.Machine.NumPEs()/x.Machine.SIPs()
	if c.Config.RankLevel == "sip" {
		have, each = x.Machine.SIPs(), 1
	}
	named := slices.ContainsFunc(x.Sets, func(s string) bool { return strings.HasPrefix(s, "system.") })
	if world <= have || x.Topology != "" || named {
		return x, nil
	}
	s := x.Spec
	s.Sets = append(slices.Clone(s.Sets), fmt.Sprintf("system.sips.count=%d", (world+each-1)/each))
	return run.Load(s)
}

// possible reports whether an algorithm and its topology support a world of that size.
func possible(x *run.Job, s *Spec, c *device.ResolvedAlgorithm, what *collective.Collective, world int) error {
	cfg, alg := &c.Config, c.Algorithm
	have, ranks := x.Machine.NumPEs(), "PEs"
	if cfg.RankLevel == "sip" {
		have, ranks = x.Machine.SIPs(), "SIPs"
	}
	if world > have {
		return fmt.Errorf("the machine has %d %s", have, ranks)
	}
	if alg.Multimem && world > 1 {
		pes := make([]int32, world)
		for i := range pes {
			pes[i] = int32(i)
		}
		if err := device.CanMultimem(x.Machine, alg, pes); err != nil {
			return err
		}
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
