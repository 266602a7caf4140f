// Package pages asks the host for large pages under what is met in no order: with small ones each access walks
// the tables of the processor. What cannot be had is done without.
//
// It imports nothing of the house. Start at Large.
package pages

import (
	"syscall"
	"unsafe"
)

// Large asks for large pages under a new slice that nobody has written to, if it is long, and returns it.
func Large[T any](s []T) []T {
	const page, hugePage = 2 << 20, 14 // MADV_HUGEPAGE
	bytes := uintptr(len(s)) * unsafe.Sizeof(*new(T))
	if bytes < 2*page {
		return s
	}
	start := unsafe.Pointer(unsafe.SliceData(s))
	before := -uintptr(start) % page
	_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Add(start, before)), (bytes-before)/page*page), hugePage)
	return s
}
