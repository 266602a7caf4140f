package race

import (
	"unsafe"

	"kernbench/record/history"
)

// EventBytes is the size of an event.
const EventBytes = unsafe.Sizeof(event{})

// Live counts what the judge holds: events, and vectors of clocks.
func (d *Detector) Live() (events, clocks int) {
	d.log.Flush()
	if d.resting {
		d.resting = false
		d.rest()
	}
	return d.liveEvents, d.liveVecs
}

// Covers returns the number of covers on all links.
func (d *Detector) Covers() (n int) {
	for i := range d.numLinks {
		n += len(d.coversOf(d.linkAt(i + 1)))
	}
	return n
}

// CoversOf returns the number of covers of the link from a rank to a PE.
func (d *Detector) CoversOf(rank int, to int32) int {
	d.log.Flush()
	for a := range d.agents {
		if d.log.Info(history.Agent(a)).Rank == rank {
			if i := d.agents[a].links.at(to); i != 0 {
				return len(d.coversOf(d.linkAt(i)))
			}
		}
	}
	return 0
}

// Plain keeps every word and all readers in full.
func (d *Detector) Plain() { d.plain = true }

// AllFlags keeps the flags of packets in full.
func (d *Detector) AllFlags() { d.facts.flags = true }

// Rough makes all facts rough that this pass finds, as if there had been many passes.
func (d *Detector) Rough() { d.facts.pass = max(d.facts.pass, roughFrom) }

// HasRough reports whether there are rough facts.
func (d *Detector) HasRough() bool { d.log.Flush(); return d.facts.rough }

// Void reports whether the pass is void.
func (d *Detector) Void() bool { d.log.Flush(); return d.void }

// Sheets returns the number of sheets that were made and are not dissolved.
func (d *Detector) Sheets() (n int) {
	d.log.Flush()
	for _, s := range d.sheets {
		if s != nil {
			n++
		}
	}
	return n
}

// ManyReaders is the least number of readers of a stretch that has an index.
const ManyReaders = manyReaders

// JointAll lets few accesses of few agents have joint events.
func (d *Detector) JointAll() { d.jointAll = true }

// Joints returns the number of joint events that were made.
func (d *Detector) Joints() int { d.log.Flush(); return d.joints }

// InOrder reports whether the events of each link are in the order of their numbers.
func (d *Detector) InOrder() bool {
	d.log.Flush()
	for l := range d.numLinks {
		last := uint32(0)
		for i := d.linkAt(l + 1).live.head; i != 0; i = d.placeIn(i).lnext {
			if d.event(i).seq < last {
				return false
			}
			last = d.event(i).seq
		}
	}
	return true
}

// DeferAll defers joins of few agents too. It performs some of them when that many vectors are in a
// row.
func (d *Detector) DeferAll(chainLimit int) { d.deferAll, d.chainLimit = true, int16(chainLimit) }

// Deferrals returns the number of joins that were deferred.
func (d *Detector) Deferrals() int { d.log.Flush(); return d.deferrals }

// Times returns the present times of the agents.
func (d *Detector) Times() (ts []uint32) {
	d.log.Flush()
	for i := range d.agents {
		ts = append(ts, d.agents[i].clk.time)
	}
	return ts
}

// TidyReceipts looks for unused receipts when there are a few.
func (d *Detector) TidyReceipts() { d.least, d.limit = 8, 8 }

// Receipts returns the number of receipts.
func (d *Detector) Receipts() int { d.log.Flush(); return int(d.made) }

// MadeReceipts returns the number of receipts that were made at some time, as far as memory shows.
func (d *Detector) MadeReceipts() int { d.log.Flush(); return receiptSlab * len(d.receipts) }

// Settlings returns the number of settlings.
func (d *Detector) Settlings() int { d.log.Flush(); return len(d.words.settlings.list) }

// Unsent returns the number of joint events of puts and notifications that are not complete.
func (d *Detector) Unsent() (n int) {
	d.log.Flush()
	for i := range d.agents {
		n += len(d.agents[i].unsent)
	}
	return n
}

// HidesHazards reports whether another pass with an event for each access may find hazards.
func (d *Detector) HidesHazards() bool { d.log.Flush(); return d.hidesHazards() }
