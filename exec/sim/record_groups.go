package sim

import (
	"slices"

	"kernbench/tl"
)

// kin is groups that do the same, rank by rank: those that are told the same (tl.Launch.Like).
type kin struct {
	groups []int32
	ranks  int // of all of them
}

// mostKin is to how many kinds of groups one is compared: of launches all of whose groups are told something else, each stands
// for itself.
const mostKin = 16

// kinOf sorts the groups of a launch that says that its ranks are alike; ok is false where it is wired otherwise, or has
// too few ranks that are.
func (w *follow) kinOf() (all []kin, ok bool) {
	l := w.launch
	if !l.Alike {
		return nil, false
	}
	for i := range l.Groups {
		g := &l.Groups[i]
		k := slices.IndexFunc(all[:min(len(all), mostKin)], func(k kin) bool { return l.Like(&l.Groups[k.groups[0]], g) })
		if k < 0 {
			if !wiredAlike(g.Wiring) {
				return nil, false
			}
			k = len(all)
			all = append(all, kin{})
		}
		all[k].groups = append(all[k].groups, int32(i))
		all[k].ranks += len(g.PEs)
	}
	return all, !slices.ContainsFunc(all, func(k kin) bool { return k.ranks < sharedFrom })
}

// recordKinds records the first rank of each kind of the first of groups that do the same.
func (w *follow) recordKinds(all []kin) (bool, error) {
	var known []whole
	groups := w.launch.Groups
	of := make([]int32, len(w.ranks))
	first := make([]int32, len(groups))
	for g := range groups[1:] {
		first[g+1] = first[g] + int32(len(groups[g].PEs))
	}
	for i := range all {
		k := &all[i]
		lead := &groups[k.groups[0]]
		before := int32(len(known))
		kinds := 0
		if lead.Kinds != nil {
			kinds = int(slices.Max(lead.Kinds))
		}
		if kinds >= k.ranks/sharedFrom {
			return false, nil
		}
		known = append(known, make([]whole, kinds+1)...)
		for _, g := range k.groups {
			for r := range lead.PEs {
				of[first[g]+int32(r)] = before + kindOfRank(lead, r)
			}
		}
		for r := range int32(len(lead.PEs)) {
			rank := first[k.groups[0]] + r
			if known[of[rank]].ops != nil {
				continue
			}
			one, ok := w.recordWhole(rank, alikeLongest)
			if !ok || one.faulty() {
				return false, nil
			}
			one.ops = slices.Clone(one.ops)
			known[of[rank]] = one
		}
		for _, rank := range k.samples(first, int32(len(lead.PEs))) {
			like := &known[of[rank]]
			if rank == like.first {
				continue
			}
			same, ok := w.recordWhole(rank, alikeLongest)
			if !ok || same.faulty() {
				return false, nil // whoever is at fault is to say so
			}
			if err := w.compare(&w.ranks[rank], like, same.ops); err != nil {
				return false, err
			}
		}
	}
	w.share(known, of)
	return true, nil
}

// samples are ranks that are recorded to be compared: some of the first group, and as many of all others.
func (k *kin) samples(first []int32, n int32) []int32 {
	g := k.groups
	lead, last := first[g[0]], len(g)-1
	some := []int32{lead + min(1, n-1), lead + n/2, lead + n - 1}
	if last > 0 {
		some = append(some, first[g[1]], first[g[(last+1)/2]]+n/2, first[g[last]]+n-1)
	}
	return slices.Compact(some)
}

// kindOfRank is the kind of a rank of a group.
func kindOfRank(g *tl.Group, rank int) int32 {
	if g.Kinds == nil {
		return 0
	}
	return g.Kinds[rank]
}
