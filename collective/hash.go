package collective

import "math/bits"

// Hash is a multiset hash of the contributors of an element. Each of its two parts is a sum modulo
// the prime 2^61-1 over the contributors, relative to the base of its run.
type Hash [2]uint64

// prime is the Mersenne prime 2^61-1: reduction is a shift and an add.
const prime = 1<<61 - 1

// Hasher turns labels into hashes. A contributor (rank, base+delta) hashes to
//
//	h(rank, delta) = R(rank) * g^delta  (mod 2^61-1), for each part
//
// with R and g drawn from the seed. A multiset hashes to the sum, so union is addition, and moving
// the base by d is one multiplication by g^d. Two different multisets collide in a part with
// probability at most D/2^61 when no delta exceeds D. A nonzero polynomial in g of degree D has at
// most D roots. They collide in both parts with the square of that probability.
//
// A Hasher does not change after NewHasher and may be shared by goroutines.
type Hasher struct {
	seed    uint64
	powers  [2][63]uint64 // g^(2^k)
	explain bool
}

// NewHasher makes the hasher of one run. With explain, labels also carry explicit sets,
// so that a failure can name its contributors; that costs memory per merge.
func NewHasher(seed uint64, explain bool) *Hasher {
	h := &Hasher{seed: mix(seed + 0x5851f42d4c957f2d), explain: explain}
	for i := range h.powers {
		g := field(mix(h.seed ^ uint64(i+1)*0x9fb21c651e98df25))
		for k := range h.powers[i] {
			h.powers[i][k] = g
			g = mulmod(g, g)
		}
	}
	return h
}

// one returns the hash of the single contributor (rank, base+0).
func (h *Hasher) one(rank int32) Hash {
	x := h.seed + uint64(uint32(rank))*0x9e3779b97f4a7c15
	return Hash{field(mix(x)), field(mix(x ^ 0xd1b54a32d192ed03))}
}

// shift returns v relative to a base that is d elements earlier (d >= 0).
func (h *Hasher) shift(v Hash, d int64) Hash {
	for k := 0; d != 0; k++ {
		if d&1 != 0 {
			v[0] = mulmod(v[0], h.powers[0][k])
			v[1] = mulmod(v[1], h.powers[1][k])
		}
		d >>= 1
	}
	return v
}

func (v Hash) add(w Hash) Hash {
	return Hash{addmod(v[0], w[0]), addmod(v[1], w[1])}
}

// field maps 64 random bits to 1..prime-1: zero would hide a contributor.
func field(x uint64) uint64 {
	x %= prime
	if x == 0 {
		return 1
	}
	return x
}

// mix returns the finaliser of SplitMix64, a bijection of 64 bits.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

func addmod(a, b uint64) uint64 {
	s := a + b
	if s >= prime {
		s -= prime
	}
	return s
}

func mulmod(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return addmod(lo&prime, hi<<3|lo>>61)
}
