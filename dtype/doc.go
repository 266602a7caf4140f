// Package dtype holds the element types and the arithmetic on vectors of them, as little-endian bytes.
//
// Every result is a function of the input bytes alone. But for Exp, Log and Softmax, which are as exact as package math
// is on a processor, it is the same on every machine. Floats follow IEEE 754 with round to
// nearest even and overflow to infinity; a computed NaN is always the one canonical quiet NaN of its type, because
// processors differ in the payloads that they hand on. Max and Min give NaN when either side is NaN, and order
// −0 below +0. f16 and bf16 results are the exact result rounded once. Integers wrap; dividing one by zero gives 0, which
// a caller who minds must look for beforehand. A float that becomes an integer is truncated towards zero and held
// to the type's range, and NaN becomes 0. dst may be the same slice as an operand, but must not overlap one otherwise.
// Lengths that do not fit together are a mistake of the caller and panic with both lengths.
//
// It stands at the bottom of the house beside unit, and imports only the standard library and golang.org/x/sys/cpu.
package dtype
