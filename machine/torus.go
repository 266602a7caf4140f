package machine

import "kernbench/conf"

var _ = register(kind{
	Network: conf.Network{Name: "torus", Short: "torus_2d", Dims: true},
	look:    Look{Layout: Grid, Wraps: true},
	cubes:   Look{Layout: Grid, Wraps: true},
	grid:    true,
	ring:    true,
	build:   func(s size) network { return newGrid(s, true, false) },
	small:   smallLattice(ringWindow),
	join:    func(p plan) network { return newLattice(p.dims, true, p.gateway) },
})
