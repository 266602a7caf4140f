package bound

import (
	"cmp"
	"slices"

	"kernbench/machine"
	"kernbench/unit"
)

// digit is a partition of the PEs: by their number over stride, modulo n.
type digit struct{ stride, n int }

// digits returns the dimensions of nested parts, of which sizes are the numbers of PEs.
func digits(sizes []int) []digit {
	all := []digit{{1, 1}} // in the order of their numbers
	stride := 1
	for _, size := range sizes {
		if n := size / stride; n > 1 {
			all = append(all, digit{stride, n})
		}
		stride = size
	}
	return all
}

// mostFlowLinks is the number of links up to which smallest cuts between halves are looked for.
const mostFlowLinks = 400_000

// Bisect returns the bisection of all PEs of a machine. It looks between halves that lie together
// along one dimension of the machine. It returns nil if there is one PE, or if there are too many
// links.
func Bisect(m *machine.Machine) (*machine.Bisection, error) {
	if m.NumLinks() > mostFlowLinks {
		return nil, nil
	}
	pes := make([]int32, m.NumPEs())
	for i := range pes {
		pes[i] = int32(i)
	}
	s, err := New(m, pes)
	if err != nil {
		return nil, err
	}
	return s.bisection(), nil
}

func (s *Solver) bisection() *machine.Bisection {
	world := len(s.g.rank)
	if world < 2 {
		return nil
	}
	var best cut
	found := false
	for _, d := range s.digits {
		ranks := make([]int, world)
		for r := range ranks {
			ranks[r] = r
		}
		slices.SortStableFunc(ranks, func(a, b int) int {
			return cmp.Compare(int(s.pes[a])/d.stride%d.n, int(s.pes[b])/d.stride%d.n)
		})
		for _, half := range [][2][]int{{ranks[:world/2], ranks[world/2:]}, {ranks[world/2:], ranks[:world/2]}} {
			if c := s.between(half[0], half[1]); !found || c.capacity < best.capacity {
				best, found = c, true
			}
		}
	}
	b := &machine.Bisection{Rate: unit.Rate(best.capacity), Links: []string{}, Ranks: world / 2}
	for i := range s.g.edges {
		if e := &s.g.edges[i]; best.inside(e.from) && !best.inside(e.to) {
			b.Links = append(b.Links, s.g.edgeStr(int32(i)))
		}
	}
	return b
}

// between returns the smallest cut with some ranks inside and some others not.
func (s *Solver) between(inside, outside []int) cut {
	n := s.network()
	n.clear(s.rateUnit, 1)
	for _, r := range inside {
		n.arcs[n.in[r]].left = unlimited
	}
	for _, r := range outside {
		n.arcs[n.out[r]].left = unlimited
	}
	n.run()
	return s.g.measure(n.inside())
}

// withRows puts rows of cubes among the sizes of nested parts.
func withRows(sizes []int, cube, cubes int) []int {
	all := append(slices.Clone(sizes), cube*cubes)
	slices.Sort(all)
	return slices.Compact(all)
}
