package sweep

import (
	"testing"

	"kernbench/unit"
)

// The longest job that fits into memory runs first. Of jobs with unknown length, the first one
// does.
func TestLongest(t *testing.T) {
	for _, c := range []struct {
		name    string
		lengths []int64 // which are bytes, too
		space   unit.Bytes
		want    int
	}{
		{"one", []int64{5}, 9, 0},
		{"the last", []int64{1, 2, 8}, 9, 2},
		{"the first of several", []int64{1, 8, 8, 2}, 9, 1},
		{"sizes unknown", []int64{0, 0, 0}, 0, 0},
		{"the longest does not fit", []int64{1, 8, 4}, 7, 2},
		{"nothing fits", []int64{1, 8, 4}, 0, none},
		{"nothing is left", nil, 9, none},
	} {
		var jobs []*Case
		for _, n := range c.lengths {
			jobs = append(jobs, &Case{Length: n, Bytes: unit.Bytes(n)})
		}
		if got := longest(jobs, c.space); got != c.want {
			t.Errorf("%s: job %d, want %d", c.name, got, c.want)
		}
	}
}
