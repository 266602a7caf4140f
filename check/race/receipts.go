package race

import "slices"

// This file holds the receipts: see received.go. It drops those that no stretch has any more. A
// kernel that goes round for long makes some in each round.
// Invariant: the receipts that are left keep their contents, and stretches their receipts.

// receiptPool holds the receipts.
type receiptPool struct {
	receipts [][]receipt // in slabs
	made     uint32      // those in use so far
	limit    uint32      // of made, beyond which unused ones are looked for
	least    uint32      // of limit
}

// leastReceipts is the least limit.
const leastReceipts = 1 << 21

// Receipts lie in slabs of receiptSlab receipts.
const (
	receiptBits = 10
	receiptSlab = 1 << receiptBits
)

func (p *receiptPool) receiptAt(i uint32) *receipt {
	return &p.receipts[i>>receiptBits][i&(receiptSlab-1)]
}

// newReceipt returns the number of a new receipt.
func (p *receiptPool) newReceipt(time uint32) uint32 {
	i := p.made
	if int(i>>receiptBits) == len(p.receipts) {
		p.receipts = append(p.receipts, make([]receipt, receiptSlab))
	}
	p.made++
	*p.receiptAt(i) = receipt{time: time}
	return i
}

// tidyReceipts drops unused receipts.
func (d *Detector) tidyReceipts() {
	numbers := make([]uint32, d.made) // by old number: 1 + the new one
	for i := range d.agents {
		a := &d.agents[i]
		d.dropOwn(a)
		a.latest = lastRead{}
		a.eachReceipt(func(at *uint32) { numbers[*at] = 1 })
	}
	d.eachReceived(func(s *seg) { numbers[s.receipt()] = 1 })
	for i := range d.agents {
		d.agents[i].dropUnused(numbers)
	}
	kept := uint32(0)
	for old, used := range numbers {
		if used != 0 {
			*d.receiptAt(kept) = *d.receiptAt(uint32(old))
			kept++
			numbers[old] = kept
		}
	}
	for i := range d.agents {
		a := &d.agents[i]
		renumber := func(at *uint32) { *at = numbers[*at] - 1 }
		a.eachReceipt(renumber)
		for k := range a.loading {
			renumber(&a.loading[k].at)
		}
	}
	d.eachReceived(func(s *seg) { s.renumber(numbers[s.receipt()] - 1) })
	d.made, d.limit = kept, max(d.least, 2*kept)
}

// dropUnused drops the loads that are complete, and those whose receipts have number 0. No stretch
// is left of what these have read.
func (r *receiving) dropUnused(numbers []uint32) {
	open := append(r.loading[:0], r.loading[r.loaded:]...)
	r.loading = slices.DeleteFunc(open, func(l loading) bool { return numbers[l.at] == 0 })
	r.loaded = 0
}

// eachReceipt calls f with the numbers of the receipts that an agent itself needs.
func (r *receiving) eachReceipt(f func(at *uint32)) {
	if r.moment != 0 {
		f(&r.present)
	}
	for i := range r.late {
		f(&r.late[i].at)
	}
}

// eachReceived calls f with each stretch that has a receipt.
func (d *Detector) eachReceived(f func(s *seg)) {
	each := func(segs []seg) {
		for i := range segs {
			if d.event(segs[i].one).class == received {
				f(&segs[i])
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
