package report_test

import (
	"strings"
	"testing"

	"kernbench/lab/run"
	"kernbench/report"
)

// TestRepairs: what an edit applies to is printed only if a repair is an edit of a line.
func TestRepairs(t *testing.T) {
	slots := run.Repair{What: "n_slots: 2"}
	edit := run.Repair{What: "adding a receive after line 4", Line: "kernel.go:4"}
	for _, tt := range []struct {
		name  string
		found []run.Repair
		wrong []string
		fixed []string
		want  string
	}{
		{"none", nil, nil, nil, "repair          nothing found: 3 runs in 0s\n"},
		{"an end with wrong results", nil, []string{"adding a receive after line 4"}, nil, "repair          nothing found: 3 runs in 0s\n" +
			"                adding a receive after line 4: the run ends, and its results are wrong\n"},
		{"two of them", nil, []string{"leaving out line 4", "leaving out line 5"}, nil, "repair          nothing found: 3 runs in 0s\n" +
			"                leaving out line 4: the run ends, and its results are wrong, also with 1 other change\n"},
		{"an order that is fixed", nil, nil, []string{"line 4 cannot come after line 5"},
			"repair          nothing found: 3 runs in 0s\n                line 4 cannot come after line 5\n"},
		{"slots", []run.Repair{slots}, nil, nil, "repair          n_slots: 2 works\n                3 runs in 0s\n"},
		{"slots and an edit", []run.Repair{slots, edit}, nil, nil, "repair          n_slots: 2 works\nrepair          adding a receive after line 4 works\n" +
			"                3 runs in 0s; an edit applies to its line in all iterations and on all ranks\n"},
	} {
		var b strings.Builder
		if err := report.Repairs(&b, &run.Repairs{Found: tt.found, Wrong: tt.wrong, Fixed: tt.fixed, Tried: 3}); err != nil {
			t.Fatal(err)
		}
		if b.String() != tt.want {
			t.Errorf("%s:\n%swant\n%s", tt.name, b.String(), tt.want)
		}
	}
}
