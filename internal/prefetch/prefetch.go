//go:build amd64 || arm64

// Package prefetch makes the processor load memory into the cache before it is needed, without
// waiting. Go offers no such instruction. On processors without it the functions do nothing.
//
// It may import the standard library only. Start at Line.
package prefetch

import "unsafe"

// Line prefetches the cache line at p. It reads nothing, so p may be any address.
//
//go:noescape
func Line(p unsafe.Pointer)

// Lines prefetches n lines in a row, at least one.
//
//go:noescape
func Lines(p unsafe.Pointer, n int)
