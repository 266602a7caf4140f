package bound

import "testing"

// Bisections of the textbook, in links.
func TestBisection(t *testing.T) {
	for _, tt := range []struct {
		name  string
		g     *graph
		sizes []int
		want  int64
	}{
		{"one rank", star(1), nil, 0},
		{"star of 8", star(8), []int{8}, 4},
		{"full mesh of 8", fullMesh(8), []int{8}, 16},
		{"ring of 9", lattice(true, 9), []int{9}, 2},
		{"mesh 8 × 4, the short side", lattice(false, 8, 4), []int{8, 32}, 4},
		{"mesh 4 × 8", lattice(false, 4, 8), []int{4, 32}, 4},
		{"torus 8 × 4", lattice(true, 8, 4), []int{8, 32}, 8},
		{"torus 4 × 4 × 6", lattice(true, 4, 4, 6), []int{4, 16, 96}, 32},
		{"leaf and spine 2:1", leafSpine(4, 8, 2), []int{8, 32}, 8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSolver(tt.g, 1, 1)
			s.digits = digits(tt.sizes)
			for r := range tt.g.rank {
				s.pes = append(s.pes, int32(r))
			}
			b := s.bisection()
			if b == nil {
				if tt.want > 0 {
					t.Error("there is none")
				}
				return
			}
			if int64(b.Rate) != tt.want*gb {
				t.Errorf("%v, want %d links", b.Rate, tt.want)
			}
			if tt.name != "leaf and spine 2:1" && int64(len(b.Links)) != tt.want {
				t.Errorf("%v", b.Links)
			}
		})
	}
}
