package bench

import (
	"encoding/binary"
	"math/bits"

	"kernbench/dtype"
	"kernbench/tl"
)

// Inputs makes the values that ranks contribute, by seed unless values are selected. Values by seed
// are a function of seed, rank and index alone and exact in every element type. No reduction of
// them leaves the finite range.
//
//	sum, avg   k/128 with k in 1..255, so that a float sum rounds and a lost or doubled
//	           contribution shows; divided by a power of two where world × 2 > 32768, which
//	           f16 could not hold. Integers: 0..2, and for avg no more than fits.
//	max, min   k/128 with k in -127..127; integers the same k (u8: 0..254)
//	prod       1 + k/128 with k in -2..2: over n ranks a random walk of the logarithm by
//	           1/90 per step. Integers: 1, 3 and, with a sign, -1: odd, so that a wrapping
//	           product never dies away to 0.
type Inputs struct {
	Seed  uint64
	World int
	Type  dtype.Type
	Op    tl.ReduceOp

	Chosen *Input // instead, of Elems elements that each rank brings; nil: by seed
	Elems  int
}

// At returns element index of the contribution of a rank.
func (in Inputs) At(rank, index int) float64 {
	if in.Chosen != nil {
		var b [8]byte
		in.Chosen.write(in.Type, b[:in.Type.Size()], rank, in.Elems, index)
		return dtype.At(in.Type, b[:], 0)
	}
	l := in.levels()
	return l.value(l.pick(in.base(rank), index))
}

// base returns the part of the hash that all choices of a rank share.
func (in Inputs) base(rank int) uint64 { return mix(mix(in.Seed+0x9e3779b97f4a7c15) + uint64(rank)) }

// levels are the values that elements are chosen from: from + k×step for k in lo..hi.
type levels struct {
	lo, hi     int
	from, step float64
}

func (l levels) value(k int) float64 { return l.from + float64(l.lo+k)*l.step }

func (l levels) number() int { return l.hi - l.lo + 1 }

// pick chooses for an element: 0 to number-1.
func (l levels) pick(base uint64, index int) int {
	return int(pick(base+uint64(index), uint64(l.number())))
}

func (in Inputs) levels() levels {
	if in.Type.IsInt() {
		return in.integers()
	}
	const step = 1.0 / 128
	switch in.Op {
	case tl.Prod:
		return levels{-2, 2, 1, step}
	case tl.Max, tl.Min:
		return levels{-127, 127, 0, step}
	}
	l := levels{1, 255, 0, step}
	for n := in.World; n > 1<<14; n /= 2 {
		l.step /= 2
	}
	return l
}

func (in Inputs) integers() levels {
	unsigned := in.Type == dtype.U8
	switch in.Op {
	case tl.Prod:
		if unsigned {
			return levels{0, 1, 1, 2}
		}
		return levels{-1, 1, 1, 2}
	case tl.Max, tl.Min:
		if unsigned {
			return levels{0, 254, 0, 1}
		}
		return levels{-127, 127, 0, 1}
	case tl.Avg:
		return levels{0, int(min(2, dtype.MaxFinite(in.Type)/float64(max(in.World, 1)))), 0, 1}
	}
	return levels{0, 2, 0, 1}
}

// writer writes inputs as they are stored. It may be shared by goroutines.
type writer struct {
	Inputs
	levels
	table [256]uint64 // the levels as they are stored; there are at most 256
}

func (in Inputs) writer() *writer {
	w := &writer{Inputs: in, levels: in.levels()}
	for k := range w.number() {
		var b [8]byte
		dtype.Set(in.Type, b[:], 0, w.value(k))
		w.table[k] = binary.LittleEndian.Uint64(b[:])
	}
	return w
}

// write fills dst with the elements of a rank from one on, by words.
func (w *writer) write(dst []byte, rank, first int) {
	if w.Chosen != nil {
		w.Chosen.write(w.Type, dst, rank, w.Elems, first)
		return
	}
	at, n, size := w.base(rank)+uint64(first), uint64(w.number()), w.Type.Size()
	for width := 8 * size; len(dst) >= 8; dst = dst[8:] {
		word := uint64(0)
		for shift := 0; shift < 64; shift += width {
			word |= w.table[pick(at, n)] << shift
			at++
		}
		binary.LittleEndian.PutUint64(dst, word)
	}
	for ; len(dst) >= size; dst = dst[size:] {
		word := w.table[pick(at, n)]
		for i := range size {
			dst[i] = byte(word >> (8 * i))
		}
		at++
	}
}

// pick chooses one of n.
func pick(at, n uint64) uint8 {
	k, _ := bits.Mul64(mix(at), n)
	return uint8(k)
}

// Vector returns the contribution of a rank.
func (in Inputs) Vector(rank, n int) []float64 {
	l, base := in.levels(), in.base(rank)
	v := make([]float64, n)
	if in.Chosen != nil {
		for i := range v {
			v[i] = in.At(rank, i)
		}
		return v
	}
	for i := range v {
		v[i] = l.value(l.pick(base, i))
	}
	return v
}

// mix returns the finaliser of SplitMix64 (Steele, Lea, Flood, 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
