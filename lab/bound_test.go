package lab

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"kernbench/bound"
	"kernbench/collective"
	"kernbench/unit"
)

// What perf measures is never below what bound says of the same ranks and sizes, for whatever the
// library performs. The limits of each collective are there, and grow with size.
func TestPerfIsWithinBounds(t *testing.T) {
	sets := []string{"system.sips.count=2", "sip.cube_mesh.w=1", "sip.cube_mesh.h=1", "system.link.bw_gbs=64"}
	for _, what := range collective.All() {
		if len(algorithmsOf(what.Name)) == 0 {
			continue
		}
		t.Run(what.Name, func(t *testing.T) {
			base := Spec{Sets: sets, Ranks: 16}
			l, err := Bound(context.Background(), BoundSpec{Base: base, Collective: what.Name, Min: unit.KiB, Max: 256 * unit.KiB, Factor: 16})
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
				return // it has no size to be measured at
			}
			s, err := Perf(context.Background(), PerfSpec{
				Base: base, Collective: what.Name, Algorithms: honest(what.Name), Min: unit.KiB, Max: 256 * unit.KiB, Factor: 16,
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

// honest lists the algorithms of a collective but for those of these tests, which are wrong.
func honest(collective string) []string {
	return slices.DeleteFunc(algorithmsOf(collective), func(name string) bool { return strings.HasPrefix(name, "lab_") })
}

func TestBoundOfDevices(t *testing.T) {
	l, err := Bound(context.Background(), BoundSpec{Base: Spec{Devices: []int{0, 255}, NElem: 1}, Collective: "allgather"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(l.PEs, []int32{0, 255}) || len(l.Rows) != 1 || l.Rows[0].Binding != bound.Distance || l.Rows[0].Size != 8 {
		t.Errorf("%+v", l)
	}
	w := l.Rows[0].Bounds[0].Witness
	if w.From != "sip0.cube0.pe0" && w.To != "sip0.cube0.pe0" || !slices.Contains(w.Links, "sip0.io->switch") && !slices.Contains(w.Links, "sip1.io->switch") {
		t.Errorf("witness %+v", w)
	}
}

func TestBoundIsRefused(t *testing.T) {
	tests := []struct {
		name string
		spec BoundSpec
		want string
	}{
		{"collective", BoundSpec{Collective: "all_redcue"}, "all_reduce"},
		{"root", BoundSpec{Collective: "reduce", Base: Spec{Ranks: 2, NElem: 1}, Root: 2}, "root 2"},
		{"algorithm", BoundSpec{Collective: "reduce", Base: Spec{Algorithm: "ring_allreduce", NElem: 1}}, "performs all_reduce, not reduce"},
		{"algorithm's ranks", BoundSpec{Collective: "all_reduce", Base: Spec{Algorithm: "mesh_allreduce", Ranks: 6, NElem: 1}}, "not a square"},
		{"ranks", BoundSpec{Collective: "all_reduce", Base: Spec{Ranks: 1000, NElem: 1}}, "1000"},
		{"sizes", BoundSpec{Collective: "all_gather", Min: 8, Max: 1, Factor: 2}, "below the smallest"},
		{"nothing", BoundSpec{Collective: "all_gather", Min: 1, Max: 2, Factor: 2}, "have no element"},
		{"too much", BoundSpec{Collective: "all_gather", Base: Spec{NElem: 1 << 50}}, "at most"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := Bound(context.Background(), test.spec); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestBoundInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	l, err := Bound(ctx, BoundSpec{Collective: "all_gather", Base: Spec{Ranks: 2}, Min: 8, Max: 64, Factor: 2})
	if !errors.Is(err, context.Canceled) || l == nil || len(l.Rows) > 0 {
		t.Errorf("%+v, %v", l, err)
	}
}
