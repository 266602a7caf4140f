package trace

import (
	"slices"

	"kernbench/unit"
)

// Scope is the part of a run that a consumer wants to see. The zero value is all of it.
type Scope struct {
	Ranks    []int     // of their groups, ascending; nil: all
	All      bool      // all ranks are selected
	Classes  bool      // without Ranks: one rank of each class, in launches of more than ManyRanks
	From, To unit.Time // spans that overlap this time; To 0: to the end
	Counters bool      // counters too
}

// ManyRanks is the number of ranks up to which all of them are traced by default.
const ManyRanks = 1024

// Some is the number of ranks that are traced of a large launch without classes.
const Some = 16

// Overlaps reports whether a span overlaps the time of the scope.
func (s *Scope) Overlaps(start, end unit.Time) bool {
	return end >= s.From && (s.To == 0 || start <= s.To)
}

// Has reports whether a rank was named; without names all are.
func (s *Scope) Has(rank int) bool {
	if s.Ranks == nil {
		return true
	}
	_, ok := slices.BinarySearch(s.Ranks, rank)
	return ok
}

// Partial reports whether the scope omits a part of a launch of world ranks, or requests more than
// spans.
func (s *Scope) Partial(world int) bool {
	return s.Ranks != nil || s.From > 0 || s.To > 0 || s.Counters || s.ByClass(world)
}

// ByClass reports whether only one rank of each class is traced, for a number of ranks.
func (s *Scope) ByClass(world int) bool { return s.Classes && s.Ranks == nil && world > ManyRanks }
