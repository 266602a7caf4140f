package noc

import (
	"unsafe"

	"kernbench/des"
	"kernbench/hw/noc/routes"
	"kernbench/internal/prefetch"
)

// Invariant of this file: it changes no state. It prefetches the messages and links of the next
// events into the cache, so that their state has arrived when the events are handled.

// prefetchBytes is the size of the state of reserved routes from which it is prefetched: less stays
// in the nearest caches.
const prefetchBytes = 256 << 10

// stateBytes returns the size of what messages on reserved routes meet.
func (n *Fabric) stateBytes() uintptr {
	return uintptr(len(n.links))*unsafe.Sizeof(link{}) + uintptr(len(n.routes.Hops))*unsafe.Sizeof(routes.Hop(0))
}

// batch is the number of events that are looked at together: see des.Queue.Prefetch.
const batch = 8

// prefetch looks at the events of the next batch but one, and when a window begins at those of the
// next one too.
func (n *Fabric) prefetch(coming []des.Event, fresh bool) {
	from := batch
	if fresh {
		from = 0
	}
	for i := from; i < min(len(coming), 2*batch); i++ {
		if e := &coming[i]; Kind(*e) == kindArrive {
			prefetch.Line(unsafe.Pointer(&n.msgs[e.Arg]))
			prefetch.Line(unsafe.Pointer(&n.links[Index(*e)]))
		}
	}
}
