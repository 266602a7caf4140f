package perf_test

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/exec/sim"
	_ "kernbench/internal/fixedseed"
	_ "kernbench/lab/faulty"
	"kernbench/lab/perf"
	"kernbench/lab/sweep"
	"kernbench/tl"
	"kernbench/unit"

	"pgregory.net/rapid"
)

// rounding returns a small sweep for rounding errors.
func rounding(collective string, ranks int, algorithms ...string) perf.RoundingSpec {
	s := perf.RoundingSpec{Spec: perfOf(collective, ranks)}
	s.Algorithms, s.Types, s.Base.Executor = algorithms, []dtype.Type{dtype.BF16}, mock.Name
	s.Min, s.Max = unit.KiB, unit.KiB
	return s
}

func looked(t *testing.T, s perf.RoundingSpec) *perf.Rounding {
	t.Helper()
	var rows []perf.RoundingRow
	n, err := perf.Round(context.Background(), s, nil, func(r *perf.RoundingRow) { rows = append(rows, *r) })
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != n.Planned || len(n.Rows) != n.Planned {
		t.Fatalf("%d rows handed out, %d listed, %d planned", len(rows), len(n.Rows), n.Planned)
	}
	return n
}

// No algorithm of the library is farther off than its own tree of additions allows, for all data
// and types. Partial sums in f32 round once.
func TestNumericsOfTheLibrary(t *testing.T) {
	const world = 6
	odd := 0
	for _, of := range []struct {
		collective string
		typ        dtype.Type
		op         tl.ReduceOp
		inputs     string
	}{
		{"all_reduce", dtype.BF16, tl.Sum, "uniform"},
		{"all_reduce", dtype.F32, tl.Avg, "cancel"},
		{"reduce_scatter", dtype.F16, tl.Sum, "normal"},
		{"reduce", dtype.BF16, tl.Avg, "wide"},
		{"reduce", dtype.F64, tl.Sum, "normal"},
	} {
		s := rounding(of.collective, world)
		s.Base.Topology, s.AllAlgorithms = "ahbm-cube", true
		s.Types, s.Ops, s.Inputs = []dtype.Type{of.typ}, []tl.ReduceOp{of.op}, []string{of.inputs}
		s.Vary = []sweep.Variation{{Key: "accumulate", Values: []string{"same", "f32"}}}
		for _, r := range looked(t, s).Rows {
			where := strings.Join([]string{r.Algorithm, r.Type, r.RedOp, r.Inputs, r.Settings[0].Value}, " ")
			if strings.HasPrefix(r.Algorithm, "lab_") {
				if r.Algorithm == "lab_odd" && r.RoundingFound != nil { // an algorithm of these tests that is wrong
					if odd++; !r.Bad() || r.Incomplete == 0 || r.Wrong == 0 {
						t.Errorf("%s passes: %+v", where, r.RoundingFound)
					}
				}
				continue
			}
			if r.RoundingFound == nil || r.Bad() || r.Incomplete > 0 || r.OfBound > 1 {
				t.Errorf("%s: %s %+v", where, r.Note, r.RoundingFound)
				continue
			}
			least, most := uint32(bits.Len(world-1)), uint32(world-1)
			if r.RedOp == "avg" {
				least, most = least+1, most+1
			}
			wide := r.Settings[0].Value == "f32" && of.typ.Size() < 4
			if wide {
				least, most = least+1, most+1
				if r.MaxULP > 0.51 {
					t.Errorf("%s: %g ulp", where, r.MaxULP)
				}
			}
			if r.MinHeight < least || r.MaxHeight > most {
				t.Errorf("%s: heights %d to %d, want %d to %d", where, r.MinHeight, r.MaxHeight, least, most)
			}
			for _, c := range r.Chunkings {
				if c.Error != "" || len(c.Hash) != 16 {
					t.Errorf("%s: %+v", where, c)
				}
			}
		}
	}
	if odd == 0 {
		t.Error("nothing wrong was looked at")
	}
}

// Long sums of ones and of ranks have known errors, by a chain and by a tree.
func TestNumericsFacts(t *testing.T) {
	for _, tt := range []struct {
		name      string
		algorithm string
		ranks     int
		typ       dtype.Type
		inputs    string
		height    uint32
		ulps      float64
		stalled   int64 // of elements' additions
		overflow  int64
	}{
		{"a chain of ones stops at 256", "chain_reduce", 512, dtype.BF16, "ones", 511, 64, 256, 0},
		{"a tree of ones does not", "binomial_reduce", 512, dtype.BF16, "ones", 9, 0, 0, 0},
		{"361 ranks fit", "chain_reduce", 361, dtype.F16, "ranks", 360, -1, -1, 0},
		{"362 ranks do not", "chain_reduce", 362, dtype.F16, "ranks", 361, -1, -1, 2},
		{"nor as a tree", "binomial_reduce", 362, dtype.F16, "ranks", 9, -1, -1, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := rounding("reduce", tt.ranks, tt.algorithm)
			s.Base.Sets, s.Inputs, s.Types = []string{"system.sips.count=4"}, []string{tt.inputs}, []dtype.Type{tt.typ}
			s.Min, s.Max = 4, 4 // two elements
			r := looked(t, s).Rows[0]
			if r.RoundingFound == nil || r.MaxHeight != tt.height || tt.ulps >= 0 && r.MaxULP != tt.ulps ||
				tt.stalled >= 0 && r.Stalled != 2*tt.stalled || r.Overflow != tt.overflow {
				t.Fatalf("%s %+v", r.Note, r.RoundingFound)
			}
			if (r.FirstOverflow != nil) != (tt.overflow > 0) {
				t.Errorf("first overflow %+v", r.FirstOverflow)
			}
			if o := r.FirstOverflow; o != nil &&
				(o.Op != "add" || !strings.HasPrefix(o.Line, "algorithm/") && !strings.Contains(o.Line, "/algorithm/")) {
				t.Errorf("overflows first at %+v", o)
			}
			if r.RanksAgree != nil || r.Results != 0 {
				t.Errorf("only the root has a result: %v", r.RanksAgree)
			}
		})
	}
}

// The order of additions decides whether all ranks have the same bits, and whether these depend on
// chunks.
func TestNumericsAgreement(t *testing.T) {
	for _, tt := range []struct {
		algorithm     string
		ranks, chunks bool
		chunkings     []string
	}{
		{"ring_allreduce", false, true, []string{"as it is", "count/2", "count-1", "slots"}},
		{"ring_allreduce_chunked", true, false, []string{"as it is", "count/2", "count-1", "slots", "chunk_size"}},
		{"binomial_allreduce", true, true, []string{"as it is", "count/2", "count-1", "slots"}},
		{"window_allreduce_onephase", false, true, []string{"as it is", "count/2", "count-1"}},
		{"double_tree_allreduce", true, false, []string{"as it is", "count/2", "count-1", "slots", "chunk_size"}},
	} {
		t.Run(tt.algorithm, func(t *testing.T) {
			s := rounding("all_reduce", 8, tt.algorithm)
			s.Inputs = []string{"normal"}
			r := looked(t, s).Rows[0]
			if *r.RanksAgree != tt.ranks || *r.ChunkingAgrees != tt.chunks || (r.Results == 1) != tt.ranks {
				t.Errorf("ranks agree: %v (%d results), chunks: %v", *r.RanksAgree, r.Results, *r.ChunkingAgrees)
			}
			var names []string
			for _, c := range r.Chunkings {
				names = append(names, c.Name)
				if c.Agrees != (c.Hash == r.Chunkings[0].Hash) {
					t.Errorf("%+v beside %s", c, r.Chunkings[0].Hash)
				}
			}
			if !slices.Equal(names, tt.chunkings) {
				t.Errorf("chunkings %q, want %q", names, tt.chunkings)
			}
			s.Base.Executor = sim.Name
			timed := looked(t, s).Rows[0]
			if timed.Hash != r.Hash || timed.Time <= 0 || r.Time != 0 || timed.Moved != r.Moved || r.Moved <= 0 {
				t.Errorf("hash %s in %v for %d B, without a clock %s in %v for %d B", timed.Hash, timed.Time,
					timed.Moved, r.Hash, r.Time, r.Moved)
			}
		})
	}
}

// Partial sums in f32 take twice the bytes and more time. With them algorithms that sum in
// different orders agree.
func TestNumericsOfAccumulation(t *testing.T) {
	s := rounding("all_reduce", 8, "ring_allreduce_chunked", "binomial_allreduce")
	s.Base.Executor = sim.Name
	s.Vary = []sweep.Variation{{Key: "accumulate", Values: []string{"same", "f32"}}}
	rows := looked(t, s).Rows
	for i, narrow := range rows[:2] {
		wide := rows[2+i]
		if wide.Algorithm != narrow.Algorithm || wide.Moved != 2*narrow.Moved || wide.Time <= narrow.Time ||
			wide.MaxULP > 0.51 || narrow.MaxULP < 1 {
			t.Errorf("%s: %d B, %v, %g ulp, and in f32 %d B, %v, %g ulp", narrow.Algorithm, narrow.Moved, narrow.Time,
				narrow.MaxULP, wide.Moved, wide.Time, wide.MaxULP)
		}
	}
	var letters []string
	for _, r := range rows {
		letters = append(letters, r.Bits)
	}
	if !slices.Equal(letters, []string{"A", "B", "C", "C"}) {
		t.Errorf("bits %q", letters)
	}
}

func TestNumericsRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(s *perf.RoundingSpec)
		want   string
	}{
		{"what adds nothing", func(s *perf.RoundingSpec) { s.Collective = "all_gather" }, "performs no additions"},
		{"integers", func(s *perf.RoundingSpec) { s.Types = []dtype.Type{dtype.I32} }, "not a float type"},
		{"maxima", func(s *perf.RoundingSpec) { s.Ops = []tl.ReduceOp{tl.Max} }, "rounds nothing"},
		{"inputs", func(s *perf.RoundingSpec) { s.Inputs = []string{"random"} }, `unknown inputs "random": want one of uniform`},
		{"whatever is fastest", func(s *perf.RoundingSpec) {
			s.Algorithms, s.Base.Executor = []string{"auto"}, sim.Name
		}, "name algorithms, or all"},
		{"collective", func(s *perf.RoundingSpec) { s.Collective = "all_reduc" }, "did you mean"},
		{"setting", func(s *perf.RoundingSpec) {
			s.Vary = []sweep.Variation{{Key: "accumulate", Values: []string{"f64"}}}
		}, "accumulate"},
	} {
		s := rounding("all_reduce", 4)
		tt.change(&s)
		if _, err := perf.Round(context.Background(), s, nil, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// Data that are too large are not examined, and a note reports this. An interruption keeps the
// finished rows.
func TestNumericsThatDoNotEnd(t *testing.T) {
	s := rounding("all_reduce", 4)
	s.Memory = 128 * unit.KiB
	s.Max = 64 * unit.KiB
	rows := looked(t, s).Rows
	if last := rows[len(rows)-1]; rows[0].RoundingFound == nil || last.RoundingFound != nil ||
		!strings.Contains(last.Note, "--mem 128 KiB") {
		t.Errorf("first %q, last %q", rows[0].Note, last.Note)
	}
	ctx, stop := context.WithCancel(context.Background())
	n, err := perf.Round(ctx, s, nil, func(*perf.RoundingRow) { stop() })
	if !errors.Is(err, context.Canceled) || len(n.Rows) == 0 || len(n.Rows) == n.Planned {
		t.Errorf("%d of %d rows: %v", len(n.Rows), n.Planned, err)
	}
}

// No result is farther off than the tree of its additions allows, for random calls.
func TestNumericsNeverBeyondTheirBounds(t *testing.T) {
	names := map[string][]string{
		"all_reduce": {"ring_allreduce", "ring_allreduce_chunked", "bidirectional_ring_allreduce",
			"binomial_allreduce", "double_tree_allreduce",
			"swing_allreduce", "direct_allreduce", "window_allreduce_onephase", "window_allreduce_bidirectional_ring"},
		"reduce_scatter": {"ring_reduce_scatter", "pairwise_reduce_scatter", "window_reduce_scatter"},
		"reduce":         {"chain_reduce", "binomial_reduce", "direct_reduce"},
	}
	rapid.Check(t, func(t *rapid.T) {
		collective := rapid.SampledFrom([]string{"all_reduce", "reduce_scatter", "reduce"}).Draw(t, "collective")
		s := rounding(collective, rapid.IntRange(1, 8).Draw(t, "ranks"), rapid.SampledFrom(names[collective]).Draw(t, "algorithm"))
		s.Base.Topology, s.Base.Seed = "ahbm-cube", rapid.Uint64().Draw(t, "seed")
		s.Min = unit.Bytes(rapid.IntRange(64, 600).Draw(t, "size"))
		s.Max = s.Min
		s.Types = []dtype.Type{rapid.SampledFrom([]dtype.Type{dtype.BF16, dtype.F16, dtype.F32, dtype.F64}).Draw(t, "type")}
		s.Ops = []tl.ReduceOp{rapid.SampledFrom([]tl.ReduceOp{tl.Sum, tl.Avg}).Draw(t, "op")}
		s.Inputs = []string{rapid.SampledFrom([]string{"uniform", "normal", "ones", "wide", "cancel"}).Draw(t, "inputs")}
		s.Base.Sets = []string{"defaults.accumulate=" + rapid.SampledFrom([]string{"same", "f32"}).Draw(t, "accumulate")}
		n, err := perf.Round(context.Background(), s, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range n.Rows {
			if r.RoundingFound == nil {
				t.Skip(r.Note) // some algorithms do not take all ranks
			}
			if r.Bad() || r.Incomplete > 0 || r.OfBound > 1 || r.Overflow > 0 {
				t.Fatalf("%s: %+v, worst %+v", r.Note, r.Report, r.Worst)
			}
		}
	})
}
