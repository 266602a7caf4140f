package machine

import (
	"fmt"

	"kernbench/conf"
)

// levels is the network between SIPs, composed of levels, innermost first. Members of level 0 are
// SIPs, and those of each other level are groups of the level below. A SIP's number counts fastest
// in level 0.
//
// A level joins its members in one of two ways. Each SIP may have a link of its own into it. Then
// there is a plane for every SIP of a group below, which joins the SIPs with that place in their
// groups. So a torus is a ring of rings, and rails join GPU i of all hosts. Or each group below has
// one exit, a gateway, which is a site of the level below and a member of this one.
//
// A message goes first to the place in its own group that its destination has in its own, and then
// along the plane. If a level between has gateways, it goes up through gateways to the level that
// its two ends share, across, and down to that place. Planes come after that too. So a route takes
// links of each kind once: up from below, across, down from above, planes from below. No circle can
// close over kinds, and none within one, since each network by itself has none. Build checks both.
type levels struct {
	sips    int
	at      []level
	uniform bool // all levels are: see kind.uniform
}

// level is one level. Its networks are all alike; their sites are numbered as in network, with a
// gateway for exit.
type level struct {
	net     network
	look    Look
	name    string // of its switches and gateways; "" in the short form
	n       int    // members of a network
	below   int    // SIPs in a member, which is a group of the levels below
	span    int    // SIPs in a group of this level: below · n
	group   bool   // a member has one exit
	gateway bool   // so have groups of this level
	planes  int    // networks side by side that join the same members
	copies  int    // networks in all
	count   int    // edges of a network
	number  int    // of the level
	ends    []edge // of a network
	specs   *levelSpecs

	firstEdge, firstGateway, firstHub int
}

// newLevels plans the networks of t; small ones, of the same kinds, where the routing is to be
// checked.
func newLevels(t *conf.Topology, small bool) (*levels, error) {
	between := t.System().Between()
	l := &levels{sips: 1, uniform: true}
	for i := range between {
		c := &between[i]
		k, err := findKind(c.Network, ofSIPs)
		if err != nil {
			return nil, t.Errorf(t.LevelKey(i, "network"), "%v", err)
		}
		p := plan{n: c.Members(), dims: c.Dims, gateway: i+1 < len(between) && between[i+1].ByGroup()}
		if k.limit > 0 && p.n > k.limit {
			return nil, t.Errorf(t.LevelKey(i, "network"), "%q joins at most %d; there are %d", c.Network, k.limit, p.n)
		}
		if k.fit != nil {
			if key, err := k.fit(&p, c); err != nil {
				return nil, t.Errorf(t.LevelKey(i, key), "%v", err)
			}
		}
		switch {
		case !small:
		case k.small != nil:
			p = k.small(p)
		default:
			p.n = min(p.n, otherWindow)
		}
		at := level{net: k.join(p), look: k.look, name: c.Name, n: p.n, group: c.ByGroup(), gateway: p.gateway}
		if at.name == "" && len(t.System().Levels) > 0 {
			at.name = fmt.Sprintf("level%d", i)
		}
		l.add(at)
		l.uniform = l.uniform && k.uniform
	}
	if level := l.number(); level >= 0 {
		return nil, t.Errorf(t.LevelKey(level, "count"), "with this level the machine has more than %d links or switches", maxLinks)
	}
	return l, nil
}

// newPair is two SIPs and what joins them: links from each to the other.
func newPair() *levels {
	l := &levels{sips: 1}
	l.add(level{net: newFull(size{n: 2}), n: 2})
	l.number()
	return l
}

// add appends a level to those below it.
func (l *levels) add(at level) {
	at.below, at.span, at.planes = l.sips, l.sips*at.n, 1
	if !at.group {
		at.planes = at.below
	}
	at.ends, at.number = at.net.edges(), len(l.at)
	at.count = len(at.ends)
	l.at = append(l.at, at)
	l.sips = at.span
}

// number numbers the edges and sites of all levels. It returns the first level with which they are
// too many, or -1.
func (l *levels) number() int {
	edges, sites := 0, l.sips
	for i := range l.at {
		at := &l.at[i]
		groups := l.sips / at.span
		at.copies = groups * at.planes
		at.firstEdge = edges
		edges += at.copies * at.count
		if at.gateway {
			at.firstGateway = sites
			sites += groups
		}
		at.firstHub = sites
		sites += at.copies * at.net.hubs()
		if edges > maxLinks || sites > maxLinks {
			return i
		}
	}
	return -1
}

// edges returns the number of edges of all levels; those of a level come network by network.
func (l *levels) edges() int {
	last := &l.at[len(l.at)-1]
	return last.firstEdge + last.copies*last.count
}

// edge returns the level of an edge, and its number among those of that.
func (l *levels) edge(i int) (*level, int) {
	k := len(l.at) - 1
	for i < l.at[k].firstEdge {
		k--
	}
	return &l.at[k], i - l.at[k].firstEdge
}

// site returns the number through all levels of a site of a level's network.
func (l *levels) site(level, copy, local int) int {
	at := &l.at[level]
	group, plane := copy/at.planes, copy%at.planes
	switch {
	case local < at.n && at.group:
		return l.at[level-1].firstGateway + group*at.n + local
	case local < at.n:
		return group*at.span + local*at.below + plane
	case at.gateway && local == at.n:
		return at.firstGateway + group
	case at.gateway:
		local--
	}
	return at.firstHub + copy*at.net.hubs() + local - at.n
}

// A stand is a site in one of the networks to which it belongs.
type stand struct{ level, copy, local int }

// stand finds the network of a gateway, that of the groups whose exit it is, or of a hub.
func (l *levels) stand(site int) stand {
	level := len(l.at) - 1
	for ; level > 0; level-- {
		at := &l.at[level]
		if site >= at.firstHub || at.gateway && site >= at.firstGateway {
			break
		}
	}
	at := &l.at[level]
	if site < at.firstHub {
		return stand{level, (site - at.firstGateway) * at.planes, at.n}
	}
	hubs := at.net.hubs()
	local := at.n + (site-at.firstHub)%hubs
	if at.gateway {
		local++
	}
	return stand{level, (site - at.firstHub) / hubs, local}
}

// member returns the place of a SIP's group among the members of a level.
func (at *level) member(sip int) int { return sip / at.below % at.n }

// parting returns the levels at which two SIPs are in different members, a bit each. In uniform
// levels it decides which kinds of links the route between them takes.
func (l *levels) parting(from, to int) (levels uint32) {
	for i := range l.at {
		if at := &l.at[i]; at.member(from) != at.member(to) {
			levels |= 1 << i
		}
	}
	return levels
}

// network returns the number of the network of a level that a SIP has a link to, or its group a
// gateway.
func (at *level) network(sip int) int { return sip/at.span*at.planes + sip%at.planes }

// crossing returns the level at which a message goes from gateway to gateway; -1 is none.
func (l *levels) crossing(from, to int) int {
	for i := len(l.at) - 1; i > 0; i-- {
		if at := &l.at[i]; at.group && at.member(from) != at.member(to) {
			return i
		}
	}
	return -1
}

// route appends the hops from one SIP to another; the number of the first edge is first.
func (l *levels) route(hops []Hop, first, from, to int) []Hop {
	for at := from; at != to; {
		s, end := l.stretch(from, at, to)
		v := &l.at[s.level]
		edge := first + v.firstEdge + s.copy*v.count
		for local := s.local; local != end; {
			taken := v.net.next(s.local, local, end)
			hops = append(hops, Hop{LinkID(edge + int(taken.edge)), taken.channel})
			local = int(taken.site)
		}
		at = l.site(s.level, s.copy, end)
	}
	return hops
}

// stretch returns a part of the route between two SIPs. It has the network, the SIP or gateway
// where it begins, and the site of that network at which it ends.
func (l *levels) stretch(from, at, to int) (s stand, end int) {
	cross := l.crossing(from, to)
	switch {
	case at >= l.sips:
		s = l.stand(at)
		v := &l.at[s.level]
		group := s.copy / v.planes
		if landing := l.landing(from, to, cross); group == landing/v.span { // down
			return stand{s.level, v.network(landing), v.n}, v.member(to)
		}
		v = &l.at[s.level+1] // where it is a member
		s = stand{s.level + 1, group / v.n, group % v.n}
		if s.level < cross {
			return s, v.n
		}
		return s, v.member(to)
	case cross >= 0 && l.at[cross].member(at) != l.at[cross].member(to):
		level := cross - 1
		for l.at[level].group {
			level--
		}
		v := &l.at[level]
		return stand{level, v.network(at), v.member(at)}, v.n
	}
	level := 0
	for l.at[level].group || l.at[level].member(at) == l.at[level].member(to) {
		level++
	}
	v := &l.at[level]
	return stand{level, v.network(at), v.member(at)}, v.member(to)
}

// landing returns the SIP at which a message arrives that has crossed a level of gateways. It has
// the destination's place in all levels up to that one.
func (l *levels) landing(from, to, cross int) int {
	span := l.at[cross].span
	return from/span*span + to%span
}

// nodeName returns the name of a gateway or hub. It has its level, the number of its network or
// group if there are several, and its kind: "rail3.leaf0", "rack.gateway2". The short form has no
// names, and one network.
func (l *levels) nodeName(site int) string {
	s := l.stand(site)
	at := &l.at[s.level]
	if at.gateway && s.local == at.n {
		return fmt.Sprintf("%s.gateway%d", l.at[s.level+1].name, s.copy/at.planes)
	}
	hub := at.net.hubName((site - at.firstHub) % at.net.hubs())
	switch {
	case at.name == "":
		return hub
	case at.copies == 1:
		return at.name + "." + hub
	case isDigit(at.name[len(at.name)-1]):
		return fmt.Sprintf("%s.%d.%s", at.name, s.copy, hub)
	}
	return fmt.Sprintf("%s%d.%s", at.name, s.copy, hub)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// groupOf returns the group of a level that a site is in; -1 where it is in none.
func (l *levels) groupOf(level, site int) int {
	if site < l.sips {
		return site / l.at[level].span
	}
	s := l.stand(site)
	if s.level > level {
		return -1
	}
	at := &l.at[s.level]
	return s.copy / at.planes * at.span / l.at[level].span
}
