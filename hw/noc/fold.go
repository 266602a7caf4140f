package noc

import (
	"slices"

	"kernbench/machine"
)

// This file is about what routes have in common. The ways of one source to many ends are the same for a
// while, and the ways to one end from many sources are from somewhere on: both are stored once. Most
// routes have a first part which others of the same source have too, and a few links of their own, from
// which they jump into the way to the end of another one.

// manyHops is from how many on routes share what they have in common. Fewer are at hand anyhow, and it
// takes time to jump.
const manyHops = 1 << 20

// lay stores each route of uses, which are parts of whole, for itself.
func (n *Fabric) lay(uses []Use, whole []hop) {
	n.hops = slices.Grow(n.hops, len(whole)+len(uses))
	for i := range uses {
		u := &uses[i]
		if u.Alone {
			continue
		}
		path := whole[u.first : u.first+u.clear]
		if u.first, u.clear = 0, 0; len(path) > 0 {
			u.first = uint32(len(n.hops))
			n.hops = append(append(n.hops, path...), end)
		}
	}
}

// fold stores the routes of uses, which are parts of whole, so that they share what they can.
func (n *Fabric) fold(uses []Use, whole []hop) {
	known := make([]uint32, len(n.links))
	fronts := n.fronts(uses, whole, known)
	clear(known)
	var to machine.NodeID
	base := uint32(len(n.hops))
	for i := range uses {
		u := &uses[i]
		if u.Alone {
			continue
		}
		if u.clear == 0 {
			u.first = 0
			continue
		}
		if u.To != to {
			to, base = u.To, uint32(len(n.hops))
		}
		path := whole[u.first : u.first+u.clear]
		if f := fronts[i]; f.at == 0 {
			u.first, u.clear = n.tail(path, known, base), 0
		} else {
			u.first, u.clear = f.at, n.tail(path[f.hops:], known, base)
		}
	}
}

// front is the first part of a route, where others of its source share it.
type front struct{ at, hops uint32 }

// fronts stores what several routes of a source have in common, and returns it by use.
func (n *Fabric) fronts(uses []Use, whole []hop, known []uint32) []front {
	var (
		fronts  = make([]front, len(uses))
		passing = make([]uint32, len(n.links)) // of the routes of a source, by link
		last    = make([]uint32, len(n.links)) // 1 + the latest use whose front ends there
		base    = uint32(len(n.hops))
	)
	path := func(i uint32) []hop {
		if u := &uses[i]; !u.Alone {
			return whole[u.first : u.first+u.clear]
		}
		return nil
	}
	for sorted := bySource(uses); len(sorted) > 0; {
		k := 1
		for k < len(sorted) && uses[sorted[k]].From == uses[sorted[0]].From {
			k++
		}
		same := sorted[:k]
		sorted = sorted[k:]
		for _, i := range same {
			for _, h := range path(i) {
				passing[n.linkOf(h)]++
			}
		}
		for _, i := range same {
			path, f := path(i), &fronts[i]
			most := uint32(0)
			for k := 1; k < len(path); k++ { // a link is left for the tail
				if saved := (passing[n.linkOf(path[k-1])] - 1) * uint32(k); saved > 0 && saved >= most {
					most, f.hops = saved, uint32(k)
				}
			}
			if f.hops == 0 {
				continue
			}
			at := &last[n.linkOf(path[f.hops-1])]
			if *at != 0 && uses[*at-1].From == uses[i].From && fronts[*at-1].hops == f.hops {
				o := *at - 1
				if other := whole[uses[o].first:][:f.hops]; slices.Equal(path[:f.hops], other) {
					if fronts[o].at == 0 {
						fronts[o].at = n.tail(other, known, base)
					}
					f.at = fronts[o].at
				}
			}
			*at = i + 1
		}
		for _, i := range same {
			for _, h := range path(i) {
				passing[n.linkOf(h)] = 0
			}
		}
	}
	return fronts
}

// leastShared is how many links two ways must have in common for a jump from one into the other: it may lead
// to memory that is not at hand.
const leastShared = 2

// tail stores a path up to where it comes upon one that lies from base on and goes the same way to the same
// end, and returns where. By link, known is a hop that lies there.
func (n *Fabric) tail(path []hop, known []uint32, base uint32) uint32 {
	own, next := len(path), uint32(0) // the links before that are not known, and where it goes on behind them
	for own > 0 {
		at := known[n.linkOf(path[own-1])]
		if at < base || n.hops[at] != path[own-1] || n.onward(Route{at: at}).at != next {
			break
		}
		own--
		next = at
	}
	if own < len(path) { // by which edge the first one is reached is each route's own
		own++
		next = n.onward(Route{at: next}).at
	}
	if len(path)-own < leastShared {
		own = len(path)
	}
	first := uint32(len(n.hops))
	for k, h := range path[:own] {
		known[n.linkOf(h)] = first + uint32(k)
	}
	n.hops = append(n.hops, path[:own]...)
	if own == len(path) {
		n.hops = append(n.hops, end)
	} else {
		n.hops = append(n.hops, jump|hop(next))
	}
	return first
}

// bySource are the numbers of uses in the order of where they come from.
func bySource(uses []Use) []uint32 {
	most := machine.NodeID(0)
	for i := range uses {
		most = max(most, uses[i].From)
	}
	first := make([]uint32, most+2)
	for i := range uses {
		first[uses[i].From+1]++
	}
	for k := range first[1:] {
		first[k+1] += first[k]
	}
	sorted := make([]uint32, len(uses))
	for i := range uses {
		at := &first[uses[i].From]
		sorted[*at] = uint32(i)
		*at++
	}
	return sorted
}
