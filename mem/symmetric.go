package mem

import "fmt"

// AllocSymmetric reserves n bytes at the lowest offset at which all allocators have them free, in
// all of them or in none. All allocators must be different, and allocate multiples of the same
// number of bytes. If there is no such offset, the error wraps ErrFull and has the index of the
// first allocator without space.
func AllocSymmetric(as []*Allocator, n int64) (int64, error) {
	if len(as) == 0 || n <= 0 {
		return 0, fmt.Errorf("allocation of %d bytes in each of %d memories: both must be positive", n, len(as))
	}
	off, at := int64(0), 0
	for agreed := 0; agreed < len(as); at = (at + 1) % len(as) {
		first, ok := as[at].firstFrom(off, as[at].round(n))
		switch {
		case !ok:
			return 0, &NoCommonRun{Index: at, From: off, err: as[at].full(as[at].round(n))}
		case first == off:
			agreed++
		default: // all that agreed before must be asked again
			off, agreed = first, 1
		}
	}
	for _, a := range as {
		a.take(off, a.round(n))
	}
	return off, nil
}

// NoCommonRun is a symmetric allocation for which there is no offset. It wraps ErrFull.
type NoCommonRun struct {
	Index int   // of the allocator that ended the search
	From  int64 // below this offset another allocator has no space
	err   error
}

func (e *NoCommonRun) Error() string {
	if e.From == 0 {
		return e.err.Error()
	}
	return fmt.Sprintf("%v; none begins at %#x or above, and below not all members have space", e.err, e.From)
}

func (e *NoCommonRun) Unwrap() error { return e.err }
