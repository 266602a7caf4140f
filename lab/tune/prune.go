package tune

import "slices"

// farBehind is the ratio of times, to the best settings of an algorithm, from which on a target is
// given up.
const farBehind = 1.1

// under is an algorithm under one protocol.
type under struct{ algorithm, protocol string }

func (v *tuneTarget) under() under { return under{v.name, v.plan.Config.Protocol} }

// thin gives up settings with which an algorithm is slower by one size, and relatively even slower
// than by the previous size. Settings are compared under their protocol, and protocols by their
// best settings: latency of a protocol hides what slots cost. An algorithm that failed fails with
// more bytes, too.
func (g *tuneGroup) thin(at int) {
	best, of := map[string]*tuneTarget{}, map[under]*tuneTarget{}
	for _, v := range g.targets {
		p := v.points[at]
		if p == nil || p.Error != "" {
			continue
		}
		if b := best[v.name]; b == nil || faster(p, b.points[at]) < 0 {
			best[v.name] = v
		}
		if b := of[v.under()]; b == nil || faster(p, b.points[at]) < 0 {
			of[v.under()] = v
		}
	}
	g.targets = slices.DeleteFunc(g.targets, func(v *tuneTarget) bool {
		p, own := v.points[at], of[v.under()]
		switch {
		case p == nil:
			return false // skipped, or refused at this size
		case p.Error != "":
			return true
		case asConfigured(p) || at == 0:
			return false
		}
		return v.fallsBehind(own, at) || own.fallsBehind(best[v.name], at)
	})
}

// fallsBehind reports whether a target is far behind another one by a size, and further than by the
// size before.
func (v *tuneTarget) fallsBehind(best *tuneTarget, at int) bool {
	if v.points[at-1] == nil || best.points[at-1] == nil {
		return false
	}
	ratio := func(at int) float64 { return float64(v.points[at].Time) / float64(max(1, best.points[at].Time)) }
	return ratio(at) > farBehind && ratio(at) > ratio(at-1)
}

// prune keeps the best algorithms by one size, each as it is configured, and with its best settings
// under each protocol. The protocol that is fast for short vectors is slow for long ones. On one
// node several algorithms may have the same performer. They count as one.
func (g *tuneGroup) prune(at, best int) {
	ranked := slices.DeleteFunc(slices.Clone(g.targets), func(v *tuneTarget) bool {
		return v.points[at] == nil || v.points[at].Error != ""
	})
	slices.SortStableFunc(ranked, func(a, b *tuneTarget) int { return faster(a.points[at], b.points[at]) })
	performers, left := map[string]bool{}, map[under]int{} // those that stay, and targets with settings
	var keep []*tuneTarget
	for _, v := range ranked {
		by := v.plan.Performer().Name
		if !performers[by] && len(performers) == best {
			continue
		}
		performers[by] = true
		if !asConfigured(v.points[at]) {
			if left[v.under()] == best {
				continue
			}
			left[v.under()]++
		}
		keep = append(keep, v)
	}
	g.targets = slices.DeleteFunc(g.targets, func(v *tuneTarget) bool { return !slices.Contains(keep, v) })
}
