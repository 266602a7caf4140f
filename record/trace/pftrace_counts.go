package trace

import "kernbench/unit"

// counts are the counters of a Perfetto trace. Timestamps are nanoseconds. Of the values that a
// counter has within one of them the last is written, or none if it equals the previous one.
type counts struct {
	at      uint64     // in ns, of the changes that are to be written
	changed []*counted // in the order in which they changed
	known   map[uint64]*counted
}

// counted is a counter.
type counted struct {
	track   uint64
	value   int64
	written int64
	begun   bool // something has been written
	changed bool
}

// count gives a counter a value from a time on.
func (p *PFTrace) count(track uint64, at unit.Time, value int64) {
	c := &p.counts
	if ns := uint64(at / unit.Nanosecond); ns > c.at {
		p.writeCounts()
		c.at = ns
	}
	v := c.known[track]
	if v == nil {
		v = &counted{track: track}
		c.known[track] = v
	}
	v.value = value
	if !v.changed {
		v.changed = true
		c.changed = append(c.changed, v)
	}
}

// writeCounts writes the counters that have changed.
func (p *PFTrace) writeCounts() {
	c := &p.counts
	for _, v := range c.changed {
		v.changed = false
		if v.begun && v.written == v.value {
			continue
		}
		v.begun, v.written = true, v.value
		b := appendUint(p.sub[:0], eventType, typeCounter)
		b = appendUint(b, eventTrack, v.track)
		p.sub = appendUint(b, eventCounter, uint64(v.value))
		p.putTimed(c.at, p.sub)
	}
	c.changed = c.changed[:0]
}
