package noc

import (
	"slices"

	"kernbench/machine"
	"kernbench/record/trace"
	"kernbench/unit"
)

// Count is the traffic of one link.
type Count struct {
	Link    machine.LinkID
	ByClass [Classes]ClassCount // by traffic class
	Busy    unit.Time           // time from the start of each message until its tail has left
	Longest int                 // most messages that waited at once
	Line    trace.Timeline      // when the link was busy
}

// ClassCount is the traffic of one class on a link, and its waits.
type ClassCount struct {
	Messages int64     `json:"messages"`
	Bytes    int64     `json:"bytes"`
	Queued   unit.Time `json:"queued_ps"`     // sum of the waits of messages at the link
	Stalls   int64     `json:"credit_stalls"` // messages that waited for space in the buffer at the far end
	Stalled  unit.Time `json:"stalled_ps"`    // time of these waits in which the link was free
}

// Add adds another count.
func (c *ClassCount) Add(o ClassCount) {
	c.Messages += o.Messages
	c.Bytes += o.Bytes
	c.Queued += o.Queued
	c.Stalls += o.Stalls
	c.Stalled += o.Stalled
}

// Total returns the sum of all classes.
func (c *Count) Total() (sum ClassCount) {
	for _, o := range c.ByClass {
		sum.Add(o)
	}
	return sum
}

// counts are the counts of the links of a fabric that counts, by link.
type counts struct{ of []Count }

// CountUse makes the fabric count from here on. Routes must not be reserved meanwhile.
func (n *Fabric) CountUse() { n.counts = &counts{} }

// Counts returns what links have carried since CountUse, by link of the machine. Links that carried
// nothing are left out.
func (n *Fabric) Counts() []Count {
	var all []Count
	for i, c := range n.counts.of {
		if c.Total().Messages > 0 {
			c.Link = machine.LinkID(n.links[i].id)
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b Count) int { return int(a.Link - b.Link) })
	return all
}

// waits counts a message that begins to wait at a link, given the number of messages that wait.
func (n *counts) waits(li uint32, waiting int) {
	u := place(&n.of, li)
	u.Longest = max(u.Longest, waiting)
}

// starts counts a message that starts on a link now, which has been free since a time, and takes it
// for so long. The last link of a route needs no buffer space at its end.
func (n *counts) starts(li uint32, m *message, now, free, takes unit.Time, last bool) {
	u := place(&n.of, li)
	u.Busy += takes
	u.Line.Add(now, now+takes)
	c := &u.ByClass[m.class()]
	c.Messages++
	c.Bytes += int64(m.bytes)
	c.Queued += now - m.arrived
	if could := max(free, m.arrived); could < now && !last {
		c.Stalls++
		c.Stalled += now - could
	}
}

// passes counts a transfer without contention, which takes a link for so long from now on.
func (n *counts) passes(li uint32, m *message, now, takes unit.Time) {
	u := place(&n.of, li)
	u.ByClass[m.class()].Messages++
	u.ByClass[m.class()].Bytes += int64(m.bytes) + m.left
	u.Busy += takes
	u.Line.Add(now, now+takes)
}
