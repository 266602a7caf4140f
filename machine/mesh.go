package machine

import "kernbench/conf"

var _ = register(kind{
	Network: conf.Network{Name: "mesh", Short: "mesh_2d_no_wrap", Dims: true},
	look:    Look{Layout: Grid},
	cubes:   Look{Layout: Grid},
	grid:    true,
	build:   func(s size) network { return newGrid(s, false, false) },
	small:   smallLattice(meshWindow),
	join:    func(p plan) network { return newLattice(p.dims, false, p.gateway) },
})
