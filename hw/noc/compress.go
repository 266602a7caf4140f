package noc

import (
	"slices"

	"kernbench/machine"
)

// Invariant of this file: a route reads the same, hop by hop, however it is stored. Routes from one
// source begin alike, and routes to one destination end alike. Both parts are stored once: a route is
// a first part that it shares, some links of its own, and a jump into the end of another route.

// compressHops is the number of hops from which routes share them. Fewer fit in memory and caches as
// they are, and a jump takes time.
const compressHops = 1 << 22

// expand stores each route of uses, which are parts of whole, by itself.
func (n *Fabric) expand(uses []Use, whole []hop) {
	n.hops = slices.Grow(n.hops, len(whole)+len(uses))
	for i := range uses {
		u := &uses[i]
		if u.Exclusive {
			continue
		}
		path := whole[u.first : u.first+u.clear]
		if u.first, u.clear = 0, 0; len(path) > 0 {
			u.first = uint32(len(n.hops))
			n.hops = append(append(n.hops, path...), end)
		}
	}
}

// compress stores the routes of uses, which are parts of whole, so that they share parts.
func (n *Fabric) compress(uses []Use, whole []hop) {
	known := make([]uint32, len(n.links))
	fronts := n.fronts(uses, whole, known)
	clear(known)
	for i := range uses {
		u := &uses[i]
		if u.Exclusive {
			continue
		}
		if u.clear == 0 {
			u.first = 0
			continue
		}
		path := whole[u.first : u.first+u.clear]
		if f := fronts[i]; f.at == 0 {
			u.first, u.clear = n.tail(path, known), 0
		} else {
			u.first, u.clear = f.at, n.tail(path[f.hops:], known)
		}
	}
}

// front is the first part of a route, if other routes of its source share it.
type front struct{ at, hops uint32 }

// fronts stores the first parts that several routes of a source share, and returns them by use.
func (n *Fabric) fronts(uses []Use, whole []hop, known []uint32) []front {
	var (
		fronts  = make([]front, len(uses))
		passing = make([]uint32, len(n.links)) // of the routes of a source, by link
		last    = make([]uint32, len(n.links)) // 1 + the latest use whose front ends there
	)
	path := func(i uint32) []hop {
		if u := &uses[i]; !u.Exclusive {
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
			for k := 1; k < len(path); k++ { // the tail keeps a link
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
						fronts[o].at = n.tail(other, known)
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

// leastShared is how many links two routes must share for a jump from one into the other to be worth
// it: the jump may lead to memory that is not in the cache.
const leastShared = 2

// tail stores a path up to where it meets a stored one that ends alike, and returns where it begins.
// known is, by link, the latest hop that was stored for it.
func (n *Fabric) tail(path []hop, known []uint32) uint32 {
	own, next := len(path), uint32(0) // links that are not stored yet, and where the path goes on behind them
	for own > 0 {
		at := known[n.linkOf(path[own-1])]
		if at == 0 || n.hops[at] != path[own-1] || n.onward(Route{at: at}).at != next {
			break
		}
		own--
		next = at
	}
	if own < len(path) { // each route reaches the first shared link by an edge of its own
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

// bySource returns the numbers of uses in the order of their sources.
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
