package hugepage

import "testing"

// TestSlice: a slice stays the one that it was, of any length.
func TestSlice(t *testing.T) {
	for _, n := range []int{0, 1, 1 << 10, 4<<20/8 - 1, 4 << 20 / 8, 9<<20/8 + 3} {
		s := make([]int64, n)
		for i := range s {
			s[i] = int64(i)
		}
		got := Slice(s)
		if len(got) != n || n > 0 && &got[0] != &s[0] {
			t.Fatalf("%d elements became %d, or others", n, len(got))
		}
		for i, v := range got {
			if v != int64(i) {
				t.Fatalf("element %d of %d is %d", i, n, v)
			}
		}
	}
}
