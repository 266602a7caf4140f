package race

// Live is what the judge holds: events, and vectors of clocks.
func (d *Detector) Live() (events, clocks int) {
	d.log.Flush()
	if d.resting {
		d.resting = false
		d.rest()
	}
	return d.liveEvents, d.liveVecs
}

// Covers is the number of covers on all links.
func (d *Detector) Covers() (n int) {
	for i := range d.numLinks {
		n += len(d.linkAt(i + 1).known)
	}
	return n
}

// Plain keeps every word and all readers in full.
func (d *Detector) Plain() { d.plain = true }

// ManyReaders is from how many readers on a stretch has a crowd.
const ManyReaders = manyReaders
