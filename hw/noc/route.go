package noc

import (
	"kernbench/machine"
	"kernbench/unit"
)

// This file is about stored routes, which share what they have in common: see compress.

// Route is a path that the fabric has stored, or what is left of one: where in Fabric.hops it begins, and
// where it goes on when it comes to an end there, if it does.
type Route struct{ at, then uint32 }

// Empty reports whether there are no links.
func (r Route) Empty() bool { return r.at == 0 }

// hop is a link of a stored route and a channel there. While routes are reserved it has, in place of a link
// to which several edges lead, the one of them by which it is reached.
type hop uint32

const (
	channelBits = 3
	channels    = 1 << channelBits

	meets hop = 1 << 30 // it has an edge

	// Hops that are no links come after all others.
	jump hop = 1 << 31   // and the number of that which follows
	end  hop = 1<<32 - 1 // of a part
)

func makeHop(number uint32, channel uint8) hop { return hop(number<<channelBits | uint32(channel)) }

func (n *Fabric) linkOf(h hop) uint32 {
	if e := edgeOf(h); e != onlyEdge {
		return n.mergePoint(e).link
	}
	return uint32(h >> channelBits)
}

// edgeOf is the edge by which a route reaches a hop.
func edgeOf(h hop) uint32 {
	if h&meets == 0 {
		return onlyEdge
	}
	return uint32(h&^meets) >> channelBits
}

// onward is what is left of a route behind its first link.
func (n *Fabric) onward(r Route) Route {
	if r.at++; n.hops[r.at] < jump {
		return r
	}
	return n.turn(r)
}

// turn is where a route goes on that comes to a hop that is no link.
func (n *Fabric) turn(r Route) Route {
	if h := n.hops[r.at]; h != end {
		r.at = uint32(h - jump)
		return r
	}
	return Route{at: r.then}
}

// path is all of a route, until it is called again.
func (n *Fabric) path(r Route) []hop {
	n.read = n.read[:0]
	for ; !r.Empty(); r = n.onward(r) {
		n.read = append(n.read, n.hops[r.at])
	}
	return n.read
}

// AddRoute stores the path between two nodes; request leaves out the far memory's port.
func (n *Fabric) AddRoute(from, to machine.NodeID, request bool) Route {
	if request {
		n.found = n.m.RouteRequest(n.found[:0], from, to)
	} else {
		n.found = n.m.Route(n.found[:0], from, to)
	}
	if len(n.found) == 0 {
		return Route{}
	}
	r := Route{at: uint32(len(n.hops))}
	for i, h := range n.found {
		n.hops = append(n.hops, makeHop(n.link(h.Link), n.channelOf(n.found, i)))
	}
	n.hops = append(n.hops, end)
	return r
}

// Latency is what the head of a message needs over a path without contention, and the
// rate of its slowest link (0 for a path without links).
func (n *Fabric) Latency(r Route) (head unit.Time, slowest unit.Rate) {
	for _, h := range n.path(r) {
		k := n.kind(&n.links[n.linkOf(h)])
		head += k.latency
		if slowest == 0 || k.spec.Rate < slowest {
			slowest = k.spec.Rate
		}
	}
	return head, slowest
}
