// Package dtype holds the element types and the arithmetic on vectors of them, as
// little-endian bytes. A result depends on the input bytes alone. It is the same on every
// machine, except for Exp, Log and Softmax, which are as exact as package math on the
// processor.
//
// It may import golang.org/x/sys/cpu and nothing of kernbench. Start at Type.
package dtype
