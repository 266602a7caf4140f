package lab

import (
	"math"
	"testing"
)

// TestProbeAgainstPublished prints the simulated default machine beside the published
// figures and holds it to 5 %.
func TestProbeAgainstPublished(t *testing.T) {
	rows, err := Probe(t.Context(), Spec{})
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, r := range rows {
		t.Logf("%-18s %9.2f ns, published %6.0f ns: %+5.1f %%   (%s)", r.Case, r.Time.Ns(), r.Published, r.Deviation, r.Placement)
		if r.Published == 0 {
			continue
		}
		compared++
		if math.Abs(r.Deviation) > 5 {
			t.Errorf("%s: %v is %+.1f %% off the published %v ns", r.Case, r.Time, r.Deviation, r.Published)
		}
	}
	if compared != 9 {
		t.Errorf("%d cases compared, want 9", compared)
	}
}

// TestProbeFitsTheMachine: a machine is probed where it has places, and is not held
// against figures of another.
func TestProbeFitsTheMachine(t *testing.T) {
	rows, err := Probe(t.Context(), Spec{Topology: "ahbm-cube"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Published != 0 {
			t.Errorf("%s: published figure %v beside another machine", r.Case, r.Published)
		}
		if r.Case == "other SIP" || r.Case == "next cube east" {
			t.Errorf("a machine of one cube has no %s", r.Case)
		}
	}
}
