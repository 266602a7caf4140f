package sim

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDivisor(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	for i := range 20000 {
		by := 1 + rng.Uint32()>>(i%32)
		if i < 100 {
			by = uint32(i + 1)
		}
		if by == 0 {
			by = math.MaxUint32
		}
		d := newDivisor(by)
		q := rng.Uint32() / by
		for _, n := range []uint32{0, 1, by - 1, by, by + 1, q * by, q*by - 1, q*by + by - 1, math.MaxUint32, math.MaxUint32 - 1, rng.Uint32(), rng.Uint32() >> (i % 32)} {
			if d.rest(n) != n%by || d.into(n) != n/by {
				t.Fatalf("%d by %d: %d, rest %d", n, by, d.into(n), d.rest(n))
			}
		}
	}
}
