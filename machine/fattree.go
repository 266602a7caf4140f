package machine

import (
	"fmt"

	"kernbench/conf"
)

// fatTree is a network of switches in tiers. A switch covers the members below it. All switches of
// a tier that cover the same members are a group. The switches of the lowest tier are leaves. A
// leaf has a link to each of its members, and one to each switch of the group above it, its spines.
// A spine of a tree with more tiers has links to several switches of the group above it. Two spines
// of one group have no such switch in common. Higher tiers are alike.
//
// A message goes up until a switch covers its destination; all links up lead to such a switch. From
// there only one route goes down to the destination. No message goes up after it went down, so
// routes form no cycle. A gateway is one more member.
type fatTree struct {
	n     int // members, the gateway among them
	tiers []tier
	list  []edge
	pick  picker
}

// tier is one tier of switches.
type tier struct {
	span   int // members below a group
	groups int
	width  int // switches in a group
	up     int // links up of each switch; 0 at the top
	site   int // number of its first switch among the sites
	edge   int // its first link up, in fatTree.list; the link down between the same two switches follows each
}

// treeShape has two numbers for each tier, from the leaves up. down is the number of groups of the
// tier below that a group joins; for leaves, the number of members. up is the number of links up of
// a switch; the top tier has none.
type treeShape struct{ down, up []int }

// shapeOf finds the fewest tiers of switches that join n members. If one switch has enough ports,
// it is the only one. Otherwise the oversubscription divides the ports of a leaf between members
// and spines. A switch between leaves and top has half of its ports up and half down. All ports of
// the top lead down.
func shapeOf(n int, f *conf.FatTree) (treeShape, error) {
	if n <= f.Radix {
		return treeShape{down: []int{n}}, nil
	}
	over := max(f.Oversubscribe, 1)
	half := f.Radix / 2
	leaf := min(int(float64(f.Radix)*over/(1+over)+1e-9), f.Radix-1)
	if half < 2 || leaf < 1 {
		return treeShape{}, fmt.Errorf("a tree of switches with %d ports cannot join %d members; at least 4 ports are needed", f.Radix, n)
	}
	s := treeShape{down: []int{leaf}, up: []int{f.Radix - leaf}}
	groups := ceilDiv(n, leaf)
	for groups > f.Radix {
		s.down, s.up = append(s.down, half), append(s.up, half)
		groups = ceilDiv(groups, half)
	}
	s.down = append(s.down, groups)
	return s, nil
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

func newFatTree(n int, s treeShape, pick picker) *fatTree {
	f := &fatTree{n: n, pick: pick}
	span, groups, width, site, edges := 1, n, 1, n, 2*n
	for i, down := range s.down {
		span *= down
		groups = ceilDiv(groups, down)
		t := tier{span: span, groups: groups, width: width, site: site, edge: edges}
		site += groups * width
		if i < len(s.up) {
			t.up = s.up[i]
			edges += 2 * groups * width * t.up
			width *= t.up
		}
		f.tiers = append(f.tiers, t)
	}
	f.list = make([]edge, 0, edges)
	link := func(a, b int) {
		f.list = append(f.list, edge{from: int32(a), to: int32(b)}, edge{from: int32(b), to: int32(a)})
	}
	for m := range n {
		link(m, f.tiers[0].site+m/f.tiers[0].span)
	}
	for i := range f.tiers[:len(f.tiers)-1] {
		t, above := &f.tiers[i], &f.tiers[i+1]
		for k := range t.groups * t.width {
			group, x := k/t.width, k%t.width
			for y := range t.up {
				link(t.site+k, above.site+group/s.down[i+1]*above.width+x*t.up+y)
			}
		}
	}
	return f
}

func (f *fatTree) edges() []edge   { return f.list }
func (f *fatTree) channels() uint8 { return 1 }

func (f *fatTree) hubs() int {
	top := &f.tiers[len(f.tiers)-1]
	return top.site + top.groups*top.width - f.n
}

// hubName returns a name such as "leaf2", "spine0" or "core5", and "tier4.0" for higher tiers. The
// switch of a tree with one switch is "switch".
func (f *fatTree) hubName(hub int) string {
	i := f.tierOf(f.n + hub)
	k := f.n + hub - f.tiers[i].site
	switch names := [...]string{"leaf", "spine", "core"}; {
	case len(f.tiers) == 1:
		return "switch"
	case i < len(names):
		return fmt.Sprintf("%s%d", names[i], k)
	}
	return fmt.Sprintf("tier%d.%d", i+1, k)
}

// tierOf returns the tier of a switch.
func (f *fatTree) tierOf(site int) int {
	i := len(f.tiers) - 1
	for f.tiers[i].site > site {
		i--
	}
	return i
}

// take returns the step over a link.
func (f *fatTree) take(e int) step { return step{edge: int32(e), site: f.list[e].to} }

func (f *fatTree) next(from, at, to int) step {
	if at < f.n {
		return f.take(2 * at)
	}
	i := f.tierOf(at)
	t := &f.tiers[i]
	k := at - t.site
	switch {
	case k/t.width != to/t.span:
		return f.take(t.edge + 2*(k*t.up+f.pick(from, to, i, t.width, t.up)))
	case i == 0:
		return f.take(2*to + 1)
	}
	// Of the group below that covers the destination, one switch has a link to this one. A link has
	// the number of the switch below it and its place among the links up of that switch.
	below := &f.tiers[i-1]
	x := k % t.width
	return f.take(below.edge + 2*((to/below.span*below.width+x/below.up)*below.up+x%below.up) + 1)
}

// picker chooses one of the n links up of a switch, all of which lead to the destination. width is
// the number of switches in a group of the tier.
type picker func(from, to, tier, width, n int) int

// byDestination spreads consecutive destinations over the links. So the messages of a shift, in
// which rank i sends to rank i+k, share few links.
func byDestination(_, to, _, width, n int) int { return to / width % n }

// byHash chooses by a hash of both ends, as a switch with ECMP does. So some links carry several
// flows while others are empty.
func byHash(from, to, tier, _, n int) int {
	h := uint64(from)<<32 ^ uint64(to)<<8 ^ uint64(tier)
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return int((h ^ h>>31) % uint64(n))
}

func pickerOf(l *conf.Level) picker {
	if l.Paths == "hash" {
		return byHash
	}
	return byDestination
}

var _ = register(kind{
	Network: conf.Network{
		Name: "fat_tree", Keys: []string{"fat_tree", "switch", "paths"},
		Missing: func(l *conf.Level) string {
			if l.FatTree.Radix == 0 {
				return "fat_tree.radix, the ports of a switch"
			}
			return ""
		},
	},
	look: Look{Layout: Tiers},
	fit: func(p *plan, l *conf.Level) (key string, err error) {
		p.pick = pickerOf(l)
		p.tree, err = shapeOf(p.sites(), &l.FatTree)
		return "fat_tree.radix", err
	},
	small: func(p plan) plan {
		const tiers = 3 // higher tiers behave like the third
		s := treeShape{}
		p.n = 1
		for i := range min(len(p.tree.down), tiers) {
			s.down = append(s.down, 2)
			p.n *= 2
			if i < min(len(p.tree.up), tiers-1) {
				s.up = append(s.up, min(p.tree.up[i], 2))
			}
		}
		if p.gateway {
			p.n--
		}
		p.tree = s
		return p
	},
	join: func(p plan) network { return newFatTree(p.sites(), p.tree, p.pick) },
})
