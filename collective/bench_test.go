package collective

import (
	"slices"
	"testing"
)

func BenchmarkMergeSingleRun(b *testing.B) {
	h := NewHasher(1, false)
	p, q := h.Own(nil, 0, 0, 128), h.Own(nil, 1, 0, 128)
	dst := make(Prov, 0, 4)
	b.ReportAllocs()
	for b.Loop() {
		dst = h.Merge(dst[:0], p, q, 0)
	}
}

func BenchmarkMergeRebased(b *testing.B) {
	h := NewHasher(1, false)
	p, q := h.Own(nil, 0, 0, 128), h.Own(nil, 1, 32768, 128)
	dst := make(Prov, 0, 4)
	b.ReportAllocs()
	for b.Loop() {
		dst = h.Merge(dst[:0], p, q, 0)
	}
}

func BenchmarkSliceSingleRun(b *testing.B) {
	h := NewHasher(1, false)
	p := h.Own(nil, 0, 0, 1024)
	dst := make(Prov, 0, 4)
	b.ReportAllocs()
	for b.Loop() {
		dst = Slice(dst[:0], p, 512, 128)
	}
}

// BenchmarkOverwriteChunk writes one of 256 chunks that have a run each, as a ring
// reduce-scatter does.
func BenchmarkOverwriteChunk(b *testing.B) {
	h := NewHasher(1, false)
	var p Prov
	for i := range 256 {
		p = h.Own(p, i, int64(i)*128, 128)
	}
	src := h.Merge(nil, h.Own(nil, 7, 128*128, 128), h.Own(nil, 9, 128*128, 128), 0)
	back := Slice(nil, p, 128*128, 128)
	b.ReportAllocs()
	for b.Loop() {
		p = Overwrite(p, 128*128, src)
		p = Overwrite(p, 128*128, back)
	}
}

// BenchmarkOverwriteSplit splits a run in three and joins it again.
func BenchmarkOverwriteSplit(b *testing.B) {
	h := NewHasher(1, false)
	p := slices.Grow(h.Own(nil, 0, 0, 1024), 4)
	src, back := h.Own(nil, 1, 512, 128), h.Own(nil, 0, 512, 128)
	b.ReportAllocs()
	for b.Loop() {
		p = Overwrite(p, 512, src)
		p = Overwrite(p, 512, back)
	}
}
