// Package hugepage asks the host for large pages under memory that is accessed in no order: with
// small pages each access walks the page tables. Where the host has none, memory stays as it is.
//
// It imports no other package. Start at Slice.
package hugepage

import (
	"syscall"
	"unsafe"
)

// Slice asks for large pages under a new slice, if it is long, and returns it. Nothing may have been
// written to it.
func Slice[T any](s []T) []T {
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
