package race

// This file drops the receipts that no stretch has any more: see received.go. A kernel that goes
// round for long makes some in each round.
// Invariant: the receipts that are left keep their contents, and stretches their receipts.

// leastReceipts is the number of receipts of all agents from which on unused ones are looked for.
const leastReceipts = 1 << 21

// tidyingReceipts is the state of a Detector for this.
type tidyingReceipts struct {
	made  int // receipts since the last time, and those that were left then
	limit int // of made
	least int // leastReceipts, but in tests
}

// tidyReceipts drops unused receipts if they may be many.
func (d *Detector) tidyReceipts() {
	numbers := make([][]uint32, len(d.agents)) // by agent and old number: 1 + the new one
	for i := range d.agents {
		a := &d.agents[i]
		numbers[i] = make([]uint32, len(a.receipts))
		d.dropOwn(a)
		a.latest = lastRead{}
		a.eachReceipt(func(at *uint32) { numbers[i][*at] = 1 })
	}
	d.eachReceived(func(s *seg, e *event) { numbers[e.agent][s.readers>>ofReceipt] = 1 })
	d.made = 0
	for i := range d.agents {
		a := &d.agents[i]
		kept := a.receipts[:0]
		for old, used := range numbers[i] {
			if used != 0 {
				kept = append(kept, a.receipts[old])
				numbers[i][old] = uint32(len(kept))
			}
		}
		a.receipts = kept
		d.made += len(kept)
		a.eachReceipt(func(at *uint32) { *at = numbers[i][*at] - 1 })
	}
	d.eachReceived(func(s *seg, e *event) {
		s.renumber(numbers[e.agent][s.readers>>ofReceipt] - 1)
	})
	d.limit = max(d.least, 2*d.made)
}

// eachReceipt calls f with the numbers of the receipts that an agent itself needs.
func (a *agent) eachReceipt(f func(at *uint32)) {
	if a.moment != 0 {
		f(&a.present)
	}
	for i := a.loaded; i < len(a.loading); i++ {
		f(&a.loading[i].at)
	}
	for i := range a.late {
		f(&a.late[i].at)
	}
}

// eachReceived calls f with each stretch that has a receipt, and its event.
func (d *Detector) eachReceived(f func(s *seg, e *event)) {
	each := func(segs []seg) {
		for i := range segs {
			if e := d.event(segs[i].one); e.class == received {
				f(&segs[i], e)
			}
		}
	}
	for _, ps := range d.pages.all {
		for i := range ps {
			if d.fullOf(&ps[i]) == nil {
				each(ps[i].segs())
			}
		}
	}
	for _, p := range d.full {
		each(p.segs)
	}
	for _, s := range d.sheets {
		if s != nil {
			each(s.segs)
		}
	}
}

// restReceived forgets what agents have received. No stretch is left.
func (d *Detector) restReceived() {
	for i := range d.agents {
		a := &d.agents[i]
		if a.received != nil {
			d.release(a.received)
		}
		d.dropOwn(a)
		for _, l := range a.late {
			d.release(l.e)
		}
		a.reset()
	}
	d.made, d.limit = 0, d.least
}
