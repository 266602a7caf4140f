package sim

import (
	"fmt"
	"runtime/debug"
)

// both has thing 0 done here and thing 1 by a goroutine of its own, and returns when both are over. What either
// panics with comes out here, where the launch is turned into an error, once stop has had the other come to its end.
func both(do func(i int), stop func()) {
	defect, ended, whole := "", make(chan struct{}), false
	go func() {
		defer close(ended)
		defer func() {
			if v := recover(); v != nil {
				defect = fmt.Sprintf("%v\n%s", v, debug.Stack())
				stop()
			}
		}()
		do(1)
	}()
	defer func() { // also when what is done here panics
		if !whole {
			stop()
			<-ended
		}
	}()
	do(0)
	whole = true
	<-ended
	if defect != "" {
		panic(defect)
	}
}
