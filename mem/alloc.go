package mem

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// ErrFull is returned when a memory has no free run that is long enough.
var ErrFull = errors.New("memory full")

// Allocator allocates runs of one memory, first fit, and joins neighbouring free runs. The zero
// Allocator has no memory; use NewAllocator.
type Allocator struct {
	capacity, align int64
	top             int64 // all memory from here on is free
	free            []run // below, by offset, never adjacent
	used            []run // by offset
}

type run struct{ off, n int64 }

// NewAllocator manages offsets [0, capacity) in multiples of align bytes.
func NewAllocator(capacity, align int64) *Allocator {
	return &Allocator{capacity: capacity, align: align}
}

// Capacity returns the size of the memory in bytes.
func (a *Allocator) Capacity() int64 { return a.capacity }

// Alloc reserves n bytes and returns their offset. The error wraps ErrFull and has the requested
// size, the free bytes, and the longest free run.
func (a *Allocator) Alloc(n int64) (int64, error) {
	if n <= 0 {
		return 0, fmt.Errorf("allocation of %d bytes: must be positive", n)
	}
	size := a.round(n)
	off, ok := a.firstFrom(0, size)
	if !ok {
		return 0, a.full(size)
	}
	a.take(off, size)
	return off, nil
}

// round returns n rounded up to whole units.
func (a *Allocator) round(n int64) int64 {
	if n > a.capacity { // else rounding up may overflow, and no run is long enough anyway
		return n
	}
	return (n + a.align - 1) / a.align * a.align
}

// firstFrom returns the lowest offset, off or above, at which n bytes are free.
func (a *Allocator) firstFrom(off, n int64) (int64, bool) {
	for i := a.runAt(off); i < len(a.free); i++ {
		first := max(off, a.free[i].off)
		if a.free[i].off+a.free[i].n-first >= n {
			return first, true
		}
	}
	first := max(off, a.top)
	return first, a.capacity-first >= n
}

// runAt returns the index of the first free run below the top that ends after an offset.
func (a *Allocator) runAt(off int64) int {
	i, _ := slices.BinarySearchFunc(a.free, off, func(r run, o int64) int { return cmp.Compare(r.off+r.n-1, o) })
	return i
}

// take reserves n bytes at off, which are free.
func (a *Allocator) take(off, n int64) {
	k, _ := a.find(off)
	a.used = slices.Insert(a.used, k, run{off, n})
	i := a.runAt(off)
	if i == len(a.free) {
		if off > a.top {
			a.free = append(a.free, run{a.top, off - a.top})
		}
		a.top = off + n
		return
	}
	r := a.free[i]
	before, behind := run{r.off, off - r.off}, run{off + n, r.off + r.n - off - n}
	switch {
	case before.n > 0 && behind.n > 0:
		a.free[i] = before
		a.free = slices.Insert(a.free, i+1, behind)
	case before.n > 0:
		a.free[i] = before
	case behind.n > 0:
		a.free[i] = behind
	default:
		a.free = slices.Delete(a.free, i, i+1)
	}
}

// find returns the index in used of the run at an offset, or where it would be.
func (a *Allocator) find(off int64) (int, bool) {
	return slices.BinarySearchFunc(a.used, off, func(r run, o int64) int { return cmp.Compare(r.off, o) })
}

// full returns the error of an allocation that does not fit.
func (a *Allocator) full(n int64) error {
	total, longest := a.capacity-a.top, a.capacity-a.top
	for _, r := range a.free {
		total += r.n
		longest = max(longest, r.n)
	}
	return fmt.Errorf("%w: %d bytes requested, %d of %d free, longest free run %d", ErrFull, n, total, a.capacity, longest)
}

// Free gives back the run at offset. An offset that Alloc did not return, or that was
// freed already, is an error.
func (a *Allocator) Free(off int64) error {
	k, ok := a.find(off)
	if !ok {
		return fmt.Errorf("free of offset %#x: nothing is allocated there", off)
	}
	r := a.used[k]
	a.used = slices.Delete(a.used, k, k+1)
	i := a.runAt(off)
	if i < len(a.free) && r.off+r.n == a.free[i].off {
		r.n += a.free[i].n
		a.free = slices.Delete(a.free, i, i+1)
	}
	if i > 0 && a.free[i-1].off+a.free[i-1].n == r.off {
		i--
		r = run{a.free[i].off, a.free[i].n + r.n}
		a.free = slices.Delete(a.free, i, i+1)
	}
	if r.off+r.n == a.top {
		a.top = r.off
	} else {
		a.free = slices.Insert(a.free, i, r)
	}
	return nil
}

// InUse returns the number of allocated bytes.
func (a *Allocator) InUse() int64 {
	total := a.top
	for _, r := range a.free {
		total -= r.n
	}
	return total
}
