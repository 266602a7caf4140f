package fault

import "slices"

// shortestCycle returns a breadth-first search from each blocked rank; ties go to the lowest first
// rank. Waits that any of several peers could end count as edges to each. Words are left out: if
// many ranks could change a word, it does not determine which one the rank waits for.
func shortestCycle(blocked []Blocked, at map[int]*Blocked) []int {
	if best, ok := disjointCycles(blocked, at); ok {
		return best
	}
	waits := func(rank int) bool { b := at[rank]; return b != nil && b.Word == "" }
	var best []int
	from := make(map[int]int, len(blocked))
	for i := range blocked {
		start := blocked[i].Rank
		if !waits(start) {
			continue
		}
		clear(from)
		queue, depth := []int{start}, map[int]int{start: 1}
		for len(queue) > 0 {
			r := queue[0]
			queue = queue[1:]
			if best != nil && depth[r] >= len(best) {
				break
			}
			for _, p := range at[r].Peers {
				if p == start {
					best = path(from, start, r)
					queue = nil
					break
				}
				if _, seen := depth[p]; !seen && waits(p) {
					depth[p], from[p] = depth[r]+1, r
					queue = append(queue, p)
				}
			}
		}
		if len(best) == 1 {
			break // cannot get shorter
		}
	}
	return best
}

// disjointCycles handles waits for exactly one peer each, as on a hung ring, in one walk:
// there no two cycles share a rank. ok is false for other graphs.
func disjointCycles(blocked []Blocked, at map[int]*Blocked) (best []int, ok bool) {
	for i := range blocked {
		if len(blocked[i].Peers) != 1 {
			return nil, false
		}
	}
	walk := make(map[int]int, len(blocked)) // the walk that reached a rank
	for i := range blocked {
		var trail []int
		r := blocked[i].Rank
		for at[r] != nil && walk[r] == 0 {
			walk[r] = i + 1
			trail = append(trail, r)
			r = at[r].Peers[0]
		}
		if at[r] == nil || walk[r] != i+1 {
			continue
		}
		cycle := lowestFirst(trail[slices.Index(trail, r):])
		if best == nil || len(cycle) < len(best) || len(cycle) == len(best) && cycle[0] < best[0] {
			best = cycle
		}
	}
	return best, true
}

// lowestFirst turns a cycle so that it begins with its lowest rank.
func lowestFirst(c []int) []int {
	k := slices.Index(c, slices.Min(c))
	return append(slices.Clone(c[k:]), c[:k]...)
}

func path(from map[int]int, start, end int) []int {
	p := []int{end}
	for r := end; r != start; r = from[r] {
		p = append(p, from[r])
	}
	slices.Reverse(p)
	return p
}
