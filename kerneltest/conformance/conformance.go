package conformance

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/exec"
	"kernbench/kerneltest"
	"kernbench/lab/run"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/topology"
)

// Counts counts the cases of a conformance test by their outcome.
type Counts struct {
	Ran     int
	Skipped map[exec.Capability]int // by the capability that the executor lacks
}

// Run runs every algorithm of the library on an executor. It varies numbers of ranks, element
// counts, types, operations and memory orders in turn, or with exhaustive all counts. A case is a
// subtest. A case that needs a capability that the executor lacks is skipped, and names it.
//
// Results are judged by provenance and by value where the executor moves bytes. On all executors
// the messages, and the accesses of each rank to the memory of others, must be those of the default
// executor for checking.
func Run(t *testing.T, x *exec.Row, exhaustive bool) Counts {
	counts := Counts{Skipped: map[exec.Capability]int{}}
	var mu sync.Mutex
	t.Run("library", func(t *testing.T) { // ends after all of its parallel subtests
		for _, a := range algorithm.All() {
			t.Run(a.Name, func(t *testing.T) {
				t.Parallel()
				for _, c := range cases(t, a, exhaustive) {
					t.Run(c.String(), func(t *testing.T) {
						missing := c.run(t, x)
						mu.Lock()
						if missing == nil {
							counts.Ran++
						} else {
							counts.Skipped[missing.Capabilities[0]]++
						}
						mu.Unlock()
						if missing != nil {
							t.Skip(missing)
						}
					})
				}
			})
		}
	})
	return counts
}

// conformanceCase is one run of an algorithm.
type conformanceCase struct {
	algorithm *algorithm.Algorithm
	ranks, n  int
	typ       dtype.Type
	op        tl.ReduceOp
	order     mem.Ordering
	width     int // of a grid; 0: the topology has none
}

func (c conformanceCase) String() string {
	return fmt.Sprintf("%d/%d/%v/%v/%v", c.ranks, c.n, c.order, c.typ, c.op)
}

// small is a machine of one SIP. Its routes are the embedded ones, so building it does not examine
// them.
var small = []string{"system.sips.count=1"}

// worlds are numbers of ranks: fewer than a cube has, a cube, and more.
var worlds = []int{1, 2, 3, 5, 8, 17}

// elements are counts per rank: fewer than the ranks, such that do not divide, and several slots.
// Where each rank gets a block, they are those of a block.
var elements = []int{1, 2, 7, 8, 100, 3000}

// cases lists the cases of an algorithm: one or two counts for each number of ranks, or all.
func cases(t *testing.T, a *algorithm.Algorithm, exhaustive bool) []conformanceCase {
	t.Helper()
	what, err := collective.Lookup(a.Collective)
	if err != nil {
		t.Fatal(err)
	}
	ops, types := a.Ops, a.Types
	switch {
	case !what.Reduces:
		ops = []tl.ReduceOp{tl.Sum}
	case ops == nil:
		ops = tl.ReduceOps()
	}
	if types == nil {
		types = dtype.Types()
	}
	var all []conformanceCase
	k := 0
	for i, ranks := range worlds {
		for j, n := range elements {
			if what.Blocks {
				n *= ranks
			}
			k++ // also for counts that are left out, so that types and orders do not follow the counts
			if !exhaustive && j != i && (ranks > 3 || j != (i+3)%len(elements)) || a.Check != nil && a.Check(ranks, n) != nil {
				continue
			}
			all = append(all, conformanceCase{
				algorithm: a, ranks: ranks, n: n, width: width(t, a, ranks),
				typ: types[k%len(types)], op: ops[k%len(ops)], order: mem.Ordering(k % (int(mem.Sequential) + 1)),
			})
		}
	}
	return all
}

// width returns the width of a grid of ranks that is as near to a square as possible. It is 0 if
// the topology of the algorithm is no grid.
func width(t *testing.T, a *algorithm.Algorithm, ranks int) int {
	t.Helper()
	top, err := topology.Lookup(a.Topology)
	if err != nil {
		t.Fatal(err)
	}
	if !top.Planar {
		return 0
	}
	h := 1
	for n := 2; n*n <= ranks; n++ {
		if ranks%n == 0 {
			h = n
		}
	}
	return ranks / h
}

// run performs a case. It returns the capability that the executor lacks for it, or nil.
func (c *conformanceCase) run(t *testing.T, x *exec.Row) *exec.Missing {
	s := run.Spec{
		Bench: bench.CCLHello.Name, Algorithm: c.algorithm.Name, Ranks: c.ranks, NElem: c.n, DType: c.typ, Op: c.op,
		Sets:     slices.Concat(small, []string{"fabric.memory_order=" + c.order.String()}),
		Executor: x.Name, VerifyData: x.Can(exec.Data),
	}
	if c.algorithm.Multimem {
		s.Sets = append(s.Sets, kerneltest.SwitchSettings(c.ranks)...)
	}
	if c.width > 0 {
		s.Sets = append(s.Sets, fmt.Sprintf("algorithms.%s.w=%d", c.algorithm.Name, c.width))
	}
	r, err := run.Run(t.Context(), s)
	if missing, ok := errors.AsType[*exec.Missing](err); ok {
		if missing.Executor != x.Name || slices.ContainsFunc(missing.Capabilities, x.Can) {
			t.Fatalf("%v, but the row of %s has that", err, x.Name)
		}
		return missing
	}
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK() || x.Can(exec.Data) && (r.RanksFailed != 0 || r.Verdict("provenance").State != run.Checked) {
		t.Fatalf("%+v", r)
	}
	if x.Can(exec.Clock) != r.Timed || r.Timed && c.ranks > 1 && r.SimulatedTime <= 0 || !r.Timed && r.SimulatedTime != 0 {
		t.Errorf("timed: %v, time %v", r.Timed, r.SimulatedTime)
	}
	reference := exec.Default(exec.Checking)
	if x == reference {
		return nil
	}
	s.Executor, s.VerifyData = reference.Name, false
	want, err := run.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if r.Messages != want.Messages || r.MessageBytes != want.MessageBytes {
		t.Errorf("%d messages of %d bytes; on %s %d of %d", r.Messages, r.MessageBytes, reference.Name, want.Messages, want.MessageBytes)
	}
	if len(r.Traffic) != len(want.Traffic) {
		t.Fatalf("traffic of %d ranks; on %s of %d", len(r.Traffic), reference.Name, len(want.Traffic))
	}
	for rank, got := range r.Traffic {
		if got != want.Traffic[rank] {
			t.Fatalf("traffic %+v; on %s %+v", got, reference.Name, want.Traffic[rank])
		}
	}
	return nil
}
