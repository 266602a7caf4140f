package fault

import (
	"fmt"
	"strings"
	"time"

	"kernbench/unit"
)

// Stalled is a kernel that runs and issues no instruction.
type Stalled struct {
	Place
	For   time.Duration // wall time
	Stack []string      // of the author's code, innermost first: file:line (function)
}

func (e *Stalled) Error() string {
	return fmt.Sprintf("%v: the kernel has run for %v and issued nothing: a loop that does not end, or a long computation on the host (--stall sets the limit)\n  %s",
		e.Place, e.For, strings.Join(e.Stack, "\n  "))
}

// Limit is a kernel that runs beyond a limit of its launch.
type Limit struct {
	Place
	Calls int64     // instructions that a kernel may issue; 0: no limit
	Until unit.Time // simulated time
}

func (e *Limit) Error() string {
	if e.Calls > 0 {
		return fmt.Sprintf("%v: the kernel has not ended after %d instructions, the limit of --max-events", e.Place, e.Calls)
	}
	return fmt.Sprintf("%v: the kernel has not ended after %v of simulated time, the limit of --max-time", e.Place, e.Until)
}

// Exited is a kernel that ended its goroutine.
type Exited struct{ Place }

func (e *Exited) Error() string {
	return fmt.Sprintf("%v: the kernel ended its goroutine (runtime.Goexit, or t.Fatal of a test): a kernel ends by returning; judge results after the launch",
		e.Place)
}

func (*Exited) fault()  {}
func (*Limit) fault()   {}
func (*Stalled) fault() {}
