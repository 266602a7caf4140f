//go:build invariants

package noc

import (
	"fmt"

	"kernbench/unit"
)

// check panics if the lists and counts of a link contradict each other: the messages that wait at
// it, those that stand in lines before it, and what its buffers hold.
func (n *Fabric) check(li uint32) {
	if n.ideal {
		return
	}
	l := &n.links[li]
	n.checkBuffer(li)
	waiting, before := uint32(0), -1
	for i := l.vcs; i != 0; i = n.vcs[i].next {
		a := &n.vcs[i]
		which := n.vcBuffers[i].vc
		if a.link != li || int(which) <= before {
			n.wrong(li, "vc %d of link %d, class and channel %d, stands behind %d", i, a.link, which, before)
		}
		before = int(which)
		if which != l.own.vc {
			n.checkBuffer(isVC | i)
		}
		waiting += n.checkWaiting(li, i)
	}
	if q := &n.queues[l.queue]; q.waiting != waiting {
		n.wrong(li, "%d messages wait, and %d are counted", waiting, q.waiting)
	}
	lines := uint32(0)
	for key := range n.lines {
		if key.link == li {
			lines++
		}
	}
	if q := &n.queues[l.queue]; q.lines != lines {
		n.wrong(li, "%d lines stand before it, and %d are counted", lines, q.lines)
	}
}

// checkWaiting counts the messages that wait to go into a buffer. They stand in the order in which
// they came.
func (n *Fabric) checkWaiting(li, i uint32) (waiting uint32) {
	a, which := &n.vcs[i], n.vcBuffers[i].vc
	last, came := uint32(0), unit.Time(0)
	for mi := a.head; mi != 0; mi = n.msgs[mi].next {
		m := &n.msgs[mi]
		switch waiting++; {
		case int(waiting) > len(n.msgs):
			n.wrong(li, "the messages that wait for class and channel %d stand in a circle", which)
		case m.vc != which:
			n.wrong(li, "message %d of class and channel %d waits for %d", mi, m.vc, which)
		case m.arrived < came:
			n.wrong(li, "message %d came at %v and stands behind one of %v", mi, m.arrived, came)
		}
		last, came = mi, m.arrived
	}
	if a.head != 0 && a.tail != last {
		n.wrong(li, "the last message that waits is %d, and %d is noted", last, a.tail)
	}
	return waiting
}

// checkBuffer panics if a buffer holds more than it has space for, or less than is to be released,
// or if its releases are out of order.
func (n *Fabric) checkBuffer(i uint32) {
	b := n.buffer(i)
	li := i
	if li >= isVC {
		li = n.vcs[li-isVC].link
	}
	space, coming := int64(n.kinds[b.kind].space), int64(0)
	if b.held < 0 || int64(b.held) > space {
		n.wrong(li, "a buffer of %d bytes holds %d", space, b.held)
	}
	if b.first[0] > b.first[1] {
		n.wrong(li, "the first release is at %v, the second at %v", b.first[0], b.first[1])
	}
	if b.first[0] != never {
		coming += int64(b.part[0])
	}
	if b.first[1] != never {
		if b.flags&overflowed == 0 {
			coming += int64(b.part[1])
		} else {
			coming += n.checkReleases(li, uint32(b.part[1]), b.first[1])
		}
	}
	if coming > int64(b.held) {
		n.wrong(li, "a buffer holds %d bytes, and %d are to be released", b.held, coming)
	}
}

// checkReleases sums up a list of releases, the first of which is at a time.
func (n *Fabric) checkReleases(li, first uint32, at unit.Time) (bytes int64) {
	if n.overflow[first].at != at {
		n.wrong(li, "the list of releases begins at %v, and %v is noted", n.overflow[first].at, at)
	}
	last, length := first, 0
	for k := first; k != 0; k = n.overflow[k].next {
		r := &n.overflow[k]
		if length++; length > len(n.overflow) {
			n.wrong(li, "the releases stand in a circle")
		}
		if r.at < at {
			n.wrong(li, "a release at %v stands behind one at %v", r.at, at)
		}
		bytes, at, last = bytes+int64(r.bytes), r.at, k
	}
	if n.overflow[first].last != last || length < 2 {
		n.wrong(li, "the list of %d releases ends with %d, and %d is noted", length, last, n.overflow[first].last)
	}
	return bytes
}

func (n *Fabric) wrong(li uint32, format string, args ...any) {
	panic(fmt.Sprintf("noc: link %d at %v: ", n.links[li].id, n.q.Now()) + fmt.Sprintf(format, args...))
}
