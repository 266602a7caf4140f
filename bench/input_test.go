package bench

import (
	"testing"

	"kernbench/dtype"
	"kernbench/tl"
)

// The written elements equal those of At, from any element on.
func TestWriterIsAt(t *testing.T) {
	for _, typ := range dtype.Types() {
		for _, op := range tl.ReduceOps() {
			in := Inputs{Seed: 3, World: 5, Type: typ, Op: op}
			w := in.writer()
			for _, first := range []int{0, 1, 1000} {
				const n = 103 // a part of a word is left
				data := make([]byte, n*typ.Size())
				w.write(data, 4, first)
				for i := range n {
					if got, want := dtype.At(typ, data, i), in.At(4, first+i); got != want {
						t.Fatalf("%v %v: element %d is %v, want %v", typ, op, first+i, got, want)
					}
				}
			}
		}
	}
}

// BenchmarkInputs writes what a rank brings.
func BenchmarkInputs(b *testing.B) {
	for _, typ := range []dtype.Type{dtype.F16, dtype.F32} {
		b.Run(typ.String(), func(b *testing.B) {
			w := Inputs{World: 256, Type: typ}.writer()
			data := make([]byte, 32768*typ.Size())
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				w.write(data, 1, 0)
			}
		})
	}
}
