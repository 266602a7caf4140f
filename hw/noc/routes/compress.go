package routes

import "slices"

// Invariant of this file: a route reads the same, hop by hop, however it is stored. Routes from one
// source begin alike, and routes to one destination end alike. Both parts are stored once. A route
// is a first part that it shares, some links of its own, and a jump into the end of another route.

// Paths are the paths of many routes to store. Their hops are numbers of links.
type Paths struct {
	Count  int
	Links  int                  // numbers of hops are below it
	Source func(i int) uint32   // of path i
	Path   func(i int) []Hop    // may be empty
	Put    func(i int, r Route) // gets the route that path i has become
}

// Compress stores paths so that they share parts.
func (t *Table) Compress(p Paths) {
	known := make([]uint32, p.Links)
	fronts := t.fronts(&p, known)
	clear(known)
	for i := range p.Count {
		path := p.Path(i)
		switch f := fronts[i]; {
		case len(path) == 0:
			p.Put(i, Route{})
		case f.at == 0:
			p.Put(i, Route{At: t.tail(path, known)})
		default:
			p.Put(i, Route{f.at, t.tail(path[f.hops:], known)})
		}
	}
}

// front is the first part of a route, if other routes of its source share it.
type front struct{ at, hops uint32 }

// fronts stores the first parts that several routes of a source share, and returns them by path.
func (t *Table) fronts(p *Paths, known []uint32) []front {
	var (
		fronts  = make([]front, p.Count)
		passing = make([]uint32, p.Links) // of the routes of a source, by link
		last    = make([]uint32, p.Links) // 1 + the latest path whose front ends there
	)
	for sorted := p.bySource(); len(sorted) > 0; {
		k := 1
		for k < len(sorted) && p.Source(int(sorted[k])) == p.Source(int(sorted[0])) {
			k++
		}
		same := sorted[:k]
		sorted = sorted[k:]
		for _, i := range same {
			for _, h := range p.Path(int(i)) {
				passing[h.Number()]++
			}
		}
		for _, i := range same {
			path, f := p.Path(int(i)), &fronts[i]
			most := uint32(0)
			for k := 1; k < len(path); k++ { // the tail keeps a link
				if saved := (passing[path[k-1].Number()] - 1) * uint32(k); saved > 0 && saved >= most {
					most, f.hops = saved, uint32(k)
				}
			}
			if f.hops == 0 {
				continue
			}
			at := &last[path[f.hops-1].Number()]
			if *at != 0 && p.Source(int(*at-1)) == p.Source(int(i)) && fronts[*at-1].hops == f.hops {
				o := *at - 1
				if other := p.Path(int(o))[:f.hops]; slices.Equal(path[:f.hops], other) {
					if fronts[o].at == 0 {
						fronts[o].at = t.tail(other, known)
					}
					f.at = fronts[o].at
				}
			}
			*at = i + 1
		}
		for _, i := range same {
			for _, h := range p.Path(int(i)) {
				passing[h.Number()] = 0
			}
		}
	}
	return fronts
}

// leastShared is the least number of links that two routes must share for a jump from one into the
// other to save time. The jump may lead to memory that is not in the cache.
const leastShared = 2

// tail stores a path up to where it meets a stored one that ends alike, and returns where it
// begins. known is, by link, the latest hop that was stored for it.
func (t *Table) tail(path []Hop, known []uint32) uint32 {
	own, next := len(path), uint32(0) // links that are not stored yet, and where the path continues after them
	for own > 0 {
		at := known[path[own-1].Number()]
		if at == 0 || t.Hops[at] != path[own-1] || t.Onward(Route{At: at}).At != next {
			break
		}
		own--
		next = at
	}
	if own == 0 && next != 0 { // a stored part begins with a link
		own, next = 1, t.Onward(Route{At: next}).At
	}
	if len(path)-own < leastShared {
		own = len(path)
	}
	first := uint32(len(t.Hops))
	for k, h := range path[:own] {
		known[h.Number()] = first + uint32(k)
	}
	t.Hops = append(t.Hops, path[:own]...)
	if own == len(path) {
		t.Hops = append(t.Hops, end)
	} else {
		t.Hops = append(t.Hops, jump|Hop(next))
	}
	return first
}

// bySource returns the numbers of paths in the order of their sources.
func (p *Paths) bySource() []uint32 {
	most := uint32(0)
	for i := range p.Count {
		most = max(most, p.Source(i))
	}
	first := make([]uint32, most+2)
	for i := range p.Count {
		first[p.Source(i)+1]++
	}
	for k := range first[1:] {
		first[k+1] += first[k]
	}
	sorted := make([]uint32, p.Count)
	for i := range p.Count {
		at := &first[p.Source(i)]
		sorted[*at] = uint32(i)
		*at++
	}
	return sorted
}
