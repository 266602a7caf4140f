package collective

import (
	"testing"

	"pgregory.net/rapid"

	_ "kernbench/internal/fixedseed"
)

// Overwrite equals the join of the elements before, the new ones, and the elements after.
func TestOverwriteIsConcat(t *testing.T) {
	h := NewHasher(1, false)
	rapid.Check(t, func(t *rapid.T) {
		// Few structures, so that what is written often continues its neighbours.
		stretch := func(what string, at, n int) Prov {
			var p Prov
			for n > 0 {
				k := rapid.IntRange(1, n).Draw(t, what)
				r := h.Own(nil, rapid.IntRange(0, 1).Draw(t, "rank"), int64(at+rapid.IntRange(0, 1).Draw(t, "shift")), k)[0]
				switch rapid.IntRange(0, 3).Draw(t, "kind") {
				case 0:
					r = Run{N: int32(k)}
				case 1:
					r.Depth = 3
				}
				p = Append(p, r)
				at, n = at+k, n-k
			}
			return p
		}
		n := rapid.IntRange(1, 12).Draw(t, "elements")
		p := stretch("before", 0, n)
		for range 30 {
			off := rapid.IntRange(0, n-1).Draw(t, "from")
			k := rapid.IntRange(1, n-off).Draw(t, "written")
			src := stretch("src", off, k)
			want := Concat(Concat(Slice(nil, p, 0, off), src), Slice(nil, p, off+k, n-off-k))
			p = Overwrite(p, off, src)
			if !Equal(p, want) {
				t.Fatalf("%v over %d..%d\n got %v\nwant %v", src, off, off+k, p, want)
			}
			for i := range p {
				if p[i].Depth != want[i].Depth {
					t.Fatalf("run %d of %v is %d deep, want %d", i, p, p[i].Depth, want[i].Depth)
				}
			}
		}
	})
}
