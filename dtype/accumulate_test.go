package dtype

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Accumulate gives the same bits as a loop over the elements, for all bit patterns.
func TestAccumulate(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, typ := range []Type{F16, BF16, F32, F64} {
		for _, n := range []int{0, 1, 7, 8, 9, 31, 1003} {
			t.Run(fmt.Sprintf("%v/%d", typ, n), func(t *testing.T) {
				sum, size := make([]float64, n+1), make([]float64, n+1)
				for range 3 {
					src := make([]byte, n*typ.Size()+1)[1:] // unaligned
					randomBits(typ, src, random)
					sum[n], size[n] = 5, 6
					want, wantSize := make([]float64, n), make([]float64, n)
					for i := range n {
						want[i], wantSize[i] = sum[i]+At(typ, src, i), size[i]+math.Abs(At(typ, src, i))
					}
					Accumulate(typ, sum[:n], size[:n], src)
					for i := range n {
						if !same(sum[i], want[i]) || !same(size[i], wantSize[i]) {
							t.Fatalf("element %d: sum %v and size %v, want %v and %v", i, sum[i], size[i], want[i], wantSize[i])
						}
					}
					if sum[n] != 5 || size[n] != 6 {
						t.Fatal("Accumulate wrote after the last element")
					}
				}
			})
		}
	}
}

func BenchmarkAccumulate(b *testing.B) {
	for _, typ := range []Type{F16, F32} {
		b.Run(typ.String(), func(b *testing.B) {
			const n = 4096
			sum, size, src := make([]float64, n), make([]float64, n), make([]byte, n*typ.Size())
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				Accumulate(typ, sum, size, src)
			}
		})
	}
}
