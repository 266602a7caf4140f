// Package largepages makes the heap of a process grow into large pages.
//
// A simulation fills fresh memory. The first use of a small page costs a page fault, and so does
// that of a large page, which has 512 times the bytes. Results do not depend on pages.
// It may import the standard library only. Start at Heap.
package largepages

import (
	"runtime"
	"runtime/debug"
	"unsafe"
)

// size is the size of a large page.
const size = 2 << 20

// Heap asks the kernel to back the next n bytes of the heap with large pages, or fewer bytes on a
// small machine. It takes address space, but no memory. Kernels without large pages ignore it. Call
// it once, at the start of a process: a later call may fill n bytes with zeros.
//
// Go cannot ask for this. So Heap allocates the bytes as one object, advises the kernel, and frees
// the object untouched. Go takes the lowest free addresses, so later objects lie there.
func Heap(n int) { heap(n) }

// heap is Heap. It returns the address after the last one of the object.
func heap(n int) uintptr {
	if n = min(n, available()); n < size {
		return 0
	}
	percent := debug.SetGCPercent(-1) // the object would start a collection
	defer debug.SetGCPercent(percent)
	object := make([]byte, n)
	lo := uintptr(unsafe.Pointer(unsafe.SliceData(object)))
	hi := lo + uintptr(n)
	first, last := (lo+size-1)&^(size-1), hi&^(size-1)
	if first < last {
		advise(object[first-lo : last-lo])
	}
	runtime.GC() // frees the object, which is not used from here on
	return hi
}
