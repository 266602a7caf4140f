package machine

var _ = register(kind{
	names: []string{"mesh", "mesh_2d_no_wrap"},
	grid:  true,
	build: func(s size) network { return newGrid(s, false, false) },
})
