package perf_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/internal/exhaustive"
	"kernbench/lab/perf"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/tl"
	"kernbench/unit"
)

// lazy is right for few elements, and does nothing where there are many.
var _ = algorithm.Register(algorithm.Algorithm{
	Name: "lab_lazy", Collective: "all_reduce", Topology: algorithm.RingAllReduce.Topology,
	Kernel: func(c *tl.Context, a tl.Args) {
		if a.NElem <= 128 {
			algorithm.RingAllReduce.Kernel(c, a)
		}
	},
})

// TestFastestIsRight: the fastest is shown only if its results are right.
func TestFastestIsRight(t *testing.T) {
	s := perfOf("all_reduce", 4)
	s.Algorithms = []string{"auto"}
	for _, r := range measured(t, s).Rows {
		if r.Algorithm == "lab_lazy" || r.InPlace.Wrong == nil || *r.InPlace.Wrong != 0 {
			t.Errorf("%s is shown: %+v", r.Algorithm, r.InPlace)
		}
	}
	s.Check = false
	for _, r := range measured(t, s).Rows {
		if r.Algorithm != "lab_lazy" {
			t.Errorf("%s is shown: without a check lab_lazy is faster than any other", r.Algorithm)
		}
	}
}

// TestFastestOfAll: the shown row is as fast as the best of all algorithms, or hardly slower. It is
// so too if rings have more and larger slots, or pipelines other pieces.
func TestFastestOfAll(t *testing.T) {
	type machine struct {
		topology string
		ranks    int
	}
	machines := []machine{{"dgx-h100", 8}, {"ahbm-cube", 8}, {"tpu-v4", 8}}
	collectives, most := []string{"reduce_scatter", "broadcast"}, 256*unit.KiB
	if exhaustive.On() {
		machines = append(machines, machine{"dgx-a100", 8}, machine{"dgx-b200", 8}, machine{"mi300x-8", 8}, machine{"ascend-910b-8", 8},
			machine{"leaf-spine-roce", 16}, machine{"tpu-v4", 16}, machine{"gb200-nvl72", 16}, machine{"ahbm", 16})
		collectives, most = append(collectives, "all_gather", "all_to_all"), 16*unit.MiB
	}
	for _, m := range machines {
		for _, what := range collectives {
			t.Run(fmt.Sprintf("%s/%s", m.topology, what), func(t *testing.T) {
				s := perfOf(what, m.ranks)
				s.Base.Topology, s.Check, s.Min, s.Max, s.Factor = m.topology, false, unit.KiB, most, 4
				s.AllAlgorithms = true
				if !strings.HasPrefix(m.topology, "ahbm") {
					s.Vary = []sweep.Variation{{Key: "protocol", Values: []string{"simple", "ll", "ll128"}}}
				}
				all := measured(t, s).Best
				varied := []unit.Time{}
				if m.topology == "ahbm-cube" || m.topology == "dgx-b200" { // where slots mattered most
					s.Vary = append(s.Vary, sweep.Variation{Key: "slot_size", Values: []string{"4KiB", "32KiB", "256KiB"}},
						sweep.Variation{Key: "n_slots", Values: []string{"8"}})
					for _, b := range measured(t, s).Best {
						varied = append(varied, b.Time)
					}
				}
				s.AllAlgorithms, s.Algorithms, s.Vary = false, []string{"auto"}, nil
				rows := measured(t, s).Rows
				if len(rows) != len(all) {
					t.Fatalf("%d rows of %d calls", len(rows), len(all))
				}
				for i, r := range rows {
					got, want := r.Deciding().Time, all[i].Time
					if float64(got) > 1.1*float64(want) || got < want && len(r.Chosen) == 0 || r.Size != all[i].Size {
						t.Errorf("%v: %s in %v, but %s takes %v", r.Size, r.Algorithm, got, all[i].Algorithm, want)
					}
					if len(varied) > 0 && float64(got) > 1.1*float64(varied[i]) {
						t.Errorf("%v: %s in %v, but with other slots %v are possible", r.Size, r.Algorithm, got, varied[i])
					}
				}
			})
		}
	}
}

// TestExtrapolated: sizes that are too large to simulate are extrapolated from smaller ones, and
// marked.
func TestExtrapolated(t *testing.T) {
	s := perfOf("all_reduce", 8)
	s.Base.Topology, s.Check, s.Algorithms = "dgx-a100", false, []string{"ring_allreduce_chunked", "direct_allreduce"}
	s.Min, s.Max = unit.MiB, 16*unit.MiB
	whole := measured(t, s)
	s.MeasureTo = 4 * unit.MiB
	part := measured(t, s)
	for i := range whole.Rows {
		want, got := &whole.Rows[i], &part.Rows[i]
		if want.Extrapolated != nil {
			t.Fatalf("%v is extrapolated, and that was not asked for: %+v", want.Size, want.Extrapolated)
		}
		if got.Size <= s.MeasureTo {
			if got.Extrapolated != nil || got.InPlace.Time != want.InPlace.Time {
				t.Errorf("%s %v: %v, want the %v that are simulated", got.Algorithm, got.Size, got.InPlace.Time, want.InPlace.Time)
			}
			continue
		}
		e := got.Extrapolated
		if e == nil || e.From != [2]unit.Bytes{2 * unit.MiB, 4 * unit.MiB} || e.Error == nil ||
			!strings.HasPrefix(got.Note, "extrapolated from 2 MiB and 4 MiB, which at 4 MiB is off by ") {
			t.Errorf("%s %v: %+v, %q", got.Algorithm, got.Size, e, got.Note)
		}
		for name, ratio := range map[string]float64{
			"in place":     float64(got.InPlace.Time) / float64(want.InPlace.Time),
			"out of place": float64(got.OutOfPlace.Time) / float64(want.OutOfPlace.Time),
			"busbw":        want.InPlace.BusBW / got.InPlace.BusBW,
		} {
			if ratio < 0.9 || ratio > 1.1 {
				t.Errorf("%s %v %s: %.3f times what a simulation finds", got.Algorithm, got.Size, name, ratio)
			}
		}
	}
}

// TestNotBelowLimits: a line may lead below the limits of the machine. The shown time does not.
func TestNotBelowLimits(t *testing.T) {
	s := perfOf("all_reduce", 8)
	s.Base.Topology, s.Check, s.Algorithms, s.Bound = "dgx-h100", false, []string{"ring_allreduce_chunked"}, true
	s.Min, s.Max, s.Factor, s.MeasureTo = 64*unit.KiB, unit.GiB, 128, 8*unit.MiB
	rows := measured(t, s).Rows
	last := rows[len(rows)-1]
	if last.Extrapolated == nil || *last.HardwareFraction > 1 {
		t.Errorf("%v in %v, which is %v of the limit", last.Size, last.InPlace.Time, *last.HardwareFraction)
	}
}

// TestAutoExtrapolates: with auto, sizes from 64 MiB on are extrapolated.
func TestAutoExtrapolates(t *testing.T) {
	s := perfOf("reduce_scatter", 2)
	s.Base.Topology, s.Check, s.Algorithms = "dgx-h100", false, []string{"auto"}
	s.Min, s.Max, s.Factor = unit.MiB, 512*unit.MiB, 8
	rows := measured(t, s).Rows
	if len(rows) != 4 || rows[2].Extrapolated != nil || rows[3].Extrapolated == nil {
		t.Errorf("%+v", rows)
	}
}

// TestAutoGivesGridsAShape: 8 ranks are no square. Algorithms on a grid take part with the grid of
// 4 × 2 there, as with w=4.
func TestAutoGivesGridsAShape(t *testing.T) {
	s := perf.Spec{
		Base: run.Spec{Topology: "ahbm-cube"}, Collective: "all_gather", Min: 64, Max: 64, Factor: 2,
		Algorithms: []string{"torus_allgather"}, Vary: []sweep.Variation{{Key: "w", Values: []string{"4"}}},
	}
	want := measured(t, s).Rows[0]
	s.Algorithms, s.Vary = []string{"auto"}, nil
	got := measured(t, s).Rows[0]
	if got.Algorithm != want.Algorithm || got.InPlace.Time != want.InPlace.Time || got.Note != "with w=4" {
		t.Errorf("%s takes %v (%s), want %s and %v", got.Algorithm, got.InPlace.Time, got.Note, want.Algorithm, want.InPlace.Time)
	}
}

// TestAutoExtrapolatesFromItsLargestSizes: sizes are far apart. What is beyond the measured ones
// goes on from the largest size that may be measured and its half, as with sizes that double.
func TestAutoExtrapolatesFromItsLargestSizes(t *testing.T) {
	s := perf.Spec{
		Base: run.Spec{Topology: "dgx-h100"}, Collective: "all_gather", Min: 16 * unit.KiB, Max: 8 * unit.MiB, Factor: 8,
		Algorithms: []string{"auto"}, MeasureTo: 2 * unit.MiB,
	}
	rows := measured(t, s).Rows
	if len(rows) != 4 || rows[2].Extrapolated != nil {
		t.Fatalf("%d rows", len(rows))
	}
	last := rows[3]
	if e := last.Extrapolated; e == nil || e.From != [2]unit.Bytes{unit.MiB, 2 * unit.MiB} {
		t.Fatalf("%+v", last.Extrapolated)
	}
	s.Algorithms, s.Min, s.MeasureTo = []string{last.Algorithm}, 8*unit.MiB, 0
	s.Vary = []sweep.Variation{{Key: "protocol", Values: []string{last.Protocol}}}
	if want := measured(t, s).Rows[0].InPlace.Time; math.Abs(float64(last.InPlace.Time)/float64(want)-1) > 0.2 {
		t.Errorf("%s %s: %v, simulated %v", last.Algorithm, last.Protocol, last.InPlace.Time, want)
	}
}

// TestSwitchesThatReduceOtherTypes: a sweep over all leaves out what reduces in switches that do
// not reduce the type, with the reason.
func TestSwitchesThatReduceOtherTypes(t *testing.T) {
	s := perfOf("all_reduce", 8)
	s.Base.Topology, s.Base.Sets, s.Check, s.Min, s.Max = "dgx-h100", []string{"system.switch.reduce.types=[f32]"}, false,
		unit.KiB, unit.KiB
	s.Types, s.AllAlgorithms, s.Algorithms = []dtype.Type{dtype.F16}, true, nil
	w := measured(t, s)
	for _, r := range w.Rows {
		if strings.HasPrefix(r.Algorithm, "nvls_") {
			t.Errorf("%s is measured", r.Algorithm)
		}
	}
	const note = "left out at 1 KiB: 8 ranks of f16: the switch reduces f32 only (switch.reduce.types): use f32,"
	if !slices.ContainsFunc(w.Notes, func(n string) bool { return strings.Contains(n, "nvls_allreduce") && strings.Contains(n, note) }) {
		t.Errorf("no note has %q: %q", note, w.Notes)
	}
}

// TestProgressOfAuto: checks of algorithms have progress, and so has each size. It grows with the
// rows that are measured or ruled out.
func TestProgressOfAuto(t *testing.T) {
	s := perfOf("all_reduce", 4)
	s.Base.Topology, s.Algorithms, s.Min, s.Max, s.Factor = "dgx-h100", []string{"auto"}, unit.MiB, 2*unit.MiB, 2
	var phases []string
	most, total := map[string]int64{}, map[string]int64{}
	s.Progress = func(p run.Progress) {
		if !slices.Contains(phases, p.Phase) {
			phases = append(phases, p.Phase)
		}
		if p.Done < most[p.Phase] || p.Done > p.Total || p.Total < total[p.Phase] {
			t.Errorf("%+v after %d of %d", p, most[p.Phase], total[p.Phase])
		}
		most[p.Phase], total[p.Phase] = p.Done, p.Total
	}
	measured(t, s)
	want := []string{"perf, checks of algorithms", "perf, size 1 of 2 (1 MiB)", "perf, size 2 of 2 (2 MiB)"}
	if !slices.Equal(phases, want) {
		t.Errorf("phases %q, want %q", phases, want)
	}
	if of := want[1]; most[of] < total[of]/2 || total[of] < 50 {
		t.Errorf("%s: %d of %d rows", of, most[of], total[of])
	}
}
