// Package near finds the known name that a mistyped one was probably meant to be.
//
// It may import the standard library only. Start at Name.
package near

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Name returns the element of known that word was probably meant to be, or "" when none is near. At
// most a third of the longer word's letters may differ (always one), and case is ignored. Of
// several equally near ones the first wins.
func Name(word string, known []string) string {
	const longest = 256 // longer words are no mistyped names, and the distance takes time with their square
	if len(word) > longest {
		return ""
	}
	best, bestDistance := "", -1
	lower := strings.ToLower(word)
	for _, candidate := range known {
		if len(candidate) > longest {
			continue
		}
		d := distance(lower, strings.ToLower(candidate))
		limit := max(1, max(len(word), len(candidate))/3)
		if d > limit || d >= len(candidate) {
			continue // far, or not one letter in common
		}
		if bestDistance < 0 || d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// distance counts the letters to insert, delete, replace or swap with their neighbour to turn a
// into b.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	// Three rows of the table d[i][j] = distance of the first i letters of s to the first j of t.
	before, previous, current := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(s); i++ {
		current[0] = i
		for j := 1; j <= len(t); j++ {
			replace := previous[j-1]
			if s[i-1] != t[j-1] {
				replace++
			}
			current[j] = min(previous[j]+1, current[j-1]+1, replace)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, previous, current = previous, current, before
	}
	return previous[len(t)]
}

// Unknown returns the error for a word that names none of those known: with the nearest, or with
// all.
func Unknown(what, word string, known []string) error {
	if n := Name(word, known); n != "" {
		return fmt.Errorf("unknown %s %q; did you mean %q?", what, word, n)
	}
	return fmt.Errorf("unknown %s %q: want one of %s", what, word, strings.Join(known, ", "))
}

// UnknownOfMany is Unknown for a list that is too long for an error. It names the command that
// prints the list, and the nearest name. If none is near, it names up to five names that contain
// the word, or that contain the nearest part of a name.
func UnknownOfMany(what, word string, known []string, command string) error {
	const most, leastForPart = 5, 5 // a word of fewer letters is near to too many parts
	part, like := word, containing(word, known)
	if n := Name(word, known); n != "" {
		like = []string{n}
	} else if len(like) == 0 && len(word) >= leastForPart {
		if part = Name(word, parts(known)); part != "" {
			like = containing(part, known)
		}
	}
	if len(like) == 0 {
		return fmt.Errorf("unknown %s %q: %s prints all %d", what, word, command, len(known))
	}
	last := ""
	if more := len(like) - most; more > 0 {
		last = fmt.Sprintf("one of %d more with %q in the name", more, part)
		like = like[:most]
	}
	return fmt.Errorf("unknown %s %q (%s prints all %d); did you mean %s?", what, word, command, len(known), oneOf(like, last))
}

// oneOf lists names in quotes as alternatives, and at the end last unless it is empty.
func oneOf(names []string, last string) string {
	all := make([]string, len(names), len(names)+1)
	for i, n := range names {
		all[i] = strconv.Quote(n)
	}
	if last != "" {
		all = append(all, last)
	}
	if n := len(all); n > 1 {
		return strings.Join(all[:n-1], ", ") + " or " + all[n-1]
	}
	return all[0]
}

// containing returns the names that contain word, first those that begin with it. Case is ignored.
func containing(word string, known []string) []string {
	var begin, inside []string
	lower := strings.ToLower(word)
	for _, k := range known {
		switch l := strings.ToLower(k); {
		case len(word) < 2 || !strings.Contains(l, lower):
		case strings.HasPrefix(l, lower):
			begin = append(begin, k)
		default:
			inside = append(inside, k)
		}
	}
	return append(begin, inside...)
}

// parts lists the words of at least three letters that underscores separate in names.
func parts(names []string) []string {
	var all []string
	for _, n := range names {
		for _, p := range strings.Split(n, "_") {
			if len(p) >= 3 && !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return all
}
