package machine

// A ring is a torus of one row. Its cubes lie around the SIP's way out, each with its own link to it.
var _ = register(kind{
	names: []string{"ring", "ring_1d"},
	ring:  true,
	build: func(s size) network {
		s.w, s.h = s.n, 1
		return newGrid(s, true, true)
	},
})
