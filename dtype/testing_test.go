package dtype

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// special lists bit patterns of special values: zeros, subnormals, infinities, NaNs, the limits of
// a type and values next to them.
func special(t Type) []uint64 {
	switch t {
	case F16:
		return []uint64{0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x401, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfe00,
			0xffff, 0x3c00, 0xbc00, 0x3c01, 0x3bff, 0x7800, 0x3800, 0x0801, 0x5a5a}
	case BF16:
		return []uint64{0, 0x8000, 1, 0x8001, 0x7f, 0x80, 0x81, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7f81, 0x7fc0, 0xffc0,
			0xffff, 0x3f80, 0xbf80, 0x3f81, 0x3f7f, 0x7f00, 0x3f00, 0x0101, 0x1fff, 0x2001}
	case F32:
		return []uint64{0, 0x80000000, 1, 0x80000001, 0x7fffff, 0x800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
			0x7f800001, 0x7fc00000, 0xffc00001, 0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0x33800000}
	case F64:
		return []uint64{0, 1 << 63, 1, 0xfffffffffffff, 1 << 52, 0x7fefffffffffffff, 0x7ff0000000000000,
			0xfff0000000000000, 0x7ff0000000000001, 0x7ff8000000000000, 0x3ff0000000000000, 0xbff0000000000000}
	}
	low, high := intRange(t)
	return []uint64{0, 1, ^uint64(0), uint64(low), uint64(high), uint64(low) + 1, uint64(high) - 1, 2, 3}
}

func putBits(t Type, b []byte, i int, bits uint64) {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], bits)
	copy(b[i*t.Size():(i+1)*t.Size()], word[:])
}

func getBits(t Type, b []byte, i int) uint64 {
	var word [8]byte
	copy(word[:], b[i*t.Size():(i+1)*t.Size()])
	return binary.LittleEndian.Uint64(word[:])
}

// randomBits fills b with random bit patterns, one in eight of them special.
func randomBits(t Type, b []byte, random *rand.Rand) {
	specials := special(t)
	for i := range len(b) / t.Size() {
		bits := random.Uint64()
		if random.IntN(8) == 0 {
			bits = specials[random.IntN(len(specials))]
		}
		putBits(t, b, i, bits)
	}
}

// encode returns values as elements of type t.
func encode(t Type, values ...float64) []byte {
	b := make([]byte, len(values)*t.Size())
	for i, v := range values {
		Set(t, b, i, v)
	}
	return b
}

// decode returns the elements of b.
func decode(t Type, b []byte) []float64 {
	v := make([]float64, len(b)/t.Size())
	for i := range v {
		v[i] = At(t, b, i)
	}
	return v
}

// same reports whether x equals y, where NaN equals NaN and −0 differs from +0.
func same(x, y float64) bool {
	return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
}

func wantValues(t *testing.T, typ Type, got []byte, want ...float64) {
	t.Helper()
	have := decode(typ, got)
	if len(have) != len(want) {
		t.Fatalf("%v: got %v, want %v", typ, have, want)
	}
	for i := range have {
		if !same(have[i], want[i]) {
			t.Errorf("%v: element %d is %v, want %v (all: %v)", typ, i, have[i], want[i], have)
		}
	}
}

func wantPanic(t *testing.T, part string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.Contains(got, part) {
			t.Errorf("the panic %q does not contain %q", got, part)
		}
	}()
	f()
}
