package conf

import (
	"fmt"
	"slices"
	"strings"
)

// Level is one level of the network between SIPs. Missing keys have the zero value.
type Level struct {
	Name      string    `conf:"name" doc:"name of the switches and gateways of this level; if missing, level0, level1, ..."`
	Network   string    `conf:"network" doc:"network that joins the members" enum:"@sips"`
	Count     int       `conf:"count" doc:"number of members; if missing, the product of dims" min:"1" max:"1048576"`
	Dims      []int     `conf:"dims" doc:"members along each dimension of a mesh or torus, for any number of dimensions; members are numbered along the first dimension first" min:"1" max:"1048576"`
	Join      string    `conf:"join" doc:"each: every SIP has its own link into this level, and the level has one plane for each SIP of a group of the levels below; group: each group of the levels below has one gateway; if missing, each" enum:"each|group"`
	Link      Link      `conf:"link" doc:"one link of this level, per direction"`
	Switch    Switch    `conf:"switch" doc:"a switch of this level: switch, fat_tree, dragonfly"`
	Gateway   Passage   `conf:"gateway" doc:"the gateway of each group of the levels below, with join: group"`
	FatTree   FatTree   `conf:"fat_tree" doc:"the switches, with network: fat_tree; the number of tiers follows from the number of members"`
	Dragonfly Dragonfly `conf:"dragonfly" doc:"the routers, with network: dragonfly; the number of groups follows from the number of members"`
	Software  Hops      `conf:"software" doc:"software latencies of messages over this level, in place of software.protocols"`
	Paths     string    `conf:"paths" doc:"how a message selects one of several equal paths of a fat_tree or dragonfly. destination: by its destination, so that the messages of a permutation can use different paths; hash: by a hash of source and destination, so that some messages share a path; if missing, destination" enum:"destination|hash"`
}

// FatTree describes the switches of a fat tree.
type FatTree struct {
	Radix         int     `conf:"radix" doc:"ports of a switch" min:"2" max:"65536"`
	Oversubscribe float64 `conf:"oversubscription" doc:"links of a leaf to its members, per link to its spines; if missing, 1" min:"1" max:"1024"`
}

// Dragonfly is the number of routers in a group, and the links that join them.
type Dragonfly struct {
	Routers   int `conf:"routers" doc:"routers in a group, fully connected" min:"1" max:"4096"`
	PerRouter int `conf:"per_router" doc:"members per router" min:"1" max:"4096"`
	Global    int `conf:"global_links" doc:"links between each pair of groups, assigned to the routers in turn; if missing, 1" min:"1" max:"4096"`
}

// maxLevels and maxDims bound the depth of a machine.
const (
	maxLevels = 16
	maxDims   = 16
)

// Members returns how many members a level joins: count or, where that is left out, the product of
// dims.
func (l *Level) Members() int {
	if l.Count > 0 {
		return l.Count
	}
	return product(l.Dims)
}

// product is 0 for no dimensions, and at most a little above the limit of any machine.
func product(dims []int) int {
	n := min(len(dims), 1)
	for _, d := range dims {
		n = min(n*d, maxPEs+1)
	}
	return n
}

// ByGroup reports whether each group of the levels below has one exit.
func (l *Level) ByGroup() bool { return l.Join == "group" }

// Between lists the levels of the network between SIPs, innermost first: those of system.levels or
// else the one that system.sips describes, without a name.
func (s System) Between() []Level {
	if len(s.Levels) > 0 {
		return s.Levels
	}
	one := Level{Count: s.SIPs.Count, Link: s.Link, Switch: s.Switch, Network: s.SIPs.Topology}
	if n := s.SIPs.network(); n.Name != "" {
		one.Network = n.Name
		if n.Dims {
			w, h := s.SIPs.Grid()
			one.Dims = []int{w, h}
		}
	}
	return []Level{one}
}

// LevelKey returns the dotted path of a key of a level, for errors. Without levels it is a path of
// the short form.
func (t *Topology) LevelKey(level int, key string) string {
	switch s := &t.values.System; {
	case s.nodes && level == len(s.Levels)-1:
		return join(nodesKey, key)
	case len(s.Levels) > 0 && !s.short:
		return join(fmt.Sprintf("system.levels.%d", level), key)
	}
	switch key {
	case "count":
		return "system.sips.count"
	case "network", "dims":
		return "system.sips.topology"
	}
	return join("system", key)
}

// shortForm are the keys of one level without system.levels, with the equivalent keys of a level.
var shortForm = []struct{ key, inLevel string }{
	{"system.sips.topology", "network"},
	{"system.sips.w", "dims"},
	{"system.sips.h", "dims"},
	{"system.link.bw_gbs", "link.bw_gbs"},
	{"system.link.latency_ns", "link.latency_ns"},
	{"system.link.line_bw_gbs", "link.line_bw_gbs"},
	{"system.switch.overhead_ns", "switch.overhead_ns"},
	{"system.switch.multicast", "switch.multicast"},
	{"system.switch.reduce", "switch.reduce"},
}

// checkLevels compares the levels with the short form and with each other. It sets the number of
// SIPs, which follows from them.
func (t *Topology) checkLevels(l *ledger) {
	levels := t.values.System.Levels
	if len(levels) == 0 || l.doubtful("system.levels") {
		return
	}
	const all = "system.levels"
	if len(levels) > maxLevels {
		l.disagree([]string{all}, "found %d levels, want at most %d", len(levels), maxLevels)
		return
	}
	for _, short := range shortForm {
		if !l.untouched(short.key) {
			l.add(l.places.find(short.key).errorf(short.key,
				"the machine has levels (%v), each of which has a %s of its own; leave this key out",
				l.places.find(all), short.inLevel))
		}
	}
	names := make(map[string]int)
	sips, before := 1, len(l.errs)
	for i := range levels {
		t.checkLevel(l, &levels[i], fmt.Sprintf("system.levels.%d", i))
		if i == 0 && levels[i].ByGroup() {
			l.disagree([]string{"system.levels.0.join"},
				"the innermost level joins SIPs: there is no group below it that could have a gateway")
		}
		if name := levels[i].Name; name != "" {
			if first, again := names[name]; again {
				l.disagree([]string{t.LevelKey(i, "name")}, "level %d is called %q, too; a name is for one level", first, name)
			}
			names[name] = i
		}
		sips = min(sips*max(levels[i].Members(), 1), maxPEs+1)
	}
	const count = "system.sips.count"
	switch {
	case len(l.errs) > before: // the machine of the levels is unknown
	case l.untouched(count):
		t.values.System.SIPs.Count = min(sips, maxSIPs)
		if sips > maxSIPs {
			l.disagree([]string{all}, "the levels make more than %d SIPs", maxSIPs)
		}
	case sips != t.values.System.SIPs.Count && !l.doubtful(count):
		l.add(l.places.find(count).errorf(count, "the levels (%v) make %d SIPs, not %d; leave this key out",
			l.places.find(all), sips, t.values.System.SIPs.Count))
	}
}

// checkLevel compares the keys of one level with each other; here is its path.
func (t *Topology) checkLevel(l *ledger, level *Level, here string) {
	wrong := func(key, format string, args ...any) {
		l.disagree([]string{join(here, key)}, format, args...)
	}
	network := FindNetwork(level.Network)
	grid := network.Dims
	switch {
	case level.Network == "":
		l.disagree([]string{here}, "the level names no network, want %s", oneOf(wordsOf("@sips")))
		return
	case len(level.Dims) > 0 && !grid:
		wrong("dims", "dims are for %s; a %s has a count",
			strings.Join(namesOf(func(n Network) string { return nameIf(n, n.Dims) }), " and "), level.Network)
	case len(level.Dims) > maxDims:
		wrong("dims", "found %d dimensions, want at most %d", len(level.Dims), maxDims)
	case grid && len(level.Dims) == 0:
		l.disagree([]string{here}, "a %s needs dims, such as dims: [4, 4, 4]", level.Network)
	case level.Members() == 0:
		l.disagree([]string{here}, "the level has no count")
	case level.Count > 0 && len(level.Dims) > 0 && product(level.Dims) != level.Count:
		keys := []string{join(here, "count"), join(here, "dims")}
		l.disagree(keys, "the product of dims is %d, count is %d; leave count out%s", product(level.Dims), level.Count, l.both(keys...))
	}
	if level.Link.BW == 0 {
		l.disagree([]string{here}, "the level has no link.bw_gbs")
	}
	for _, only := range []struct {
		key   string
		given bool
	}{
		{"fat_tree", level.FatTree != FatTree{}},
		{"dragonfly", level.Dragonfly != Dragonfly{}},
		{"switch", !level.Switch.Plain()},
		{"paths", level.Paths != ""},
	} {
		if only.given && !slices.Contains(network.Keys, only.key) {
			wrong(only.key, "the key belongs to network: %s, and this is a %s", oneOf(networksWith(only.key)), level.Network)
		}
	}
	if level.Gateway != (Passage{}) && !level.ByGroup() {
		wrong("gateway", "there are gateways with join: group only")
	}
	if network.Missing != nil {
		if missing := network.Missing(level); missing != "" {
			l.disagree([]string{here}, "a %s needs %s", level.Network, missing)
		}
	}
}
