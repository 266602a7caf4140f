//go:build !amd64

package frames

import "runtime"

// returns stores the innermost return addresses, and a 0 after the last one if there are fewer than
// twelve.
func returns(stack *[depth]uintptr) {
	n := runtime.Callers(3, stack[:])
	if n < depth {
		stack[n] = 0
	}
}
