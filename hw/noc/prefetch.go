package noc

import (
	"unsafe"

	"kernbench/des"
	"kernbench/hw/noc/routes"
	"kernbench/internal/prefetch"
)

// Invariant of this file: it changes no state. It prefetches the state of the next events into the
// cache. A cache line that names another one is read a batch later, when it has arrived. If the
// caches hold all state, prefetching costs more than it saves.

// prefetchBytes is the size of the state of reserved routes from which it is fetched early. It is
// more than the last cache of most processors holds for one core.
const prefetchBytes = 32 << 20

// stateBytes is the size of what messages on reserved routes meet.
func (n *Fabric) stateBytes() uintptr {
	return uintptr(len(n.links))*unsafe.Sizeof(link{}) + uintptr(len(n.routes.Hops))*unsafe.Sizeof(routes.Hop(0))
}

const (
	reach = 3 // links of a message's route whose state is fetched
	batch = 8 // events that are looked at together
)

// prefetch looks at coming events in stages: at their messages and links, then at their hops, then
// at the links ahead.
func (n *Fabric) prefetch(coming []des.Event, fresh bool) {
	if fresh {
		n.seen = [len(n.seen)]int{len(coming), len(coming), len(coming)}
	}
	for stage := range n.seen {
		end := min(len(coming), (len(n.seen)-stage+1)*batch)
		for i := len(coming) - n.seen[stage]; i < end; i++ {
			if e := &coming[i]; Kind(*e) == kindArrive {
				n.prefetchStage(stage, &n.msgs[e.Arg], Index(*e))
			}
		}
		n.seen[stage] = len(coming) - end
	}
}

func (n *Fabric) prefetchStage(stage int, m *message, li uint32) {
	switch {
	case stage == 0:
		prefetch.Line(unsafe.Pointer(m))
		prefetch.Line(unsafe.Pointer(&n.links[li]))
	case stage == 1:
		prefetch.Line(unsafe.Pointer(&n.routes.Hops[m.route.At]))
		if m.hop > 0 {
			prefetch.Line(unsafe.Pointer(&n.links[m.via-1]))
		}
	default:
		n.prefetchRoute(m)
	}
}

// prefetchRoute fetches the links of a message's route that have state of interest.
func (n *Fabric) prefetchRoute(m *message) {
	for k, r := 0, m.route; k < reach && !r.Empty(); r = n.routes.Onward(r) {
		if li := n.routes.Hops[r.At].Number(); n.reached[li] < contentionFree {
			prefetch.Line(unsafe.Pointer(&n.links[li]))
			k++
		}
	}
}
