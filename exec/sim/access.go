package sim

import "kernbench/mem"

// access is a load or store in flight.
type access struct {
	lo, hi mem.Addr
	user   uint32 // transfer
	write  bool
}

// await waits for the PE's own accesses in flight that must stay in order with a new one to the
// same memory. A kernel's loads and stores take effect in program order. The port of the own HBM
// slice keeps that order by itself; elsewhere requests and data take different routes.
func (r *rank) await(a mem.Addr, bytes int64, kind transferKind) {
	if kind != transferCopy && r.owns(a) && r.multis == 0 {
		return
	}
	for r.conflicts(a, a+mem.Addr(bytes), kind == transferStore || kind == transferCopy) {
		r.park(forAccess)
	}
}

func (r *rank) conflicts(lo, hi mem.Addr, write bool) bool {
	for i := range r.accesses {
		if u := &r.accesses[i]; u.lo < hi && lo < u.hi && (write || u.write) {
			return true
		}
	}
	return false
}

// access notes a load or store that has been started.
func (r *rank) access(user uint32) {
	t := r.run.xfers.At(user)
	end := t.addr + mem.Addr(t.bytes)
	if t.rows > 0 { // all between the first and the last, too
		end = t.addr + mem.Addr(int64(t.rows-1)*t.pitch+t.bytes/int64(t.rows))
	}
	r.accesses = append(r.accesses, access{t.addr, end, user, t.kind == transferStore})
}

// accessed notes that it is complete.
func (r *rank) accessed(user uint32) {
	for i := range r.accesses {
		if r.accesses[i].user == user {
			last := len(r.accesses) - 1
			r.accesses[i] = r.accesses[last]
			r.accesses = r.accesses[:last]
			return
		}
	}
}
