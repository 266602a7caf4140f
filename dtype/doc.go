// Package dtype holds the element types and the arithmetic on vectors of elements, stored as
// little-endian bytes. A result depends on the input bytes alone. It is the same on every machine,
// except for Exp, Log and Softmax: these use package math, whose last bits may depend on the
// processor.
//
// It may import golang.org/x/sys/cpu and nothing of kernbench. Start at Type.
package dtype
