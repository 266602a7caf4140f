package race

import (
	"kernbench/mem"
	"kernbench/record/history"
)

// A flag in the lines of a packet orders its reader after this packet, as the signal of a put does.
// It proves nothing if the packet that was there before had the same flag: the reader may have seen
// that one.

// flagged is the last packet of a place.
type flagged struct {
	flag  int64
	by    Access
	agent history.Agent
}

// packet handles a packet that has been put. It names one with the flag of its predecessor.
func (d *Detector) packet(e *event, r *history.Record) {
	now := flagged{e.value(), d.describe(e), e.agent}
	before, known := d.flags[r.Word]
	if d.flags == nil {
		d.flags = map[mem.Addr]flagged{}
	}
	d.flags[r.Word] = now
	if !known || before.flag != now.flag {
		return
	}
	if h := d.open(ReusedFlag, r.Word, before.by, now.by, before.agent, now.agent); h != nil {
		h.Missing = "another flag: a wait for " + itoa(now.flag) + " cannot tell this packet from the one before; count calls, " +
			"or take turns with two buffers"
	}
}

// freshFlags forgets the packets in a stretch of memory.
func (d *Detector) freshFlags(a mem.Addr, bytes int64) {
	for w := range d.flags {
		if w >= a && w < a+mem.Addr(bytes) {
			delete(d.flags, w)
		}
	}
}
