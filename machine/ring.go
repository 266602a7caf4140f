package machine

import "kernbench/conf"

// A ring is a torus of one row. Its cubes surround the exit of the SIP, each with its own link to
// it.
var _ = register(kind{
	Network: conf.Network{Name: "ring", Short: "ring_1d"},
	look:    Look{Layout: Line},
	cubes:   Look{Layout: Grid, Wraps: true},
	ring:    true,
	build: func(s size) network {
		s.w, s.h = s.n, 1
		return newGrid(s, true, true)
	},
	fit: func(p *plan, _ *conf.Level) (string, error) {
		p.dims = []int{p.n}
		return "", nil
	},
	small: smallLattice(ringWindow),
	join:  func(p plan) network { return newLattice(p.dims, true, p.gateway) },
})
