package machine

import (
	"fmt"

	"kernbench/conf"
)

// dragonfly is a network of groups of routers. Routers of a group are fully connected. Each pair of
// groups has one or more links, which are distributed over the routers of a group in turn. A
// message takes the shortest route: to the router with the link, over it, to the router of its
// destination. It is on channel 0 before it changes groups and on channel 1 afterwards, so that no
// cycle can close. A gateway is one more member of the last router.
type dragonfly struct {
	n int // members, the gateway among them
	flyShape
	list          []edge
	local, global int // first of these links; those of members come before
	pick          picker
}

// flyShape is the size of a dragonfly.
type flyShape struct {
	groups, routers int // routers of a group
	perRouter       int // members
	links           int // between two groups
}

func newDragonfly(n int, s flyShape, pick picker) *dragonfly {
	d := &dragonfly{n: n, flyShape: s, pick: pick}
	for m := range n {
		router := int32(n + d.routerOf(m))
		d.list = append(d.list, edge{from: int32(m), to: router}, edge{from: router, to: int32(m)})
	}
	d.local = len(d.list)
	for r := range s.groups * s.routers {
		for i := range s.routers {
			if i != r%s.routers {
				d.list = append(d.list, edge{from: int32(n + r), to: int32(n + r/s.routers*s.routers + i)})
			}
		}
	}
	d.global = len(d.list)
	for g := range s.groups {
		for away := range s.groups - 1 {
			for k := range s.links {
				to := (g + away + 1) % s.groups
				d.list = append(d.list, edge{
					from: int32(n + g*s.routers + d.exit(away, k)),
					to:   int32(n + to*s.routers + d.exit(s.groups-2-away, k)), // as seen from there
				})
			}
		}
	}
	return d
}

// exit returns the router of a group with the k-th link to the group that is away + 1 further on.
func (d *dragonfly) exit(away, k int) int { return (away*d.links + k) % d.routers }

// routerOf returns the router of a member, counted through all groups.
func (d *dragonfly) routerOf(member int) int {
	return min(member/d.perRouter, d.groups*d.routers-1)
}

func (d *dragonfly) edges() []edge          { return d.list }
func (d *dragonfly) hubs() int              { return d.groups * d.routers }
func (d *dragonfly) channels() uint8        { return 2 }
func (d *dragonfly) hubName(hub int) string { return fmt.Sprintf("router%d", hub) }

func (d *dragonfly) next(from, at, to int) step {
	if at < d.n {
		return d.take(2*at, 0)
	}
	r, last := at-d.n, d.routerOf(to)
	group, lastGroup := r/d.routers, last/d.routers
	switch {
	case r == last:
		return d.take(2*to+1, 0)
	case group == lastGroup:
		channel := uint8(1)
		if d.routerOf(from)/d.routers == group {
			channel = 0
		}
		return d.take(d.within(r, last%d.routers), channel)
	}
	away := (lastGroup - group - 1 + d.groups) % d.groups
	k := d.pick(from, to, 0, 1, d.links)
	if exit := d.exit(away, k); exit != r%d.routers {
		return d.take(d.within(r, exit), 0)
	}
	return d.take(d.global+(group*(d.groups-1)+away)*d.links+k, 0)
}

// within returns the link from a router to the i-th of its group.
func (d *dragonfly) within(r, i int) int {
	e := d.local + r*(d.routers-1) + i
	if i > r%d.routers {
		e--
	}
	return e
}

func (d *dragonfly) take(e int, channel uint8) step {
	return step{edge: int32(e), site: d.list[e].to, channel: channel}
}

var _ = register(kind{
	Network: conf.Network{
		Name: "dragonfly", Keys: []string{"dragonfly", "switch", "paths"},
		Missing: func(l *conf.Level) string {
			if l.Dragonfly.Routers == 0 || l.Dragonfly.PerRouter == 0 {
				return "dragonfly.routers, the routers in a group, and dragonfly.per_router, the members at each"
			}
			return ""
		},
	},
	fit: func(p *plan, l *conf.Level) (key string, err error) {
		f := &l.Dragonfly
		p.pick = pickerOf(l)
		p.fly = flyShape{routers: f.Routers, perRouter: f.PerRouter, links: max(f.Global, 1)}
		inGroup := f.Routers * f.PerRouter
		if inGroup < 1 || p.n%inGroup != 0 {
			return "count", fmt.Errorf("%d members do not divide into groups of %d routers with %d members each", p.n, f.Routers, f.PerRouter)
		}
		p.fly.groups = p.n / inGroup
		if g, r := p.fly.groups, p.fly.routers; g*r*(r-1)+g*(g-1)*p.fly.links > maxLinks {
			return "dragonfly", fmt.Errorf("%d groups of %d routers have more than %d links", g, r, maxLinks)
		}
		return "", nil
	},
	small: func(p plan) plan {
		f := &p.fly
		*f = flyShape{min(f.groups, 3), min(f.routers, 3), min(f.perRouter, 2), min(f.links, 2)}
		p.n = f.groups * f.routers * f.perRouter
		return p
	},
	join: func(p plan) network { return newDragonfly(p.sites(), p.fly, p.pick) },
})
