package trace

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kernbench/unit"
)

func TestTimelineDoublesItsWidth(t *testing.T) {
	const ns = unit.Nanosecond
	var l Timeline
	l.Add(0, 5*ns)
	l.Add(30*ns, 45*ns)
	l.Add(1270*ns, 1271*ns)
	if l.Width != 20*ns {
		t.Fatalf("the width is %v", l.Width)
	}
	want := make([]unit.Time, 64)
	want[0], want[1], want[2], want[63] = 5*ns, 10*ns, 5*ns, 1*ns
	if d := cmp.Diff(want, l.Busy); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
