package verify

import (
	"testing"

	"kernbench/collective"
	"kernbench/dtype"
)

// BenchmarkCheck judges results of the main job's size, 256 ranks of 64 KiB in f16. All ranks have
// the same result (chunked ring, tree) or different ones (the guide's ring).
func BenchmarkCheck(b *testing.B) {
	for _, alike := range []bool{true, false} {
		name := "alike"
		if !alike {
			name = "different"
		}
		b.Run(name, func(b *testing.B) {
			const world, elems = 256, 32768
			w := newWorld(collective.AllReduce, sumOf(world, elems, dtype.F16), false,
				func(r, i int) float64 { return float64((r + i) % 7) })
			all := make([]int, world)
			for r := range all {
				all[r] = r
			}
			v := w.tree(all...)
			for r := range world {
				w.out[r] = vector{append([]byte(nil), v.data...), v.prov}
				if !alike {
					dtype.Set(dtype.F16, w.out[r].data, r, dtype.At(dtype.F16, v.data, r)+1)
				}
			}
			in := w.input()
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if v, err := Check(in); err != nil || !v.OK() {
					b.Fatal(err, v)
				}
			}
		})
	}
}
