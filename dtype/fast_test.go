package dtype

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Binary gives the same bits as binaryRef, with or without assembly.
func TestBinaryEqualsReference(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for _, typ := range Types() {
		for _, op := range allBinaryOps {
			t.Run(typ.String()+"/"+op.String(), func(t *testing.T) {
				for n := range 70 {
					checkAgainstRef(t, op, typ, n, random)
				}
				checkAgainstRef(t, op, typ, 5003, random)
			})
		}
	}
}

func checkAgainstRef(t *testing.T, op BinaryOp, typ Type, n int, random *rand.Rand) {
	t.Helper()
	size := typ.Size()
	// One byte before and after makes the slices unaligned and shows a write outside of them.
	whole := make([]byte, n*size+2)
	a, b := make([]byte, n*size+1)[1:], make([]byte, n*size+1)[1:]
	randomBits(typ, a, random)
	randomBits(typ, b, random)
	want := make([]byte, n*size)
	binaryRef(op, typ, want, a, b)
	whole[0], whole[len(whole)-1] = 0xa5, 0x5a
	dst := whole[1 : len(whole)-1]
	Binary(op, typ, dst, a, b)
	for i := range n {
		if got, want := getBits(typ, dst, i), getBits(typ, want, i); got != want {
			t.Fatalf("element %d of %d: %#x %v %#x = %#x, want %#x",
				i, n, getBits(typ, a, i), op, getBits(typ, b, i), got, want)
		}
	}
	if whole[0] != 0xa5 || whole[len(whole)-1] != 0x5a {
		t.Fatalf("%d elements: bytes outside the result were written", n)
	}
	dstIsA, dstIsB := bytes.Clone(a), bytes.Clone(b)
	Binary(op, typ, dstIsA, dstIsA, b)
	Binary(op, typ, dstIsB, a, dstIsB)
	if !bytes.Equal(dstIsA, want) || !bytes.Equal(dstIsB, want) {
		t.Fatalf("%d elements: the result differs when dst is an operand", n)
	}
}

// All pairs of special values, in every position of a vector register.
func TestBinaryOfSpecialValues(t *testing.T) {
	for _, typ := range Types() {
		specials := special(typ)
		k := len(specials)
		const shifts = 8
		n := k*k + shifts
		a, b := make([]byte, n*typ.Size()), make([]byte, n*typ.Size())
		for shift := range shifts {
			for i := range k * k {
				putBits(typ, a, i+shift, specials[i/k])
				putBits(typ, b, i+shift, specials[i%k])
			}
			for _, op := range allBinaryOps {
				dst, want := make([]byte, len(a)), make([]byte, len(a))
				Binary(op, typ, dst, a, b)
				binaryRef(op, typ, want, a, b)
				for i := range n {
					if got, want := getBits(typ, dst, i), getBits(typ, want, i); got != want {
						t.Fatalf("%v: %#x %v %#x = %#x, want %#x", typ, getBits(typ, a, i), op, getBits(typ, b, i), got, want)
					}
				}
			}
		}
	}
}

// All 65,536 patterns of f16 and bf16, each with a few second operands.
func TestEveryHalfPattern(t *testing.T) {
	const n = 1 << 16
	a, b := make([]byte, 2*n), make([]byte, 2*n)
	dst, want := make([]byte, 2*n), make([]byte, 2*n)
	for _, typ := range []Type{F16, BF16} {
		for i := range n {
			putBits(typ, a, i, uint64(i))
		}
		for _, second := range []float64{0, 1, 1.5, -0.75, 0x1p-20, 1e4, inf} {
			Fill(typ, b, second)
			for _, op := range allBinaryOps {
				Binary(op, typ, dst, a, b)
				binaryRef(op, typ, want, a, b)
				if !bytes.Equal(dst, want) {
					t.Fatalf("%v %v %v differs from the reference", typ, op, second)
				}
			}
		}
	}
}

func FuzzBinary(f *testing.F) {
	f.Add(uint8(0), uint8(1), []byte{0, 0x7c, 1, 0, 0xff, 0xff}, []byte{0, 0xfc, 1, 0x80, 0, 0})
	f.Fuzz(func(t *testing.T, op, typ uint8, a, b []byte) {
		o, ty := BinaryOp(op%uint8(numBinaryOps)), Types()[int(typ)%len(Types())]
		n := min(len(a), len(b)) / ty.Size() * ty.Size()
		a, b = a[:n], b[:n]
		dst, want := make([]byte, n), make([]byte, n)
		Binary(o, ty, dst, a, b)
		binaryRef(o, ty, want, a, b)
		if !bytes.Equal(dst, want) {
			t.Fatalf("%v %v of %x and %x is %x, want %x", ty, o, a, b, dst, want)
		}
	})
}

func BenchmarkBinary(b *testing.B) {
	for _, typ := range []Type{F16, BF16, F32, F64, I32} {
		for _, op := range []BinaryOp{Add, Mul, Max} {
			for _, n := range []int{64, 32 << 10} {
				b.Run(fmt.Sprintf("%v/%v/%d", typ, op, n), func(b *testing.B) {
					x, y, dst := make([]byte, n*typ.Size()), make([]byte, n*typ.Size()), make([]byte, n*typ.Size())
					Fill(typ, x, 1.5)
					Fill(typ, y, 3)
					b.SetBytes(int64(len(dst)))
					b.ReportAllocs()
					for b.Loop() {
						Binary(op, typ, dst, x, y)
					}
				})
			}
		}
	}
}

func BenchmarkBinaryReference(b *testing.B) {
	for _, typ := range []Type{F16, BF16, F32, F64, I32} {
		b.Run(typ.String(), func(b *testing.B) {
			const n = 32 << 10
			x, y, dst := make([]byte, n*typ.Size()), make([]byte, n*typ.Size()), make([]byte, n*typ.Size())
			Fill(typ, x, 1.5)
			Fill(typ, y, 3)
			b.SetBytes(int64(len(dst)))
			for b.Loop() {
				binaryRef(Add, typ, dst, x, y)
			}
		})
	}
}
