package mem

import (
	"errors"
	"fmt"
	"slices"
)

// Group is some members of a team, in ascending order.
type Group struct {
	Team  *Team
	Ranks []int32 // in the team
	PEs   []int32 // of these members
}

// NewGroup makes a group of the members with some ranks, which must be ascending.
func NewGroup(t *Team, ranks []int) (*Group, error) {
	if len(ranks) == 0 {
		return nil, errors.New("a group has at least one member")
	}
	g := &Group{Team: t, Ranks: make([]int32, len(ranks)), PEs: make([]int32, len(ranks))}
	for i, r := range ranks {
		switch {
		case r < 0 || r >= t.Size():
			return nil, fmt.Errorf("rank %d: team %q has %d members", r, t.Name, t.Size())
		case i > 0 && r <= ranks[i-1]:
			return nil, fmt.Errorf("rank %d after rank %d: ranks of a group are ascending", r, ranks[i-1])
		}
		g.Ranks[i], g.PEs[i] = int32(r), t.PEs[r]
	}
	return g, nil
}

// Has reports whether the member of a rank is in the group.
func (g *Group) Has(rank int) bool {
	_, found := slices.BinarySearch(g.Ranks, int32(rank))
	return found
}
