package machine

import "kernbench/conf"

// crossbar joins every site to one switch, and each to the exit by a link of its own.
type crossbar struct {
	size
	list     []edge
	up, down []int32
}

func newCrossbar(s size) network {
	c := &crossbar{size: s}
	hub := int32(s.n)
	if s.exit {
		hub++
	}
	if s.n > 1 {
		for site := range int32(s.n) {
			c.list = append(c.list,
				edge{from: site, to: hub, out: east, in: west},
				edge{from: hub, to: site, out: east, in: east})
		}
	}
	if s.exit {
		c.up, c.down = exitEdges(&c.list, s.n, s.n)
	}
	return c
}

func (c *crossbar) edges() []edge      { return c.list }
func (c *crossbar) channels() uint8    { return 1 }
func (c *crossbar) hubName(int) string { return "switch" }

func (c *crossbar) hubs() int {
	if c.n > 1 {
		return 1
	}
	return 0
}

func (c *crossbar) next(_, at, to int) step {
	var e int32
	switch {
	case at < c.n && to < c.n:
		e = int32(2 * at)
	case to == c.n && c.exit:
		e = c.up[at]
	case at == c.n && c.exit:
		e = c.down[to]
	default:
		e = int32(2*to + 1)
	}
	return step{edge: e, site: c.list[e].to}
}

var _ = register(kind{
	Network: conf.Network{Name: "switch", Short: "switch", Keys: []string{"switch"}},
	look:    Look{Title: "%s on a switch"},
	cubes:   Look{Title: "%s on a switch"},
	uniform: true,
	build:   newCrossbar,
	join:    func(p plan) network { return newCrossbar(size{n: p.sites()}) },
})
