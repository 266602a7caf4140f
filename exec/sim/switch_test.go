package sim_test

import (
	"iter"
	"testing"
)

// BenchmarkSwitch is one resume and park of a kernel's coroutine. It is warm with one, and cold
// among many, whose stacks and states do not fit in a cache.
func BenchmarkSwitch(b *testing.B) {
	for name, live := range map[string]int{"1": 1, "256": 256, "4096": 4096} {
		b.Run(name, func(b *testing.B) {
			next := make([]func() (struct{}, bool), live)
			for i := range next {
				var stop func()
				next[i], stop = iter.Pull(func(yield func(struct{}) bool) {
					for yield(struct{}{}) {
					}
				})
				defer stop()
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				next[i%live]()
			}
		})
	}
}
