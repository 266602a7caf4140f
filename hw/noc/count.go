package noc

import (
	"slices"

	"kernbench/machine"
	"kernbench/record/trace"
	"kernbench/unit"
)

// Count is what one link has carried.
type Count struct {
	Link     machine.LinkID
	Messages int64
	Bytes    [Classes]int64 // by traffic class
	Busy     unit.Time      // that the link was taken, from the start of a message until its tail left
	Queued   unit.Time      // that messages have waited at the link, all together
	Longest  int            // most messages that waited at once
	Stalls   int64          // messages that waited for space in the buffer at the far end
	Stalled  unit.Time      // that the link was free meanwhile
	Line     trace.Timeline // when the link was busy
}

// Total returns the bytes of all classes.
func (c *Count) Total() (n int64) {
	for _, b := range c.Bytes {
		n += b
	}
	return n
}

// counts are those of the links of a fabric that counts, by link.
type counts struct{ of []Count }

// CountUse makes the fabric count from here on. Routes must not be reserved meanwhile.
func (n *Fabric) CountUse() { n.counts = &counts{} }

// Counts returns what links have carried since CountUse, by link of the machine. Links that carried
// nothing are left out.
func (n *Fabric) Counts() []Count {
	var all []Count
	for i, c := range n.counts.of {
		if c.Messages > 0 {
			c.Link = machine.LinkID(n.links[i].id)
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b Count) int { return int(a.Link - b.Link) })
	return all
}

// waits counts a message that comes to wait at a link, where so many wait now.
func (c *counts) waits(li uint32, waiting int) {
	u := place(&c.of, li)
	u.Longest = max(u.Longest, waiting)
}

// starts counts a message that starts on a link now, which has been free since a time, and takes it
// for so long. The last link of a route needs no space behind it.
func (c *counts) starts(li uint32, m *message, now, free, takes unit.Time, last bool) {
	u := place(&c.of, li)
	u.Messages++
	u.Bytes[m.class()] += int64(m.bytes)
	u.Busy += takes
	u.Line.Add(now, now+takes)
	u.Queued += now - m.arrived
	if could := max(free, m.arrived); could < now && !last {
		u.Stalls++
		u.Stalled += now - could
	}
}

// passes counts a transfer without contention, which takes a link for so long from now on.
func (c *counts) passes(li uint32, m *message, now, takes unit.Time) {
	u := place(&c.of, li)
	u.Messages++
	u.Bytes[m.class()] += int64(m.bytes) + m.left
	u.Busy += takes
	u.Line.Add(now, now+takes)
}
