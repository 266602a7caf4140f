package noc

import "kernbench/des"

// reach is how many links of a message's way are looked at ahead.
const reach = 3

// soon looks at what events concern that come soon, so that it is at hand then: loads that do not wait
// for each other take hardly longer than one. Of links and edges, which may be on the other side, it
// reads what nobody changes.
func (n *Fabric) soon(events []des.Event) {
	x := uint32(0)
	for i := range events {
		if e := &events[i]; Kind(*e) == kindArrive {
			x += n.msgs[e.Arg].hop + n.links[Index(*e)].id
		}
	}
	if n.isolated { // then a message goes on to further links at once
		for i := range events {
			if e := &events[i]; Kind(*e) == kindArrive {
				m := &n.msgs[e.Arg]
				x += uint32(n.hops[m.route.first+m.hop])
				if m.hop > 0 {
					x += n.links[m.via-1].id
				}
			}
		}
		for i := range events {
			if e := &events[i]; Kind(*e) == kindArrive {
				m := &n.msgs[e.Arg]
				path := n.path(m.route)
				for _, h := range path[m.hop:min(m.hop+reach, m.route.hops)] {
					li := n.linkOf(h)
					x += n.links[li].id + n.edges[n.junctions[li].first].from
				}
			}
		}
	}
	n.looked = x
}
