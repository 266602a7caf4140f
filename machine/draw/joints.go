package draw

import (
	"cmp"
	"slices"

	"kernbench/machine"
)

// joints gathers links between the same two nodes.
type joints struct{ all map[[2]int]*Joint }

func (j *joints) add(from, to, kind int, l machine.Link) {
	if j.all == nil {
		j.all = map[[2]int]*Joint{}
	}
	pair := [2]int{from, to}
	if j.all[pair] == nil {
		j.all[pair] = &Joint{From: from, To: to, Kind: kind}
	}
	j.all[pair].Links++
	if ends := [2]machine.NodeID{l.From, l.To}; !slices.Contains(j.all[pair].ends, ends) {
		j.all[pair].ends = append(j.all[pair].ends, ends)
	}
}

// into adds them to a stage, and to their kinds how many lie side by side.
func (j *joints) into(s *Stage, kinds []LinkKind) {
	for _, one := range j.all {
		kinds[one.Kind].Parallel = max(kinds[one.Kind].Parallel, one.Links)
	}
	s.Joins = j.list()
}

// list is one for both directions where as many lead back, in the order of their ends.
func (j *joints) list() []Joint {
	list := []Joint{}
	for pair, one := range j.all {
		back := j.all[[2]int{pair[1], pair[0]}]
		one.Both = back != nil && back.Links == one.Links
		if !one.Both || pair[0] < pair[1] {
			both := *one
			if one.Both && pair[0] != pair[1] {
				both.ends = slices.Concat(one.ends, back.ends)
			}
			list = append(list, both)
		}
	}
	slices.SortFunc(list, func(a, b Joint) int { return cmp.Or(a.From-b.From, a.To-b.To) })
	return list
}
