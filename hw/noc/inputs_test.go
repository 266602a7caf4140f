package noc

import (
	"math/rand/v2"
	"testing"

	_ "kernbench/internal/fixedseed"
)

// TestInputs holds the set of inputs against a map, with few and with many of them, again and again.
func TestInputs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	var s inputs
	for round := range 200 {
		if round%10 == 0 {
			s = inputs{turn: 1<<32 - 1} // marks are begun anew
			for i := range uint32(60) {
				*place(&s.marks[0], i), *place(&s.marks[1], i) = 1, 1 // of long ago
			}
		}
		s.clear()
		known, among := map[uint32]bool{}, 1+r.Uint32N(60)
		for range r.IntN(100) {
			from := r.Uint32N(among)
			if r.IntN(2) == 0 {
				from |= aSource
			}
			if s.add(from) == known[from] {
				t.Fatalf("input %#x: new %v, of %v", from, !known[from], known)
			}
			known[from] = true
		}
	}
}
