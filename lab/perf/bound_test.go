package perf

import (
	"context"
	"fmt"
	"testing"

	"kernbench/check/bound"
	"kernbench/dtype"
	"kernbench/exec/mock"
	"kernbench/lab/limits"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// boundedSweep returns a small sweep with a bound in each row.
func boundedSweep(collective string, ranks int) Spec {
	return Spec{
		Base:       run.Spec{Ranks: ranks, Sets: []string{"system.sips.count=2", "sip.cube_mesh.w=1", "sip.cube_mesh.h=1"}},
		Collective: collective, Algorithms: honest(collective), Min: unit.KiB, Max: 64 * unit.KiB, Factor: 64, Bound: true,
	}
}

func swept(t *testing.T, s Spec) *Sweep {
	t.Helper()
	sweep, err := Run(context.Background(), s, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sweep
}

// No row is faster than its bound, in either placement. The bound is that of limits.Run for the
// row's algorithm with the row's settings.
func TestPerfBounds(t *testing.T) {
	for _, tt := range []struct {
		name       string
		collective string
		ranks      int
		change     func(s *Spec)
		limits     []limits.Kind // each of which binds somewhere
	}{
		{"as it is", "all_reduce", 4, func(*Spec) {}, []limits.Kind{limits.ByDistance, limits.ByMemory}},
		{"between SIPs", "all_to_all", 16, func(s *Spec) {
			s.Base.Sets = append(s.Base.Sets,
				"system.link.bw_gbs=16")
		}, []limits.Kind{limits.ByCut}},
		{"ideal", "all_reduce", 4, func(s *Spec) { s.Base.Fidelity = "ideal" }, []limits.Kind{limits.ByVector}},
		{"flit", "reduce_scatter", 4, func(s *Spec) { s.Base.Fidelity = "flit" }, nil},
		{"from a root", "broadcast", 5, func(s *Spec) { s.Roots, s.Types = []int{0, 3}, []dtype.Type{dtype.F16, dtype.I64} }, nil},
		{"settings of rings", "all_reduce", 4, func(s *Spec) {
			s.Algorithms = []string{"ring_allreduce", "ring_allreduce_chunked"}
			s.Vary = []sweep.Variation{{Key: "slot_size", Values: []string{"64", "4096"}}}
		}, []limits.Kind{limits.BySlots}},
		{"settings of the machine", "all_gather", 4, func(s *Spec) {
			s.Vary = []sweep.Variation{{Key: "pe.link_bw_gbs", Values: []string{"16", "256"}},
				{Key: "cube.hbm.access_ns", Values: []string{"10", "5000"}}}
		}, []limits.Kind{limits.ByNode, limits.ByDistance}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := boundedSweep(tt.collective, tt.ranks)
			tt.change(&s)
			sweep := swept(t, s)
			bind, rings, apart := map[limits.Kind]bool{}, 0, 0
			for i := range sweep.Rows {
				r := &sweep.Rows[i]
				where := fmt.Sprintf("%s %v %s from %d, %v", r.Algorithm, r.Size, r.Type, r.Root, r.Settings)
				if r.Bound == nil || r.Us == nil || r.Fraction == nil || *r.Fraction <= 0 || *r.Fraction > 1 {
					t.Fatalf("%s: %+v", where, r.Bound)
				}
				bind[r.Limit] = true
				fastest := r.Placements()[0].Time
				for _, p := range r.Placements() {
					fastest = min(fastest, p.Time)
				}
				near(t, where, *r.Fraction*float64(fastest), *r.Us*1e6)
				l := alone(t, &s, r)
				if row := l.Rows[0]; row.Binding != r.Limit || row.ByHardware != r.HardwareLimit {
					t.Errorf("%s: %v by %s, %v by %s, alone %+v", where, *r.Us, r.Limit, *r.HardwareUs, r.HardwareLimit, row)
				} else {
					near(t, where, *r.Us, row.Configured.Ns()/1e3)
					near(t, where, *r.HardwareUs, row.Hardware.Ns()/1e3)
				}
				near(t, where, *r.HardwareFraction*float64(fastest), *r.HardwareUs*1e6)
				if *r.HardwareUs < *r.Us {
					apart++
				}
				if l.Rings {
					rings++
				}
			}
			for _, k := range tt.limits {
				if !bind[k] {
					t.Errorf("%s binds nowhere: %v", k, bind)
				}
			}
			if tt.collective == "all_reduce" && rings == 0 {
				t.Error("no algorithm is on rings")
			}
			if bind[limits.BySlots] && apart == 0 {
				t.Error("nowhere do rings limit more than the machine")
			}
		})
	}
}

// alone finds the limits of a row by limits.Run.
func alone(t *testing.T, s *Spec, r *Row) *limits.Limits {
	t.Helper()
	base := s.Base
	base.Algorithm = r.Algorithm
	for _, set := range r.Settings {
		key := set.Key
		if key == "slot_size" {
			key = "algorithms." + r.Algorithm + "." + key
		}
		base.Sets = append(base.Sets[:len(base.Sets):len(base.Sets)], key+"="+set.Value)
	}
	var err error
	if base.DType, err = dtype.Parse(r.Type); err != nil {
		t.Fatal(err)
	}
	l, err := limits.Run(context.Background(), limits.Spec{
		Base: base, Collective: s.Collective, Root: max(0, r.Root), Min: r.Size, Max: r.Size, Factor: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func near(t *testing.T, where string, got, want float64) {
	t.Helper()
	if got < want*(1-1e-9) || got > want*(1+1e-9) {
		t.Errorf("%s: %v, want %v", where, got, want)
	}
}

// Where there is no time, and where nothing limits, there is no number. A run without the request
// has no limits. A run that fails has its limits all the same.
func TestPerfWithoutBounds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(s *Spec)
		want   Bound // whether there is a number
	}{
		{"mock", func(s *Spec) { s.Base.Executor = mock.Name }, Bound{}},
		{"one rank", func(s *Spec) { s.Base.Ranks = 1 }, Bound{}},
		{"deadlock", func(s *Spec) { s.Base.Sets = append(s.Base.Sets, "algorithms.ring_allreduce.n_slots=1") },
			Bound{Us: new(float64), Limit: limits.ByDistance}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := boundedSweep("all_reduce", 4)
			s.Algorithms, s.Max = []string{"ring_allreduce"}, s.Min
			tt.change(&s)
			for _, r := range swept(t, s).Rows {
				if b := r.Bound; b == nil || (b.Us == nil) != (tt.want.Us == nil) || b.Fraction != nil || b.Limit != tt.want.Limit {
					t.Errorf("%+v, want as %+v", b, tt.want)
				}
			}
		})
	}
	s := boundedSweep("all_reduce", 4)
	s.Max, s.Bound = s.Min, false
	for _, r := range swept(t, s).Rows {
		if r.Bound != nil {
			t.Errorf("not asked for: %+v", r.Bound)
		}
	}
}

// Algorithms and settings share the solver of a machine. Other ranks and other machines have their
// own.
func TestPerfSolvers(t *testing.T) {
	s := boundedSweep("all_reduce", 0)
	s.Vary = []sweep.Variation{{Key: "defaults.world_size", Values: []string{"4", "8"}},
		{Key: "defaults.slot_size", Values: []string{"512", "4096"}}, {Key: "pe.link_bw_gbs", Values: []string{"16", "256"}}}
	s.Algorithms = []string{"ring_allreduce", "window_allreduce_ring"}
	p, err := planPerf(context.Background(), &s)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.solvers) != 4 || len(p.bounded) != len(p.rows) {
		t.Errorf("%d solvers, want 4 for 2 worlds on 2 machines; limits of %d rows, want %d", len(p.solvers), len(p.bounded), len(p.rows))
	}
	seen := map[*bound.Solver]bool{}
	for _, on := range p.bounded {
		seen[on.solver] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d solvers are asked, want 4", len(seen))
	}
}
