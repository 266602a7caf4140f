package sweep

import (
	"context"
	"runtime"
)

// InOrder does n pieces of work, as many beside each other as the program may use processors, and
// hands out what comes of them in their order. Of work that ctx interrupted nothing is handed out.
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
