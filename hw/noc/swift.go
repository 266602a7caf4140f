package noc

// This file is about links on which no message ever waits. All that comes to such a link comes from the
// same other one, which takes as long for a message or longer: when the head of the next is there, the tail
// of the one before has left. And all that can be on its way has room in the buffers of both. So a message
// passes it when it comes, and nothing need be known of the link but its latency.

// findSwift finds these links, and those whose buffers hold all that can be on its way over them.
func (n *Fabric) findSwift(uses []Use) {
	n.swift = make([]uint8, len(n.links))
	bytes, before := make([]int64, len(n.links)), make([]uint32, len(n.links))
	for i := range uses {
		u := &uses[i]
		if u.Alone {
			continue
		}
		from := uint32(aSource)
		for r := u.Route(); !r.Empty(); r = n.onward(r) {
			h := n.hops[r.at]
			li := n.linkOf(h)
			bytes[li] += u.Bytes
			if before[li] = from; edgeOf(h) != onlyEdge {
				before[li] = aSource // or one of several
			}
			from = li + 1
		}
	}
	for li, b := range bytes {
		if l := &n.links[li]; b > 0 && b <= int64(n.kind(l).room) {
			l.own.flags |= roomy
		}
	}
	for li, from := range before {
		if from == 0 || from == aSource {
			continue
		}
		l, a := &n.links[li], &n.links[from-1]
		if l.own.flags&a.own.flags&roomy != 0 && n.kind(l).spec.Rate >= n.kind(a).spec.Rate && l.own.kind < 1<<8-1 {
			n.swift[li] = uint8(l.own.kind + 1)
			l.served = from // as soon as something has passed
		}
	}
}
