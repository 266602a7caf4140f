package perf

import (
	"context"
	"slices"
	"strings"
	"testing"

	"kernbench/collective"
	"kernbench/lab/limits"
	"kernbench/lab/run"
	"kernbench/lab/sweep"
	"kernbench/unit"
)

// A time of perf is never below the limit of bound for the same ranks and size, for all collectives
// of the library. Each collective has limits, and they grow with size.
func TestPerfIsWithinBounds(t *testing.T) {
	sets := []string{"system.sips.count=2", "sip.cube_mesh.w=1", "sip.cube_mesh.h=1", "system.link.bw_gbs=64"}
	for _, what := range collective.All() {
		if len(sweep.AlgorithmsOf(what.Name)) == 0 {
			continue
		}
		t.Run(what.Name, func(t *testing.T) {
			base := run.Spec{Sets: sets, Ranks: 16}
			l, err := limits.Run(context.Background(),
				limits.Spec{Base: base, Collective: what.Name, Min: unit.KiB, Max: 64 * unit.KiB, Factor: 8})
			if err != nil {
				t.Fatal(err)
			}
			if l.Ranks != 16 || len(l.Rows) == 0 {
				t.Fatalf("%d ranks, %d rows", l.Ranks, len(l.Rows))
			}
			least := map[unit.Bytes]unit.Time{}
			last := unit.Time(0)
			for _, row := range l.Rows {
				if row.Hardware <= 0 || row.Hardware < last || row.Configured < row.Hardware || row.Binding == "" || row.ByHardware == "" {
					t.Errorf("%v: %v by %s, as configured %v by %s", row.Size, row.Hardware, row.ByHardware, row.Configured, row.Binding)
				}
				least[row.Size], last = row.Hardware, row.Hardware
			}
			if what == collective.Barrier {
				return // it has no size
			}
			s, err := Run(context.Background(), Spec{
				Base: base, Collective: what.Name, Algorithms: honest(what.Name), Min: unit.KiB, Max: 64 * unit.KiB, Factor: 8,
			}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			for i := range s.Rows {
				for _, p := range s.Rows[i].Placements() {
					if p.Err != nil {
						continue
					}
					if compared++; p.Time < least[s.Rows[i].Size] || least[s.Rows[i].Size] == 0 && what.Size == nil {
						t.Errorf("%s, %v: %v is below the limit of %v", s.Rows[i].Algorithm, s.Rows[i].Size, p.Time, least[s.Rows[i].Size])
					}
				}
			}
			if compared == 0 {
				t.Error("nothing was measured")
			}
		})
	}
}

// honest lists the algorithms of a collective without those of these tests, which are wrong.
func honest(collective string) []string {
	return slices.DeleteFunc(sweep.AlgorithmsOf(collective),
		func(name string) bool {
			return strings.HasPrefix(name, "lab_") || strings.HasPrefix(name, "nvls_") || name == "sharp_allreduce"
		})
}
