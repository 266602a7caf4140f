package machine

var _ = register(kind{
	names: []string{"torus", "torus_2d"},
	grid:  true,
	ring:  true,
	build: func(s size) network { return newGrid(s, true, false) },
})
