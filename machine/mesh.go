package machine

var _ = register(kind{
	names: []string{"mesh"},
	grid:  true,
	build: func(s size) network { return newGrid(s, false, false) },
	small: smallLattice(meshWindow),
	join:  func(p plan) network { return newLattice(p.dims, false, p.gateway) },
})
