package selfbench

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"kernbench/internal/exhaustive"
)

func TestExponent(t *testing.T) {
	points := []GrowthPoint{{Ranks: 8, Messages: 64 * 3}, {Ranks: 16, Messages: 256 * 3}, {Ranks: 64, Messages: 4096 * 3}}
	messages := func(p *GrowthPoint) float64 { return float64(p.Messages) }
	if e := exponent(points, messages); e == nil || math.Abs(*e-2) > 1e-9 {
		t.Errorf("exponent of 3 N² is %v", e)
	}
	if exponent(points[:1], messages) != nil || exponent(points, func(p *GrowthPoint) float64 { return float64(p.Events) }) != nil {
		t.Error("one point, or counts of nothing, have an exponent")
	}
}

// Known laws: the messages of a ring, and of a barrier by all pairs, grow with the square of the
// ranks. Those of halving and doubling grow with N log N.
func TestGrow(t *testing.T) {
	if !exhaustive.On() {
		t.Skip("it measures this tool: run it with -exhaustive")
	}
	g, err := Grow(t.Context(), Spec{Short: true, Runs: 1, Limit: time.Minute,
		Only: []string{"ring_allreduce_chunked", "allpairs_barrier", "halving_doubling_allreduce"}})
	if err != nil || len(g.Rows) != 3 {
		t.Fatalf("%+v, %v", g, err)
	}
	for i, want := range []float64{2, 1.25, 2} {
		if r := &g.Rows[i]; r.Messages == nil || math.Abs(*r.Messages-want) > 0.12 || r.Time == nil || len(r.Points) != 4 || r.Note != "" {
			t.Errorf("%s: %v, want about %v: %+v", r.Algorithm, r.Messages, want, r)
		}
	}
}

func TestGrowEnds(t *testing.T) {
	r := &GrowthRow{Points: []GrowthPoint{{Ranks: 2, Seconds: 1}, {Ranks: 4, Seconds: 8}}}
	if got := r.expect(8); math.Abs(got-64) > 1e-9 {
		t.Errorf("1, 8 go on with %v", got)
	}
	// A coarse clock, on which the first run took nothing.
	r = &GrowthRow{Points: []GrowthPoint{{Ranks: 8, Seconds: 1e-6}, {Ranks: 16, Seconds: 0.008}}}
	if got := r.expect(32); math.Abs(got-0.016) > 1e-9 {
		t.Errorf("a clock that stands still goes on with %v", got)
	}
	// A run may end before the clock has moved: then the row ends where the next number is expected
	// to take longer.
	g, err := Grow(t.Context(), Spec{Runs: 1, Limit: time.Nanosecond, Only: []string{"ring_allreduce"}})
	if err != nil || len(g.Rows) != 1 || len(g.Rows[0].Points) > 2 ||
		!strings.Contains(g.Rows[0].Note, "did not end within 1ns") && !strings.Contains(g.Rows[0].Note, "would take") {
		t.Errorf("%+v, %v", g, err)
	}
	// A number of ranks that an algorithm cannot have is no end.
	g, err = Grow(t.Context(), Spec{Short: true, Runs: 1, Limit: time.Minute, Only: []string{"mesh_allreduce"}})
	if err != nil || len(g.Rows[0].Points) != 2 || g.Rows[0].Points[1].Ranks != 64 || g.Rows[0].Note != "" {
		t.Errorf("%+v, %v", g, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if g, err := Grow(ctx, Spec{Runs: 1, Limit: time.Minute}); err == nil || len(g.Rows) != 0 {
		t.Errorf("%+v, %v", g, err)
	}
}
