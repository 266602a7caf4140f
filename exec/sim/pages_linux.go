package sim

import (
	"syscall"
	"unsafe"
)

// inLargePages asks the system for large pages under a new slice, if it is long: ranks meet their rings in no
// order, and with small pages each time walks the tables of the processor. What cannot be had is done without.
func inLargePages[T any](s []T) []T {
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
