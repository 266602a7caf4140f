package race

// Live is what the judge holds: events, and vectors of clocks.
func (d *Detector) Live() (events, clocks int) {
	d.log.Flush()
	return d.liveEvents, d.liveVecs
}

// Covers is the number of covers on all links.
func (d *Detector) Covers() (n int) {
	for i := range d.agents {
		for _, l := range d.agents[i].links {
			n += len(l.known)
		}
	}
	return n
}
