package verify

import (
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
)

// Wrong elements are counted once, whichever question finds them, over all ranks; and those of
// them that nobody wrote to.
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
