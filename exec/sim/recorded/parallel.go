package recorded

import (
	"fmt"
	"runtime/debug"
)

// parallel is work of a second goroutine.
type parallel struct {
	err   error
	ended chan struct{}
}

// start begins work in a goroutine of its own. A panic there becomes its error.
func start(do func() error) *parallel {
	b := &parallel{err: ErrExited, ended: make(chan struct{})}
	go func() {
		defer close(b.ended)
		defer func() {
			if v := recover(); v != nil {
				b.err = fmt.Errorf("internal error: %v\n%s", v, debug.Stack())
			}
		}()
		b.err = do()
	}()
	return b
}

// wait returns the error of the work once it has ended.
func (b *parallel) wait() error {
	<-b.ended
	return b.err
}
