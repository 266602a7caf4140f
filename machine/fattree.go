package machine

import (
	"fmt"

	"kernbench/conf"
)

// fatTree is switches in tiers. A switch of a tier covers the members below it; all that cover the
// same ones are a group. Each switch of the lowest tier, a leaf, has links to some members and one
// to each of its spines. A group of the next tier has the spines of several leaves, each with one
// link to each of those, and so on. A message goes up until a switch covers its destination. Any of
// the links up is as good as another. It goes down the only route that leads there. Nothing goes up
// after it went down, so no circle can close. A gateway is one more member.
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
	site   int // of its first switch
	edge   int // first of its links up; those down alternate with them
}

// treeShape is the number of groups of a tier below each of the next, the members below a leaf
// first. It also has the number of links up of a switch.
type treeShape struct{ down, up []int }

// shapeOf finds the fewest tiers of switches that join n members. One switch that has a port for
// each is enough. Otherwise the oversubscription divides the ports of a leaf. Those of switches
// between leaves and top are divided evenly, and all ports of the top lead down.
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

// hubName is "leaf2", "spine0", "core5" and, for more tiers, "tier4.0"; an only switch is "switch".
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
	// The switch below with this one's number among its links up.
	below := &f.tiers[i-1]
	x := k % t.width
	return f.take(below.edge + 2*((to/below.span*below.width+x/below.up)*below.up+x%below.up) + 1)
}

// A picker chooses one of n equal links up out of a tier, in which groups are width switches wide.
type picker func(from, to, tier, width, n int) int

// byDestination spreads destinations that follow one another over the links, so that those of a
// shift stay apart.
func byDestination(_, to, _, width, n int) int { return to / width % n }

// byHash returns what a switch that looks at both ends of a flow does: some flows meet on a link
// while others stay empty.
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
		const tiers = 3 // further ones do what these do
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
