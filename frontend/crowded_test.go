package frontend

import (
	"strings"
	"testing"

	"kernbench/frontend/plan"
)

// A program with more blocks than multiprocessors gets a warning, and one with as many does not. If
// the machine is unknown, only a verdict mentions an A100.
func TestCrowded(t *testing.T) {
	for _, c := range []struct {
		blocks, sms   int
		warns, judges string
	}{
		{132, 132, "", ""},
		{133, 132, "133 thread blocks", "has 132 multiprocessors"},
		{1, 1, "", ""},
		{2, 1, "2 thread blocks", "has 1 multiprocessors"},
		{108, 0, "", ""},
		{109, 0, "", "an A100 has 108 multiprocessors"},
		{0, 1, "", ""},
	} {
		p := &plan.Program{Blocks: c.blocks}
		if got := Crowded(p, c.sms); (got == "") != (c.warns == "") || !strings.Contains(got, c.warns) {
			t.Errorf("%d blocks, %d multiprocessors: %q, want %q", c.blocks, c.sms, got, c.warns)
		}
		if got := crowded(p, c.sms); (got == "") != (c.judges == "") || !strings.Contains(got, c.judges) {
			t.Errorf("%d blocks, %d multiprocessors: note %q, want %q", c.blocks, c.sms, got, c.judges)
		}
	}
}
