package noc

// Invariant of this file: no message ever waits at a contention-free link. All messages reach it
// from the same other link, which takes at least as long for each. When the head of the next one
// arrives, the tail of the previous one has left. The buffers of both links can hold all messages
// in flight. So a message passes at once, and only the link's latency counts.

// findContentionFree finds these links. It also marks the links whose buffers are never full.
// They hold all that can be in flight over the link, so that their space need not be counted.
func (n *Fabric) findContentionFree(p *plan) {
	if n.off&ContentionFree != 0 {
		return
	}
	for li := range p.links {
		if l, b := &n.links[li], p.links[li].bytes; b > 0 && b <= int64(n.kind(l).space) {
			l.own.Flags |= neverFull
		}
	}
	for li := range p.links {
		from := p.links[li].from
		if from == 0 || from >= aSource { // no route, sources, or several edges
			continue
		}
		l, a := &n.links[li], &n.links[from-1]
		if l.own.Flags&a.own.Flags&neverFull != 0 && n.kind(l).spec.Rate >= n.kind(a).spec.Rate &&
			l.own.Kind < 1<<8-uint16(contentionFree) {
			n.reached[li] = contentionFree + uint8(l.own.Kind)
			l.served = from // as soon as a message has passed
		}
	}
}
