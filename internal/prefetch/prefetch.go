//go:build amd64 || arm64

// Package prefetch asks the processor to bring memory into the cache that will be needed soon,
// without waiting for it: an instruction that Go does not offer. On processors without it the
// functions do nothing.
//
// It imports no other package. Start at Line.
package prefetch

import "unsafe"

// Line asks for the cache line at p. It reads nothing, so p may be any address.
//
//go:noescape
func Line(p unsafe.Pointer)

// Lines asks for n lines in a row, at least one.
//
//go:noescape
func Lines(p unsafe.Pointer, n int)
