package mem

import (
	"errors"
	"fmt"
	"slices"
)

// ErrFull is returned when a memory has no free run that is long enough.
var ErrFull = errors.New("memory full")

// Allocator hands out runs of one memory, first fit, and joins neighbours when they
// come back. The zero Allocator has no memory; use NewAllocator.
type Allocator struct {
	capacity, align int64
	free            []run // by offset, never adjacent
	used            map[int64]int64
}

type run struct{ off, n int64 }

// NewAllocator manages offsets [0, capacity) in multiples of align bytes.
func NewAllocator(capacity, align int64) *Allocator {
	return &Allocator{capacity: capacity, align: align, free: []run{{0, capacity}}, used: map[int64]int64{}}
}

// Alloc reserves n bytes and returns their offset, or an error that wraps ErrFull and
// names what was asked, what is free, and the longest free run.
func (a *Allocator) Alloc(n int64) (int64, error) {
	if n <= 0 {
		return 0, fmt.Errorf("allocation of %d bytes: must be positive", n)
	}
	if n <= a.capacity { // else rounding up may overflow, and no run is long enough anyway
		n = (n + a.align - 1) / a.align * a.align
	}
	for i, r := range a.free {
		if r.n < n {
			continue
		}
		if r.n == n {
			a.free = slices.Delete(a.free, i, i+1)
		} else {
			a.free[i] = run{r.off + n, r.n - n}
		}
		a.used[r.off] = n
		return r.off, nil
	}
	var total, longest int64
	for _, r := range a.free {
		total += r.n
		longest = max(longest, r.n)
	}
	return 0, fmt.Errorf("%w: %d bytes asked, %d of %d free, longest run %d", ErrFull, n, total, a.capacity, longest)
}

// Free gives back the run at offset. An offset that Alloc did not return, or that was
// freed already, is an error.
func (a *Allocator) Free(off int64) error {
	n, ok := a.used[off]
	if !ok {
		return fmt.Errorf("free of offset %#x: nothing is allocated there", off)
	}
	delete(a.used, off)
	i, _ := slices.BinarySearchFunc(a.free, off, func(r run, o int64) int { return int(min(1, max(-1, r.off-o))) })
	a.free = slices.Insert(a.free, i, run{off, n})
	if i+1 < len(a.free) && a.free[i].off+a.free[i].n == a.free[i+1].off {
		a.free[i].n += a.free[i+1].n
		a.free = slices.Delete(a.free, i+1, i+2)
	}
	if i > 0 && a.free[i-1].off+a.free[i-1].n == a.free[i].off {
		a.free[i-1].n += a.free[i].n
		a.free = slices.Delete(a.free, i, i+1)
	}
	return nil
}

// InUse is the number of bytes handed out.
func (a *Allocator) InUse() int64 {
	total := a.capacity
	for _, r := range a.free {
		total -= r.n
	}
	return total
}
