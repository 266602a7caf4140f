package race

import (
	"testing"

	"pgregory.net/rapid"
)

// The links of an agent are found by PE, whether they are in a row or not, and a row has few empty
// places.
func TestLinksByPE(tt *testing.T) {
	pes := rapid.SliceOfNDistinct(rapid.OneOf(rapid.Int32Range(-1, 40), rapid.Int32Range(-1, 1000), rapid.Int32Range(0, 1<<20)),
		0, 60, rapid.ID[int32])
	rapid.Check(tt, func(t *rapid.T) {
		var links linksTo
		want := map[int32]linkID{}
		for i, pe := range pes.Draw(t, "pes") {
			if got := links.at(pe); got != 0 {
				t.Fatalf("PE %d has link %d before it is set", pe, got)
			}
			links.set(pe, linkID(i+1))
			want[pe] = linkID(i + 1)
			for pe, i := range want {
				if got := links.at(pe); got != i {
					t.Fatalf("PE %d has link %d, want %d", pe, got, i)
				}
			}
			if n := len(links.row); n > emptyLinks*len(want) {
				t.Fatalf("%d places for %d links", n, len(want))
			}
		}
	})
}

// The first stretch that ends after a place is found from a guess as by a search from the first on.
func TestFirstAfter(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		var segs []seg
		at, same := rapid.SampledFrom([]int{0, pageSize / 2}).Draw(t, "first"), rapid.Bool().Draw(t, "same length")
		for range rapid.IntRange(0, 20).Draw(t, "stretches") {
			gap, n := 0, pageSize/16
			if !same {
				gap, n = rapid.IntRange(0, 900).Draw(t, "gap"), rapid.IntRange(1, 900).Draw(t, "bytes")
			}
			if at+gap+n > pageSize {
				break
			}
			segs = append(segs, seg{lo: uint16(at + gap), hi: uint16(at + gap + n)})
			at += gap + n
		}
		lo := uint16(rapid.IntRange(0, pageSize-1).Draw(t, "place"))
		want := 0
		for want < len(segs) && segs[want].hi <= lo {
			want++
		}
		if got := firstAfter(segs, lo); got != want {
			t.Errorf("stretch %d, want %d", got, want)
		}
	})
}
