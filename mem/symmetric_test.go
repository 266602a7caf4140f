package mem_test

import (
	"errors"
	"slices"
	"testing"

	"kernbench/mem"

	"pgregory.net/rapid"
)

// Symmetric allocation against byte maps: the offset is the lowest that is free everywhere,
// and a refusal leaves all memories as they were.
func TestAllocSymmetricAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		align := int64(rapid.SampledFrom([]int{1, 4, 16}).Draw(t, "align"))
		members := rapid.IntRange(1, 4).Draw(t, "members")
		var as []*mem.Allocator
		var taken [][]bool
		for range members {
			units := rapid.IntRange(1, 24).Draw(t, "units")
			as = append(as, mem.NewAllocator(align*int64(units), align))
			taken = append(taken, make([]bool, units))
		}
		free := func(m, unit, units int) bool {
			return unit+units <= len(taken[m]) && !slices.Contains(taken[m][unit:unit+units], true)
		}
		mark := func(m int, off, n int64, v bool) {
			for i := off / align; i < (off+n+align-1)/align; i++ {
				taken[m][i] = v
			}
		}
		type block struct {
			members []int
			off, n  int64
		}
		var blocks []block
		size := func(t *rapid.T) int64 { return rapid.Int64Range(1, 8*align).Draw(t, "n") }
		t.Repeat(map[string]func(*rapid.T){
			"alone": func(t *rapid.T) {
				m, n := rapid.IntRange(0, members-1).Draw(t, "m"), size(t)
				if off, err := as[m].Alloc(n); err == nil {
					mark(m, off, n, true)
					blocks = append(blocks, block{[]int{m}, off, n})
				}
			},
			"together": func(t *rapid.T) {
				among := rapid.Permutation(slices.Collect(ints(members))).Draw(t, "order")
				among = among[:rapid.IntRange(1, members).Draw(t, "some")]
				n := size(t)
				units, want := int((n+align-1)/align), int64(-1)
				for unit := 0; unit < 24 && want < 0; unit++ {
					if !slices.ContainsFunc(among, func(m int) bool { return !free(m, unit, units) }) {
						want = int64(unit) * align
					}
				}
				var some []*mem.Allocator
				for _, m := range among {
					some = append(some, as[m])
				}
				off, err := mem.AllocSymmetric(some, n)
				if want < 0 {
					var none *mem.NoCommonRun
					if !errors.Is(err, mem.ErrFull) || !errors.As(err, &none) || none.Index < 0 || none.Index >= len(some) {
						t.Fatalf("%d bytes: %d, %v; no offset is free everywhere", n, off, err)
					}
					return
				}
				if err != nil || off != want {
					t.Fatalf("%d bytes: %d, %v; %d is free everywhere", n, off, err, want)
				}
				for _, m := range among {
					mark(m, off, n, true)
				}
				blocks = append(blocks, block{among, off, n})
			},
			"free": func(t *rapid.T) {
				if len(blocks) == 0 {
					return
				}
				k := rapid.IntRange(0, len(blocks)-1).Draw(t, "k")
				b := blocks[k]
				blocks = slices.Delete(blocks, k, k+1)
				for _, m := range b.members {
					if err := as[m].Free(b.off); err != nil {
						t.Fatal(err)
					}
					mark(m, b.off, b.n, false)
				}
			},
			"": func(t *rapid.T) {
				for m, a := range as {
					want := int64(0)
					for _, b := range taken[m] {
						if b {
							want += align
						}
					}
					if got := a.InUse(); got != want {
						t.Fatalf("memory %d: %d bytes in use, want %d", m, got, want)
					}
				}
			},
		})
	})
}

func ints(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

func TestAllocSymmetricErrors(t *testing.T) {
	small, large := mem.NewAllocator(64, 16), mem.NewAllocator(256, 16)
	for _, tt := range []struct {
		name string
		as   []*mem.Allocator
		n    int64
		full bool
	}{
		{"no memories", nil, 16, false},
		{"no bytes", []*mem.Allocator{small}, 0, false},
		{"negative", []*mem.Allocator{small}, -1, false},
		{"more than one has", []*mem.Allocator{large, small}, 65, true},
		{"more than an int64 rounds", []*mem.Allocator{large, small}, 1<<63 - 1, true},
	} {
		off, err := mem.AllocSymmetric(tt.as, tt.n)
		if err == nil || errors.Is(err, mem.ErrFull) != tt.full {
			t.Errorf("%s: %d, %v", tt.name, off, err)
		}
	}
	if small.InUse() != 0 || large.InUse() != 0 {
		t.Errorf("refusals hold %d and %d bytes", small.InUse(), large.InUse())
	}
}
