//go:build invariants

package ipcq

import "fmt"

// check panics if the pointers of a ring are not in order. The sender may see no more credits than
// the receiver has returned. The receiver may return no more than it has taken, and so on. Not more
// than all slots may be in use.
func (r *Ring) check(slots []Slot, z *Sizing) {
	// Counters wrap: distances from the oldest one are compared.
	at := func(n uint32) uint32 { return n - r.Credited }
	if !(at(r.Returned) <= at(r.Taken) && at(r.Taken) <= at(r.Visible) && at(r.Visible) <= at(r.Sent) && at(r.Sent) <= z.n) {
		panic(fmt.Sprintf("ipcq: pointers of a ring of %d slots are out of order: %+v", z.n, *r))
	}
	for n := r.Returned; n != r.Taken; n++ {
		if s := slots[z.Slot(n)].state; s != lent && s != ended {
			panic(fmt.Sprintf("ipcq: token %d is taken and not given back, but its slot has state %d: %+v", n, s, *r))
		}
	}
	for n := r.Taken; n != r.Visible; n++ {
		if s := slots[z.Slot(n)].state; s != full {
			panic(fmt.Sprintf("ipcq: token %d is visible and not taken, but its slot has state %d: %+v", n, s, *r))
		}
	}
}
