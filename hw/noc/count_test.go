package noc

import (
	"testing"

	"kernbench/unit"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestCounts counts the messages of TestBlockedMessagesHoldCredits, whose times are worked by hand.
func TestCounts(t *testing.T) {
	r := newRig(100, 1, 10, 1)
	r.CountUse()
	slow, free := r.over(0, 1), r.over(0, 2)
	for u := range uint32(3) {
		sendFrom(r.Fabric, 0, slow, Collective, 100, 0, u)
	}
	sendFrom(r.Fabric, 0, free, Collective, 100, 0, 3)
	sendFrom(r.Fabric, 0, free, Compute, 100, 0, 4)
	r.check(t, nil)
	want := []Count{
		{
			Link: 0, Busy: 500 * ns, Longest: 4,
			ByClass: [Classes]ClassCount{
				Compute: {Messages: 1, Bytes: 100, Queued: 100 * ns}, // after the first message
				Collective: {
					Messages: 4, Bytes: 400, Queued: (1005 + 2010 + 3015) * ns,
					Stalls: 3, Stalled: (1005 - 200 + 2010 - 1105 + 3015 - 2110) * ns,
				},
			},
		},
		{Link: 1, ByClass: [Classes]ClassCount{Collective: {Messages: 3, Bytes: 300}}, Busy: 3000 * ns},
		{
			Link: 2, ByClass: [Classes]ClassCount{Compute: {Messages: 1, Bytes: 100}, Collective: {Messages: 1, Bytes: 100}},
			Busy: 200 * ns,
		},
	}
	got := r.Counts()
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(Count{}, "Line")); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	for _, c := range got {
		sum := unit.Time(0)
		for _, b := range c.Line.Busy {
			sum += b
			if b > c.Line.Width {
				t.Errorf("link %d: busy for %v of %v", c.Link, b, c.Line.Width)
			}
		}
		if sum != c.Busy {
			t.Errorf("link %d: %v in its timeline, %v in all", c.Link, sum, c.Busy)
		}
	}
}
