package perf

import (
	"testing"

	"kernbench/lab/sweep"
	"kernbench/unit"
)

// TestDue: an algorithm is measured if its line does not rule it out. A time that falls with size
// gives no line.
func TestDue(t *testing.T) {
	const earlier, size = unit.MiB, 4 * unit.MiB
	fast := []sweep.Point{{Size: earlier / 4, Time: 6}, {Size: earlier, Time: 10}} // 26 at size
	for _, c := range []struct {
		name  string
		other []sweep.Point
		due   [2]bool // fast, other
	}{
		{"never measured", nil, [2]bool{true, true}},
		{"one point", []sweep.Point{{Size: earlier, Time: 1000}}, [2]bool{true, true}},
		{"as fast", fast, [2]bool{true, true}},
		{"hopeless", []sweep.Point{{Size: earlier / 4, Time: 100}, {Size: earlier, Time: 200}}, [2]bool{true, false}},
		{"far ahead", []sweep.Point{{Size: earlier / 4, Time: 1}, {Size: earlier, Time: 1}}, [2]bool{false, true}},
		{"a change of schedule", []sweep.Point{{Size: earlier / 4, Time: 22}, {Size: earlier, Time: 11}}, [2]bool{true, true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows := []*Row{{Algorithm: "fast"}, {Algorithm: "other"}}
			contest := &contest{size: size, rows: rows}
			near, unknown := contest.due(map[string][]sweep.Point{contest.key(rows[0]): fast, contest.key(rows[1]): c.other}, nil)
			got := [2]bool{}
			for _, r := range append(near, unknown...) {
				got[0], got[1] = got[0] || r == rows[0], got[1] || r == rows[1]
			}
			if got != c.due {
				t.Errorf("due: %v, want %v (fast, other)", got, c.due)
			}
		})
	}
}
