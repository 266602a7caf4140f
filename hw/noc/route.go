package noc

import (
	"kernbench/hw/noc/routes"
	"kernbench/machine"
	"kernbench/unit"
)

// Route is a path that the fabric has stored, or what is left of one. Its hops are links and
// channels there.
type Route = routes.Route

// storedRoutes are the paths that the fabric has stored.
type storedRoutes struct {
	routes routes.Table
	halves routes.Halves
	shared *routes.Shared // of an explained run, which has a route for each pair of ranks; nil: routes share nothing
	found  []machine.Hop  // the path found last
	path   []routes.Hop   // the path stored last
}

// AddRoute stores the path between two nodes; request leaves out the far memory's port. An
// explained run returns the same route each time.
func (n *Fabric) AddRoute(from, to machine.NodeID, request bool) Route {
	halves := !request && n.off&Halves == 0 && n.m.Apart(from, to)
	if halves {
		n.halves.Grow(n.m.Nodes())
		if r, ok := n.halves.Find(uint32(from), uint32(to)); ok {
			return r
		}
	}
	if request {
		n.found = n.m.RouteRequest(n.found[:0], from, to)
	} else {
		n.found = n.m.Route(n.found[:0], from, to)
	}
	n.stored(n.found)
	if halves {
		return n.halves.Store(&n.routes, uint32(from), uint32(to), n.path, n.m.Half(n.found))
	}
	front := 1
	if half := n.m.Half(n.found); half < len(n.found) {
		front = half
	}
	return n.add(front)
}

// add stores n.path, whose front has a number of hops.
func (n *Fabric) add(front int) Route {
	if n.shared != nil {
		return n.routes.AddShared(n.shared, n.path, front)
	}
	return n.routes.Add(n.path)
}

// AddPath stores a path, such as a part of one that ends or begins at a switch. What ends there
// leaves the fabric: a switch that copies or combines takes everything.
func (n *Fabric) AddPath(path []machine.Hop) Route {
	n.stored(path)
	return n.add(1)
}

// stored finds the hops of a path: n.path, until it is called again.
func (n *Fabric) stored(path []machine.Hop) {
	n.path = n.path[:0]
	for i, h := range path {
		n.path = append(n.path, routes.MakeHop(n.link(h.Link), n.channelOf(path, i)))
	}
}

// Latency is the time of a message's head over a path without contention. It also returns the rate
// of the slowest link (0 for a path without links).
func (n *Fabric) Latency(r Route) (head unit.Time, slowest unit.Rate) {
	for _, h := range n.routes.Path(r) {
		k := n.kind(&n.links[h.Number()])
		head += k.latency
		if slowest == 0 || k.spec.Rate < slowest {
			slowest = k.spec.Rate
		}
	}
	return head, slowest
}
