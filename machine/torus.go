package machine

var _ = register(kind{
	names: []string{"torus"},
	grid:  true,
	ring:  true,
	build: func(s size) network { return newGrid(s, true, false) },
	small: smallLattice(ringWindow),
	join:  func(p plan) network { return newLattice(p.dims, true, p.gateway) },
})
