package sweep

import (
	"context"
	"runtime"
)

// InOrder does n pieces of work, as many in parallel as the program may use processors. It hands
// out the results in the order of the pieces. It hands out no results of pieces that ctx
// interrupted.
func InOrder[T any](ctx context.Context, n int, work func(int) T, out func(T)) error {
	ahead := runtime.GOMAXPROCS(0)
	done := make([]chan T, n)
	start := func(i int) {
		if i < n && ctx.Err() == nil {
			done[i] = make(chan T, 1)
			go func() { done[i] <- work(i) }()
		}
	}
	for i := range min(ahead, n) {
		start(i)
	}
	for i := range n {
		if done[i] == nil {
			break
		}
		v := <-done[i]
		if ctx.Err() == nil {
			out(v)
		}
		start(i + ahead)
	}
	return ctx.Err()
}
