//go:build amd64 || arm64

// Package cache asks the processor to bring what will be needed soon, without waiting for it. That takes an
// instruction that Go has no words for.
//
// It imports nothing of the house. Start at Fetch.
package cache

import "unsafe"

// Fetch asks for the cache line at p. It reads nothing, so that p need not be a place of the program's.
//
//go:noescape
func Fetch(p unsafe.Pointer)

// Lines asks for n lines in a row, one at least.
//
//go:noescape
func Lines(p unsafe.Pointer, n int)
