package mem

import "fmt"

// Team is a set of PEs with dense ranks of its own: rank i is PEs[i]. A PE may be in several
// teams, with another rank in each.
type Team struct {
	Name string
	PEs  []int32 // by rank, no PE twice

	// Meeting is the window for barriers of the members: one control word for each round of a
	// dissemination barrier, log2 of the size rounded up. Words only grow.
	Meeting *Window
	// Met counts, by rank, the barriers that a member has begun. Each member changes its own count.
	Met []int64

	ranks map[int32]int
}

// NewTeam makes a team without a window for barriers. No PE may be in it twice.
func NewTeam(name string, pes []int32) (*Team, error) {
	t := &Team{Name: name, PEs: pes, Met: make([]int64, len(pes)), ranks: make(map[int32]int, len(pes))}
	if len(pes) == 0 {
		return nil, fmt.Errorf("team %q has no members", name)
	}
	for r, pe := range pes {
		if first, twice := t.ranks[pe]; twice {
			return nil, fmt.Errorf("team %q: PE %d is its rank %d and again rank %d", name, pe, first, r)
		}
		t.ranks[pe] = r
	}
	return t, nil
}

// Size returns the number of members.
func (t *Team) Size() int { return len(t.PEs) }

// Rank returns the rank of a PE in the team; ok is false when it is no member.
func (t *Team) Rank(pe int) (rank int, ok bool) {
	rank, ok = t.ranks[int32(pe)]
	return rank, ok
}

// Translate returns the rank in another team of the member with a rank in this one. ok is false if
// the other team does not have the member, or if there is no such rank.
func (t *Team) Translate(rank int, to *Team) (int, bool) {
	if rank < 0 || rank >= len(t.PEs) {
		return 0, false
	}
	return to.Rank(int(t.PEs[rank]))
}

// Rounds returns the number of rounds of a dissemination barrier: log2 of the size, rounded up.
func (t *Team) Rounds() int {
	n := 0
	for 1<<n < len(t.PEs) {
		n++
	}
	return n
}
