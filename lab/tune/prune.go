package tune

import "slices"

// farBehind is the ratio of times, to the best settings of an algorithm, from which on a target is
// given up.
const farBehind = 1.1

// thin gives up settings with which an algorithm is slower by one size, and still slower from the
// previous size on. None of these can catch up. An algorithm that failed fails with more bytes,
// too.
func (g *tuneGroup) thin(at int) {
	best := map[string]*tuneTarget{}
	for _, v := range g.targets {
		if p := v.points[at]; p != nil && p.Error == "" && (best[v.name] == nil || faster(p, best[v.name].points[at]) < 0) {
			best[v.name] = v
		}
	}
	g.targets = slices.DeleteFunc(g.targets, func(v *tuneTarget) bool {
		p, b := v.points[at], best[v.name]
		switch {
		case p == nil:
			return false // skipped, or refused at this size
		case p.Error != "":
			return true
		case asConfigured(p) || at == 0 || v.points[at-1] == nil || b.points[at-1] == nil:
			return false
		}
		return float64(p.Time) > farBehind*float64(b.points[at].Time) && p.Time-v.points[at-1].Time >= b.points[at].Time-b.points[at-1].Time
	})
}

// prune keeps the best algorithms by one size, each with its best settings and as it is configured.
func (g *tuneGroup) prune(at, best int) {
	ranked := slices.DeleteFunc(slices.Clone(g.targets), func(v *tuneTarget) bool {
		return v.points[at] == nil || v.points[at].Error != ""
	})
	slices.SortStableFunc(ranked, func(a, b *tuneTarget) int { return faster(a.points[at], b.points[at]) })
	left := map[string]int{} // targets of an algorithm that stay
	var keep []*tuneTarget
	for _, v := range ranked {
		n, in := left[v.name]
		switch {
		case !in && len(left) == best:
			continue
		case n == best && !asConfigured(v.points[at]):
			continue
		case !asConfigured(v.points[at]):
			left[v.name] = n + 1
		default:
			left[v.name] = n
		}
		keep = append(keep, v)
	}
	g.targets = slices.DeleteFunc(g.targets, func(v *tuneTarget) bool { return !slices.Contains(keep, v) })
}
