package mem_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	_ "kernbench/internal/fixedseed"
	"kernbench/mem"

	"pgregory.net/rapid"
)

func TestAddr(t *testing.T) {
	tests := []struct {
		addr   mem.Addr
		space  mem.Space
		unit   int
		offset int64
		text   string
	}{
		{mem.At(mem.HBM, 0, 0), mem.HBM, 0, 0, "hbm[0]:0x0"},
		{mem.At(mem.HBM, 255, 4096) + 16, mem.HBM, 255, 4112, "hbm[255]:0x1010"},
		{mem.At(mem.TCM, 1<<24-1, mem.MaxOffset), mem.TCM, 1<<24 - 1, mem.MaxOffset, "tcm[16777215]:0xfffffffff"},
		{mem.At(mem.SRAM, 3, 8), mem.SRAM, 3, 8, "sram[3]:0x8"},
		{mem.Addr(1 << 40), mem.Virtual, 0, 1 << 40, "va:0x10000000000"},
	}
	for _, tt := range tests {
		if a := tt.addr; a.Space() != tt.space || a.Unit() != tt.unit || a.Offset() != tt.offset || a.String() != tt.text {
			t.Errorf("%v: space %v, unit %d, offset %d; want %v, %d, %d, %s", a, a.Space(), a.Unit(), a.Offset(),
				tt.space, tt.unit, tt.offset, tt.text)
		}
	}
}

func TestParseSpace(t *testing.T) {
	for _, s := range []mem.Space{mem.HBM, mem.TCM, mem.SRAM} {
		if got, err := mem.ParseSpace(s.String()); got != s || err != nil {
			t.Errorf("ParseSpace(%v) = %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "virtual", "HBM", "dram"} {
		if _, err := mem.ParseSpace(s); err == nil || !strings.Contains(err.Error(), "one of tcm, hbm, sram") {
			t.Errorf("ParseSpace(%q): %v", s, err)
		}
	}
	if got := mem.Space(9).String(); got != "space(9)" {
		t.Errorf("Space(9) = %s", got)
	}
}

// The allocator is compared with a byte map. Its blocks are free, aligned and within the memory. It
// fails only if no free run is long enough. After all blocks are freed, one block may take all
// memory.
func TestAllocatorAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		align := int64(rapid.SampledFrom([]int{1, 4, 16}).Draw(t, "align"))
		capacity := align * int64(rapid.IntRange(1, 64).Draw(t, "capacity"))
		a := mem.NewAllocator(capacity, align)
		taken := make([]bool, capacity)
		blocks := map[int64]int64{}
		var offs []int64
		longest := func() (best int64) {
			run := int64(0)
			for _, b := range taken {
				if run++; b {
					run = 0
				}
				best = max(best, run)
			}
			return best
		}
		t.Repeat(map[string]func(*rapid.T){
			"alloc": func(t *rapid.T) {
				n := int64(rapid.IntRange(1, int(capacity)).Draw(t, "n"))
				size := (n + align - 1) / align * align
				off, err := a.Alloc(n)
				if err != nil {
					if !errors.Is(err, mem.ErrFull) || longest() >= size {
						t.Fatalf("Alloc(%d): %v, though a run of %d is free", n, err, longest())
					}
					return
				}
				if off%align != 0 || off < 0 || off+size > capacity {
					t.Fatalf("Alloc(%d) = %d", n, off)
				}
				for i := off; i < off+size; i++ {
					if taken[i] {
						t.Fatalf("Alloc(%d) = %d overlaps byte %d", n, off, i)
					}
					taken[i] = true
				}
				blocks[off] = size
				offs = append(offs, off)
			},
			"free": func(t *rapid.T) {
				if len(offs) == 0 {
					return
				}
				k := rapid.IntRange(0, len(offs)-1).Draw(t, "k")
				off := offs[k]
				offs = slices.Delete(offs, k, k+1)
				if err := a.Free(off); err != nil {
					t.Fatal(err)
				}
				for i := off; i < off+blocks[off]; i++ {
					taken[i] = false
				}
				delete(blocks, off)
			},
			"free an address without a block": func(t *rapid.T) {
				off := int64(rapid.IntRange(-1, int(capacity)).Draw(t, "off"))
				if _, ok := blocks[off]; !ok && a.Free(off) == nil {
					t.Fatalf("Free(%d), where no block begins: no error", off)
				}
			},
			"": func(t *rapid.T) {
				var want int64
				for _, n := range blocks {
					want += n
				}
				if got := a.InUse(); got != want {
					t.Fatalf("InUse = %d, want %d", got, want)
				}
			},
		})
		for _, off := range offs {
			if err := a.Free(off); err != nil {
				t.Fatal(err)
			}
		}
		if off, err := a.Alloc(capacity); off != 0 || err != nil {
			t.Fatalf("after all blocks were freed, Alloc of the whole capacity = %d, %v", off, err)
		}
	})
}

func TestAllocatorErrors(t *testing.T) {
	a := mem.NewAllocator(64, 16)
	for range 4 {
		if _, err := a.Alloc(10); err != nil {
			t.Fatal(err)
		}
	}
	for _, off := range []int64{0, 32} {
		if err := a.Free(off); err != nil {
			t.Fatal(err)
		}
	}
	_, err := a.Alloc(17)
	if !errors.Is(err, mem.ErrFull) || !strings.Contains(err.Error(), "32 bytes requested, 32 of 64 free, longest free run 16") {
		t.Errorf("fragmented: %v", err)
	}
	if _, err := a.Alloc(math.MaxInt64); !errors.Is(err, mem.ErrFull) {
		t.Errorf("Alloc(math.MaxInt64): %v", err)
	}
	for _, n := range []int64{0, -1} {
		if _, err := a.Alloc(n); err == nil || errors.Is(err, mem.ErrFull) {
			t.Errorf("Alloc(%d): %v", n, err)
		}
	}
}

// The map is compared with a list of extents. An address belongs to the one extent that covers it.
func TestMapAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size, pes = 64, 3
		var m mem.Map
		owner := make([]int, size) // by virtual address: index in all of the extent that covers it, or -1
		for i := range owner {
			owner[i] = -1
		}
		var all []mem.Extent
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				va := rapid.IntRange(0, size-1).Draw(t, "va")
				n := rapid.IntRange(1, size-va).Draw(t, "n")
				e := mem.Extent{VA: mem.Addr(va), Bytes: int64(n), PA: mem.At(mem.HBM, len(all), 128)}
				if rapid.Bool().Draw(t, "replicated") {
					e.PerPE = []mem.Addr{mem.At(mem.HBM, 0, int64(len(all))*1024), 0}
				}
				free := !slices.ContainsFunc(owner[va:va+n], func(o int) bool { return o >= 0 })
				if err := m.Insert(e); (err == nil) != free {
					t.Fatalf("Insert(%d, %d): %v, free %v", va, n, err, free)
				}
				if free {
					for i := va; i < va+n; i++ {
						owner[i] = len(all)
					}
					all = append(all, e)
				}
			},
			"remove": func(t *rapid.T) {
				from := rapid.IntRange(0, size).Draw(t, "from")
				to := rapid.IntRange(0, size).Draw(t, "to")
				starts := func(o int) bool { return o >= 0 && from <= int(all[o].VA) && int(all[o].VA) < to }
				want := map[int]bool{}
				for i, o := range owner {
					if starts(o) {
						want[o], owner[i] = true, -1
					}
				}
				if got := m.Remove(mem.Addr(from), mem.Addr(to)); got != len(want) {
					t.Fatalf("Remove(%d, %d) = %d, want %d", from, to, got, len(want))
				}
			},
			"": func(t *rapid.T) {
				va := rapid.IntRange(0, size-1).Draw(t, "va")
				pe := rapid.IntRange(0, pes-1).Draw(t, "pe")
				pa, n, ok := m.Resolve(pe, mem.Addr(va))
				o := owner[va]
				want := o >= 0 && (all[o].PerPE == nil || pe == 0)
				if ok != want {
					t.Fatalf("Resolve(%d, %d): %v, want %v", pe, va, ok, want)
				}
				if !ok {
					return
				}
				e := all[o]
				base := e.PA
				if e.PerPE != nil {
					base = e.PerPE[pe]
				}
				if off := mem.Addr(va) - e.VA; pa != base+off || n != e.Bytes-int64(off) {
					t.Fatalf("Resolve(%d, %d) = %v, %d", pe, va, pa, n)
				}
			},
		})
	})
}

func TestPhysicalAddressesResolveToThemselves(t *testing.T) {
	var m mem.Map
	a := mem.At(mem.TCM, 3, 40)
	if pa, n, ok := m.Resolve(7, a); pa != a || n != mem.MaxOffset+1-40 || !ok {
		t.Errorf("Resolve = %v, %d, %v", pa, n, ok)
	}
	for _, a := range []mem.Addr{mem.At(mem.HBM, -1, 0), mem.At(mem.TCM, 0, -4), mem.At(mem.SRAM+1, 0, 0)} {
		if _, _, ok := m.Resolve(0, a); ok {
			t.Errorf("%v is outside every memory, but was resolved", a)
		}
	}
}

// Chunks are in order, contiguous, cover everything, and differ by one element at most.
func TestChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, parts := rapid.IntRange(0, 1000).Draw(t, "n"), rapid.IntRange(1, 64).Draw(t, "parts")
		at := 0
		cs := mem.Chunked(n, parts)
		for i, c := range cs {
			if c != mem.ChunkOf(n, parts, i) || c.Lo != at || c.N < n/parts || c.N > n/parts+1 || i > 0 && c.N > cs[i-1].N {
				t.Fatalf("chunk %d of %d/%d = %+v", i, n, parts, c)
			}
			at += c.N
		}
		if at != n || len(cs) != parts {
			t.Fatalf("%d chunks of %d/%d end at %d", len(cs), n, parts, at)
		}
	})
}

func ExampleChunked() {
	fmt.Println(mem.Chunked(10, 4))
	// Output: [{0 3} {3 3} {6 2} {8 2}]
}
