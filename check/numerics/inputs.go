package numerics

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"kernbench/dtype"
)

// Set is a rule for contributions: a function of seed, rank and index alone, rounded to the element
// type.
type Set struct {
	Name    string
	Summary string

	value func(c *choice, rank, index int) float64
}

// choice holds what a value depends on apart from rank and index.
type choice struct {
	seed  uint64
	world int
	typ   dtype.Type
}

var sets = []*Set{
	{"uniform", "0 to 1: all of one sign, where no sum is ill-conditioned", (*choice).uniform},
	{"normal", "around 0, of variance 1: sums are small beside what is added", (*choice).normal},
	{"ones", "1 everywhere: a serial sum of them stops growing at 256 in bf16 and 2048 in f16",
		func(*choice, int, int) float64 { return 1 }},
	{"ranks", "rank r brings r+1: the sum is too large for f16 from 362 ranks on",
		func(_ *choice, rank, _ int) float64 { return float64(rank + 1) }},
	{"wide", "of either sign, with exponents over most of the range of the type", (*choice).wide},
	{"cancel", "every second rank nearly takes away what the one before brings", (*choice).cancel},
}

// Sets lists the inputs. The first is the default.
func Sets() []*Set { return slices.Clone(sets) }

// LookupSet returns the set called name.
func LookupSet(name string) (*Set, error) {
	var names []string
	for _, s := range sets {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return nil, fmt.Errorf("unknown inputs %q: want one of %s", name, strings.Join(names, ", "))
}

// Append extends dst by the first n elements that a rank contributes.
func (s *Set) Append(dst []byte, t dtype.Type, seed uint64, world, rank, n int) []byte {
	c := &choice{seed, world, t}
	at, size := len(dst), t.Size()
	dst = slices.Grow(dst, n*size)[:at+n*size]
	for i := range n {
		dtype.Set(t, dst[at:], i, s.value(c, rank, i))
	}
	return dst
}

// random is 64 bits for one use of an element.
func (c *choice) random(rank, index, use int) uint64 {
	x := mix(c.seed + 0x9e3779b97f4a7c15)
	x = mix(x + uint64(rank))
	return mix(x + uint64(index)<<3 + uint64(use))
}

// part returns a number from 0 up to, not including, 1.
func (c *choice) part(rank, index, use int) float64 {
	return float64(c.random(rank, index, use)>>11) * 0x1p-53
}

func (c *choice) uniform(rank, index int) float64 { return c.part(rank, index, 0) }

// normal returns the sum of twelve numbers of 16 bits, less 6: bounded, and without functions that
// machines compute differently.
func (c *choice) normal(rank, index int) float64 {
	sum := 0
	for use := range 3 {
		for r := c.random(rank, index, use); r != 0; r >>= 16 {
			sum += int(r & 0xffff)
		}
	}
	return float64(sum)*0x1p-16 - 6
}

// wide limits exponents, so that no sum of all ranks overflows.
func (c *choice) wide(rank, index int) float64 {
	f := &formats[c.typ]
	top := f.most - bits.Len(uint(c.world)) - 1
	low := max(f.least+f.digits-1, -top)
	r := c.random(rank, index, 0)
	exponent, _ := bits.Mul64(r, uint64(top-low+1))
	v := math.Ldexp(1+c.part(rank, index, 1), low+int(exponent))
	if r&1 != 0 {
		return -v
	}
	return v
}

// cancel returns values such that pairs of ranks cancel all but half of the digits.
func (c *choice) cancel(rank, index int) float64 {
	if rank%2 == 0 {
		return 1 + c.part(rank, index, 0)
	}
	left := math.Ldexp(c.part(rank, index, 1), -formats[c.typ].digits/2)
	return left - 1 - c.part(rank-1, index, 0)
}

// mix returns the finaliser of SplitMix64 (Steele, Lea, Flood, 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
