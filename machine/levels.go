package machine

import (
	"fmt"

	"kernbench/conf"
)

// levels is the network between SIPs, composed of levels, innermost first. Members of level 0 are
// SIPs. Members of each other level are groups of the level below. Neighbouring SIP numbers are
// members of one group of level 0.
//
// A level joins its members in one of two ways:
//   - By planes: each SIP has a link of its own into the level. Plane i joins SIP i of every group
//     of the level below. So a torus is a ring of rings, and rail i joins GPU i of all hosts.
//   - By gateways: each group of the level below has one exit, its gateway. The gateway is a site
//     of the level below and a member of this level.
//
// On planes a message first moves within its own group, to the SIP with the index that its
// destination has in the other group. Then it moves along the plane of this index. If some level
// has gateways, the message first goes up through gateways to the level that joins both groups,
// across it, and down. Planes follow.
//
// So a route uses its links in a fixed order: up, across, down, then planes from the lowest level
// to the highest. Waits form no cycle over these parts, and none within one network. Build checks
// both.
type levels struct {
	sips    int
	at      []level
	uniform bool // all levels are uniform: see kind.uniform
}

// level is one level. All its networks are equal. Their sites are numbered as in network, where the
// exit is the gateway.
type level struct {
	net     network
	look    Look
	name    string // prefix of its switches and gateways; "" for system.sips, which has no levels
	n       int    // members of a network
	below   int    // SIPs in a member, which is a group of the levels below
	span    int    // SIPs in a group of this level: below · n
	group   bool   // each member has one exit, its gateway
	gateway bool   // each group of this level has one exit, its gateway
	planes  int    // parallel networks that join the same members
	copies  int    // all networks of this level
	count   int    // number of edges of one network
	number  int    // number of this level; 0 is the innermost
	ends    []edge // edges of one network
	specs   *levelSpecs

	firstEdge, firstGateway, firstHub int
}

// newLevels plans the networks of t. With small, it plans small networks of the same kinds: they
// are enough to check the routing.
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
			return nil, t.Errorf(t.LevelKey(i, "network"), "%q joins at most %d members; there are %d", c.Network, k.limit, p.n)
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

// newPair returns a level of two SIPs with a link in each direction.
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

// number numbers the edges and sites of all levels. It returns the first level with which their
// number is above maxLinks, or -1.
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

// edges returns the number of edges of all levels. A level numbers its edges network by network.
func (l *levels) edges() int {
	last := &l.at[len(l.at)-1]
	return last.firstEdge + last.copies*last.count
}

// edge returns the level of edge i, and the number of the edge within this level.
func (l *levels) edge(i int) (*level, int) {
	k := len(l.at) - 1
	for i < l.at[k].firstEdge {
		k--
	}
	return &l.at[k], i - l.at[k].firstEdge
}

// site converts a site of one network to its number in all levels.
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

// localSite is a site, numbered within one network of a level. A gateway has two: it belongs to the
// network below it as the exit, and to the network above it as a member.
type localSite struct{ level, copy, local int }

// localSite returns the network of a hub or of a gateway, and the site in it. For a gateway it is
// the network below, whose exit the gateway is.
func (l *levels) localSite(site int) localSite {
	level := len(l.at) - 1
	for ; level > 0; level-- {
		at := &l.at[level]
		if site >= at.firstHub || at.gateway && site >= at.firstGateway {
			break
		}
	}
	at := &l.at[level]
	if site < at.firstHub {
		return localSite{level, (site - at.firstGateway) * at.planes, at.n}
	}
	hubs := at.net.hubs()
	local := at.n + (site-at.firstHub)%hubs
	if at.gateway {
		local++
	}
	return localSite{level, (site - at.firstHub) / hubs, local}
}

// member returns which member of its network a SIP belongs to.
func (at *level) member(sip int) int { return sip / at.below % at.n }

// differing returns a bit set of the levels at which two SIPs are in different members. In uniform
// levels it decides which kinds of links the route between them takes.
func (l *levels) differing(from, to int) (levels uint32) {
	for i := range l.at {
		if at := &l.at[i]; at.member(from) != at.member(to) {
			levels |= 1 << i
		}
	}
	return levels
}

// network returns the number of the network of a level to which a SIP or its gateway has a link.
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

// route appends the hops from one SIP to another. The links of these edges are numbered from first.
func (l *levels) route(hops []Hop, first, from, to int) []Hop {
	for at := from; at != to; {
		s, end := l.segment(from, at, to)
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

// segment returns the part of a route that lies in one network. The part begins at the SIP or
// gateway at, which s names as a site of this network, and ends at site end.
func (l *levels) segment(from, at, to int) (s localSite, end int) {
	cross := l.crossing(from, to)
	switch {
	case at >= l.sips:
		s = l.localSite(at)
		v := &l.at[s.level]
		group := s.copy / v.planes
		if landing := l.landing(from, to, cross); group == landing/v.span { // down
			return localSite{s.level, v.network(landing), v.n}, v.member(to)
		}
		v = &l.at[s.level+1] // where it is a member
		s = localSite{s.level + 1, group / v.n, group % v.n}
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
		return localSite{level, v.network(at), v.member(at)}, v.n
	}
	level := 0
	for l.at[level].group || l.at[level].member(at) == l.at[level].member(to) {
		level++
	}
	v := &l.at[level]
	return localSite{level, v.network(at), v.member(at)}, v.member(to)
}

// landing returns the SIP at which a message leaves the gateways, after it has crossed level cross.
// It has the index of the destination in all levels up to this one.
func (l *levels) landing(from, to, cross int) int {
	span := l.at[cross].span
	return from/span*span + to%span
}

// nodeName returns the name of a gateway or hub, such as "rail3.leaf0" or "rack.gateway2". It
// consists of the level, the number of the network or group if there are several, and the kind. If
// the level has no name, it has one network, and the name is the kind alone.
func (l *levels) nodeName(site int) string {
	s := l.localSite(site)
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

// groupOf returns the group of a level that contains a site, or -1 if none does.
func (l *levels) groupOf(level, site int) int {
	if site < l.sips {
		return site / l.at[level].span
	}
	s := l.localSite(site)
	if s.level > level {
		return -1
	}
	at := &l.at[s.level]
	return s.copy / at.planes * at.span / l.at[level].span
}
