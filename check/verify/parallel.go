package verify

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// workers returns the number of goroutines that work on n items in parallel.
func workers(n int) int { return min(runtime.GOMAXPROCS(0), n) }

// inParallel calls do for n items on several workers, each of which takes the next item. It panics
// with the value and stack of a worker that panics.
func inParallel(workers, n int, do func(worker, i int)) {
	var next atomic.Int32
	var defect atomic.Pointer[string]
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					s := fmt.Sprintf("%v\n%s", v, debug.Stack())
					defect.Store(&s)
				}
			}()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(worker, i)
			}
		})
	}
	all.Wait()
	if s := defect.Load(); s != nil {
		panic(*s)
	}
}
