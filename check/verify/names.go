package verify

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"kernbench/collective"
)

// compare orders the heads of two lists; an empty list comes last.
func compare(a, b []collective.Contributor) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	return cmp.Or(cmp.Compare(a[0].Rank, b[0].Rank), cmp.Compare(a[0].Index, b[0].Index))
}

// maxNames is the largest number of ranges that a list of ranks names. It counts the others.
const maxNames = 16

// names lists contributors for people: consecutive ranks that contribute the same index
// as often are one range, and the index is named once.
//
//	ranks 3, 243-255, 256 (3 times) of element 17
func names(cs []collective.Contributor) string {
	var parts []string
	more := 0
	for lo := 0; lo < len(cs); {
		hi := lo + 1
		for hi < len(cs) && continues(cs[hi-1], cs[hi]) {
			hi++
		}
		if len(parts) < maxNames {
			parts = append(parts, rankRange(cs[lo], cs[hi-1], cs))
		} else {
			more += hi - lo
		}
		lo = hi
	}
	s := "rank "
	if len(cs) > 1 {
		s = "ranks "
	}
	s += strings.Join(parts, ", ")
	if more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	if oneIndex(cs) {
		s += fmt.Sprintf(" (input element %d)", cs[0].Index)
	}
	return s
}

// names lists contributors by their ranks in this group, where labels distinguish it from others.
func (c *check) names(cs []collective.Contributor) string {
	labels := c.Call.Labels
	if labels.N == 0 {
		return names(cs)
	}
	var own []collective.Contributor
	for _, x := range cs {
		if r := (x.Rank - labels.First) / max(labels.Stride, 1); r >= 0 && r < labels.N && labels.At(r) == x.Rank {
			x.Rank = r
			own = append(own, x)
		}
	}
	others := len(cs) - len(own)
	switch {
	case others == 0:
		return names(own)
	case len(own) == 0:
		return fmt.Sprintf("%d from other collectives", others)
	}
	return fmt.Sprintf("%s, and %d from other collectives", names(own), others)
}

func continues(a, b collective.Contributor) bool {
	return b.Rank == a.Rank+1 && b.Index == a.Index && b.Count == a.Count
}

func oneIndex(cs []collective.Contributor) bool {
	for _, c := range cs {
		if c.Index != cs[0].Index {
			return false
		}
	}
	return len(cs) > 0
}

// rankRange returns a range of ranks lo to hi with the same contribution.
func rankRange(lo, hi collective.Contributor, all []collective.Contributor) string {
	s := fmt.Sprint(lo.Rank)
	if hi.Rank > lo.Rank {
		s += fmt.Sprintf("-%d", hi.Rank)
	}
	if !oneIndex(all) {
		s += fmt.Sprintf("[%d]", lo.Index)
	}
	if lo.Count > 1 {
		s += fmt.Sprintf(" (%s)", count(lo.Count))
	}
	return s
}

// count writes the number of times that a contribution is present.
func count(n int64) string { return atLeast(n, math.MaxInt64) + " times" }

// atLeast returns a count that sticks at most.
func atLeast(n, most int64) string {
	if n >= most {
		return fmt.Sprintf("at least %d", most)
	}
	return fmt.Sprint(n)
}
