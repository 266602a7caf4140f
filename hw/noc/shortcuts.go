package noc

import "math"

// Shortcuts are the optimisations of this package, a bit each. None changes a time: tests turn them
// off one by one, and compare.
type Shortcuts uint8

// The shortcuts, each in the file or package of its name.
const (
	Exclusive      Shortcuts = 1 << iota // exclusive routes need no events
	Advance                              // messages pass links without events if no other can come before them
	ContentionFree                       // links at which no message waits are skipped
	Compress                             // routes share stored hops
	Prefetch                             // the state of coming events is prefetched, if it is large
	Halves                               // routes over one switch are stored as two halves
)

// shortcuts say which of them are used, and from which sizes on.
type shortcuts struct {
	off          Shortcuts // shortcuts that are turned off
	compressFrom int       // hops from which routes share them
	prefetchFrom uintptr   // bytes of state from which it is fetched early
}

// Without turns shortcuts off, before routes are reserved. It is for tests.
func (n *Fabric) Without(off Shortcuts) {
	if n.off = off; off&(Advance|Exclusive) != 0 {
		n.off |= ContentionFree // which belongs to routes that share links and advance
	}
	if off&Compress != 0 {
		n.compressFrom = math.MaxInt
	}
	if off&Prefetch != 0 {
		n.prefetchFrom = math.MaxUint
	}
}
