package limits

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"kernbench/check/bound"
	"kernbench/lab/run"
	"kernbench/unit"
)

func TestBoundOfDevices(t *testing.T) {
	l, err := Run(context.Background(), Spec{Base: run.Spec{Devices: []int{0, 255}, NElem: 1}, Collective: "allgather"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(l.PEs, []int32{0, 255}) || len(l.Rows) != 1 || l.Rows[0].Size != 8 {
		t.Errorf("%+v", l)
	}
	far := l.Rows[0].Bounds[0]
	if far.Kind != bound.Distance || l.Rows[0].Hardware > far.Time+far.Time/1000 {
		t.Errorf("%v, want the distance or hardly more: %+v", l.Rows[0].Hardware, far)
	}
	w := far.Witness
	if w.From != "sip0.cube0.pe0" && w.To != "sip0.cube0.pe0" || !slices.Contains(w.Links, "sip0.io->switch") &&
		!slices.Contains(w.Links, "sip1.io->switch") {
		t.Errorf("witness %+v", w)
	}
}

func TestBoundIsRefused(t *testing.T) {
	tests := []struct {
		name string
		spec Spec
		want string
	}{
		{"collective", Spec{Collective: "all_redcue"}, "all_reduce"},
		{"root", Spec{Collective: "reduce", Base: run.Spec{Ranks: 2, NElem: 1}, Root: 2}, "root 2"},
		{"algorithm", Spec{Collective: "reduce", Base: run.Spec{Algorithm: "ring_allreduce", NElem: 1}}, "performs all_reduce, not reduce"},
		{"algorithm's ranks", Spec{Collective: "all_reduce",
			Base: run.Spec{Algorithm: "mesh_allreduce", Ranks: 6, NElem: 1}}, "not a square"},
		{"ranks", Spec{Collective: "all_reduce", Base: run.Spec{Ranks: 1000, NElem: 1}}, "1000"},
		{"sizes", Spec{Collective: "all_gather", Min: 8, Max: 1, Factor: 2}, "below the smallest"},
		{"nothing", Spec{Collective: "all_gather", Min: 1, Max: 2, Factor: 2}, "have no element"},
		{"too much", Spec{Collective: "all_gather", Base: run.Spec{NElem: 1 << 50}}, "at most"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := Run(context.Background(), test.spec); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestBoundNotesRoundedSizes(t *testing.T) {
	for _, tt := range []struct {
		smallest unit.Bytes
		want     []string
	}{
		{7, []string{"sizes are rounded down to whole elements: 7 B becomes 4 B"}},
		{8, []string{}},
	} {
		spec := Spec{Collective: "all_reduce", Base: run.Spec{Ranks: 4}, Min: tt.smallest, Max: tt.smallest, Factor: 2}
		if l, err := Run(context.Background(), spec); err != nil || !slices.Equal(l.Notes, tt.want) {
			t.Errorf("%v: notes %q, %v, want %q", tt.smallest, l.Notes, err, tt.want)
		}
	}
}

func TestBoundInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	l, err := Run(ctx, Spec{Collective: "all_gather", Base: run.Spec{Ranks: 2}, Min: 8, Max: 64, Factor: 2})
	if !errors.Is(err, context.Canceled) || l == nil || len(l.Rows) > 0 {
		t.Errorf("%+v, %v", l, err)
	}
}
