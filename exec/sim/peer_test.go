package sim

import (
	"testing"

	"pgregory.net/rapid"
)

// TestPeers: the table finds what was added to it, and nothing else.
func TestPeers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p peers
		model := map[int32]int32{}
		span := rapid.SampledFrom([]int32{4, 100, 1 << 20}).Draw(t, "span")
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			pe := rapid.Int32Range(0, span).Draw(t, "pe")
			i, ok := p.find(pe)
			want, known := model[pe]
			if ok != known || ok && (i != want || p.at(i).pe != pe) {
				t.Fatalf("find(%d) = %d, %v; want %d, %v", pe, i, ok, want, known)
			}
			if !ok {
				model[pe] = p.add(peer{pe: pe})
			}
		}
	})
}
