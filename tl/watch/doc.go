// Package watch checks whether the kernels of a launch issue instructions, notes where they
// are, and stops those that exceed a limit. Package tl reports instructions to it; the caller
// of an executor queries it from another goroutine.
//
// It may import fault, unit and tl/frames. Start at Watch.
package watch
