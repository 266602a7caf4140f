//go:build invariants

package noc

import (
	"fmt"

	"kernbench/unit"
)

// check panics if the lists and counts of a link contradict each other. These are the messages that
// wait at it, those in source queues before it, and the contents of its buffers.
func (n *Fabric) check(li uint32) {
	if n.ideal {
		return
	}
	l := &n.links[li]
	n.checkBuffer(li)
	waiting, before := uint32(0), -1
	for i := l.vcs; i != 0; i = n.vcs[i].next {
		a := &n.vcs[i]
		which := n.vcBuffers[i].VC
		if a.link != li || int(which) <= before {
			n.wrong(li, "vc %d of link %d, class and channel %d, stands behind %d", i, a.link, which, before)
		}
		before = int(which)
		if which != l.own.VC {
			n.checkBuffer(isVC | i)
		}
		waiting += n.checkWaiting(li, i)
	}
	if q := &n.queues[l.queue]; q.waiting != waiting {
		n.wrong(li, "%d messages wait, and %d are counted", waiting, q.waiting)
	}
	queues := uint32(0)
	for key := range n.sourceQueues {
		if key.link == li {
			queues++
		}
	}
	if q := &n.queues[l.queue]; q.sourceQueues != queues {
		n.wrong(li, "%d source queues stand before it, and %d are counted", queues, q.sourceQueues)
	}
}

// checkWaiting counts the messages that wait to go into a buffer. They stand in the order in which
// they came.
func (n *Fabric) checkWaiting(li, i uint32) (waiting uint32) {
	a, which := &n.vcs[i], n.vcBuffers[i].VC
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

// checkBuffer panics if the account of a buffer is wrong.
func (n *Fabric) checkBuffer(i uint32) {
	b, li := n.buffer(i), i
	if li >= isVC {
		li = n.vcs[li-isVC].link
	}
	if err := b.Check(&n.releases, n.spaceIn(b)); err != nil {
		n.wrong(li, "%v", err)
	}
}

func (n *Fabric) wrong(li uint32, format string, args ...any) {
	panic(fmt.Sprintf("noc: link %d at %v: ", n.links[li].id, n.q.Now()) + fmt.Sprintf(format, args...))
}
