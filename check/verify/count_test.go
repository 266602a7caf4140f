package verify

import (
	"math"
	"strings"
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
)

// Wrong elements are counted once, whichever question finds them, over all ranks; and those of
// them that were never written.
func TestWrongElementsAreCounted(t *testing.T) {
	w := newWorld(collective.AllReduce, sumOf(4, 5, dtype.F32), false, rankPlusOne)
	w.ring()
	if v := judge(t, w.input()); v.Wrong != 0 || v.Unwritten != 0 {
		t.Errorf("nothing is wrong: %+v", v)
	}
	dtype.Set(dtype.F32, w.out[0].data, 2, 99)                                                        // by value: 1
	w.set(w.chain(0, 1, 2, 2, 3), 1)                                                                  // by both: 5
	w.out[2].prov = collective.Overwrite(w.out[2].prov, 1, collective.MakeUnwritten(nil, 3))          // by provenance: 3
	w.set(vector{make([]byte, 20), collective.Slice(nil, collective.MakeUnwritten(nil, 9), 0, 5)}, 3) // 5
	if v := judge(t, w.input()); v.Wrong != 1+5+3+5 || v.Unwritten != 3+5 {
		t.Errorf("%d elements are wrong, %d unwritten; want 14 and 8", v.Wrong, v.Unwritten)
	}
}

// So they are in results so long that several judge them in parallel.
func TestWrongElementsOfLongResults(t *testing.T) {
	const n = 5*blockElems + 17
	for rank := range 2 {
		w := newWorld(collective.AllReduce, sumOf(3, n, dtype.F32), false, rankPlusOne)
		w.ring()
		bad := []int{2*blockElems + 5, 5*blockElems + 3, 3 * blockElems}
		for _, at := range bad {
			dtype.Set(dtype.F32, w.out[rank].data, at, 99)
		}
		dtype.Set(dtype.F32, w.out[rank].data, n-1, math.Inf(1))
		v := judge(t, w.input())
		if v.Wrong != 4 || v.RanksFail != 1 || v.Failures[0].Element != bad[0] || v.Failures[0].Wrong != 4 {
			t.Errorf("rank %d: %d elements of %d ranks are wrong: %v", rank, v.Wrong, v.RanksFail, v.Failures)
		}
		if o := v.Overflow; o.Elements != 1 || o.InRange != 1 || o.Element != n-1 || o.Rank != rank {
			t.Errorf("rank %d: overflow %+v", rank, o)
		}
	}
}

// A saturated count is reported as the least possible value.
func TestCountsThatStick(t *testing.T) {
	doubled := func(explain bool, times int) string {
		w := newWorld(collective.AllReduce, sumOf(3, 1, dtype.F32), explain, rankPlusOne)
		v := w.chain(0, 1)
		for range times {
			v = w.add(v, v)
		}
		w.set(v)
		return judge(t, w.input()).Failures[0].Reason
	}
	for _, tt := range []struct {
		explain bool
		times   int
		want    string
	}{
		{true, 62, "counted more than once: ranks 0-1 (4611686018427387904 times)"},
		{true, 63, "counted more than once: ranks 0-1 (at least 9223372036854775807 times)"},
		{true, 70, "counted more than once: ranks 0-1 (at least 9223372036854775807 times)"},
		{false, 29, "1073741824 contributions, expected 3"},
		{false, 30, "at least 2147483647 contributions, expected 3"},
		{false, 31, "at least 2147483647 contributions, expected 3"},
	} {
		if got := doubled(tt.explain, tt.times); !strings.Contains(got, tt.want) {
			t.Errorf("explain %v, doubled %d times: %q, want %q", tt.explain, tt.times, got, tt.want)
		}
	}
}
