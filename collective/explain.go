package collective

import (
	"cmp"
	"slices"
)

// Set is the explicit multiset of a run, relative to the base of the run. Sets are
// values that share structure: a union is one node, however many contributors it has, so
// that explain mode costs constant memory per merge.
type Set struct {
	rank        int32 // of a leaf: the contributor (rank, 0)
	height      int32 // 0 for a leaf; above all that it refers to otherwise
	left, right *Set
	dl, dr      int64 // the bases of left and right, relative to this one
}

func leaf(rank int32) *Set { return &Set{rank: rank} }

// union returns a moved by da with b moved by db.
func union(a *Set, da int64, b *Set, db int64) *Set {
	switch {
	case a == nil && db == 0:
		return b
	case b == nil && da == 0:
		return a
	}
	h := int32(0)
	if a != nil {
		h = a.height
	}
	if b != nil {
		h = max(h, b.height)
	}
	return &Set{left: a, right: b, dl: da, dr: db, height: h + 1}
}

// Contributor is one label with its multiplicity: element Index of Rank's input.
type Contributor struct {
	Rank  int
	Index int64
	Count int64 // at most the largest int64
}

func (c Contributor) compare(d Contributor) int {
	return cmp.Or(cmp.Compare(c.Rank, d.Rank), cmp.Compare(c.Index, d.Index))
}

// Contributors lists the multiset of the first element of r by rank and index. It returns nil if r
// does not have it (no explain mode, or an empty multiset).
func (r *Run) Contributors() []Contributor {
	if r.Set == nil {
		return nil
	}
	return r.Set.expand(r.Base)
}

// expand walks the shared structure from the top down, level by level. A node with many paths to it
// is visited once, with their number. So a kernel that doubles its accumulator n times costs n
// steps, not 2^n.
func (s *Set) expand(base int64) []Contributor {
	type place struct {
		set *Set
		at  int64
	}
	levels := make([][]place, s.height+1)
	times := map[place]int64{{s, base}: 1}
	levels[s.height] = []place{{s, base}}
	var out []Contributor
	for h := int(s.height); h >= 0; h-- {
		for _, p := range levels[h] {
			n := times[p]
			delete(times, p)
			if p.set.height == 0 {
				out = append(out, Contributor{Rank: int(p.set.rank), Index: p.at, Count: n})
				continue
			}
			for _, next := range [2]place{{p.set.left, p.at + p.set.dl}, {p.set.right, p.at + p.set.dr}} {
				if next.set == nil {
					continue
				}
				if times[next] == 0 {
					levels[next.set.height] = append(levels[next.set.height], next)
				}
				times[next] = satAdd(times[next], n)
			}
		}
	}
	slices.SortFunc(out, Contributor.compare)
	return joinContributors(out)
}

// joinContributors adds up equal labels, which come from different leaves.
func joinContributors(cs []Contributor) []Contributor {
	k := 0
	for _, c := range cs {
		if k > 0 && cs[k-1].Rank == c.Rank && cs[k-1].Index == c.Index {
			cs[k-1].Count = satAdd(cs[k-1].Count, c.Count)
			continue
		}
		cs[k] = c
		k++
	}
	return cs[:k]
}

func satAdd(a, b int64) int64 {
	if s := a + b; s >= 0 {
		return s
	}
	return 1<<63 - 1
}
