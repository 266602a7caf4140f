package conf

import "slices"

// nodesKey is the path of the level between nodes.
const nodesKey = "system.nodes"

// addNodes adds the level between nodes above the levels of the machine, if there are several
// nodes. Levels then includes it, and the number of SIPs counts those of all nodes.
func (t *Topology) addNodes(l *ledger) {
	s := &t.values.System
	if s.Nodes.Members() < 2 || l.doubtful(nodesKey) {
		return
	}
	if s.Nodes.Network == "" {
		l.disagree([]string{nodesKey + ".count", nodesKey + ".dims"},
			"the machine has no network between its nodes; set %s.network, %s.link.bw_gbs and %s.link.latency_ns",
			nodesKey, nodesKey, nodesKey)
		return
	}
	before := len(l.errs)
	t.checkLevel(l, &s.Nodes, nodesKey)
	if len(l.errs) > before {
		return
	}
	inside := slices.Clone(s.Between())
	if inside[0].Name == "" && len(inside) == 1 {
		inside[0].Name = "node"
	}
	outside := s.Nodes
	if outside.Name == "" {
		outside.Name = "rail"
	}
	for i := range inside {
		if inside[i].Name == outside.Name {
			l.disagree([]string{nodesKey + ".name"},
				"level %d is called %q, too; give the network between nodes another name", i, outside.Name)
			return
		}
	}
	if len(inside) == maxLevels {
		l.disagree([]string{nodesKey}, "the machine has %d levels without it, want at most %d", len(inside), maxLevels)
		return
	}
	sips := min(s.SIPs.Count*min(s.Nodes.Members(), maxPEs), maxSIPs+1)
	if sips > maxSIPs {
		l.disagree([]string{nodesKey + ".count"}, "the nodes make more than %d SIPs", maxSIPs)
		return
	}
	s.short = len(s.Levels) == 0
	s.Levels, s.SIPs.Count, s.nodes = append(inside, outside), sips, true
}
