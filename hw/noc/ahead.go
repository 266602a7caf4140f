package noc

import (
	"unsafe"

	"kernbench/cache"
	"kernbench/des"
)

const (
	reach = 3 // links of a message's way that are looked at ahead, but for those that nothing need be known of
	batch = 8 // events that are looked at together
)

// soon looks at what events concern that come soon, so that it is at hand then. What one line of the cache
// tells of the next is looked at a batch later, when it has come: the message of an event first, then
// its way, then the links on it, then those to which several edges lead. Of links and junctions, which may
// be on the other side, it reads what nobody changes.
func (n *Fabric) soon(coming []des.Event, fresh bool) {
	if fresh {
		n.seen = [len(n.seen)]int{len(coming), len(coming), len(coming), len(coming)}
	}
	for stage := range n.seen {
		end := min(len(coming), (len(n.seen)-stage+1)*batch)
		for i := len(coming) - n.seen[stage]; i < end; i++ {
			e := &coming[i]
			if Kind(*e) != kindArrive {
				continue
			}
			m := &n.msgs[e.Arg]
			switch stage {
			case 0:
				cache.Fetch(unsafe.Pointer(m))
				cache.Fetch(unsafe.Pointer(&n.links[Index(*e)]))
			case 1:
				cache.Fetch(unsafe.Pointer(&n.hops[m.route.at]))
				if m.hop > 0 {
					cache.Fetch(unsafe.Pointer(&n.links[m.via-1]))
				}
			case 2:
				if n.isolated {
					n.ahead(m)
				}
			case 3:
				if n.isolated {
					n.behindJunctions(m)
				}
			}
		}
		n.seen[stage] = len(coming) - end
	}
}

// ahead looks at the next links of a message's way, or the junctions before them.
func (n *Fabric) ahead(m *message) {
	for k, r := 0, m.route; k < reach && !r.Empty(); r = n.onward(r) {
		switch h := n.hops[r.at]; {
		case h&meets != 0:
			cache.Fetch(unsafe.Pointer(&n.junctions[edgeOf(h)>>edgeBits]))
			k++
		case n.swift[n.linkOf(h)] == 0:
			cache.Fetch(unsafe.Pointer(&n.links[n.linkOf(h)]))
			k++
		}
	}
}

// behindJunctions looks at the links that ahead did not know.
func (n *Fabric) behindJunctions(m *message) {
	for k, r := 0, m.route; k < reach && !r.Empty(); r = n.onward(r) {
		switch h := n.hops[r.at]; {
		case h&meets != 0:
			cache.Fetch(unsafe.Pointer(&n.links[n.linkOf(h)]))
			k++
		case n.swift[n.linkOf(h)] == 0:
			k++
		}
	}
}
