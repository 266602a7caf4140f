// Package watch sees whether the kernels of a launch issue instructions, notes where they are, and
// stops those that pass a limit. It knows of a kernel what a Kernel has; package tl tells it of
// instructions, and an executor's caller asks it questions from another goroutine.
//
// It imports fault, unit and tl/frames. Start at Watch.
package watch
