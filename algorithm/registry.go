package algorithm

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"kernbench/tl"
	"kernbench/topology"
)

// Algorithm is a kernel with what must be known to run and judge it.
type Algorithm struct {
	Name    string
	Summary string // one sentence, for listings

	Collective string            // what it performs, by name in package collective
	Topology   string            // whose neighbours it needs, by name in package topology
	Neighbors  topology.Override // changes to that topology, or nil

	Kernel     tl.Kernel
	KernelArgs func(world, nElem int) []int // Args.Ints of a launch; nil for none
	Check      func(world, nElem int) error // refuses what it cannot do; nil when it can do all that its topology can

	Steps  string // rounds that follow one another, as a formula in N (ranks)
	Cost   string // time and bytes, as a formula in alpha, beta, N and M (bytes per rank)
	Source string // where it comes from

	Idempotent bool // contributions may count more than once, as max and min permit
}

var rows []*Algorithm

// nameForm is what ccl.yaml can name: a dot would part a path of keys.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$`)

// Register adds an algorithm. It panics when the row has no kernel or no name of letters,
// digits, _ and -, or when there is one of that name: all are defects of the program.
func Register(a Algorithm) *Algorithm {
	if !nameForm.MatchString(a.Name) || a.Kernel == nil {
		panic(fmt.Sprintf("algorithm: a row needs a name of letters, digits, _ and -, and a kernel; found %q", a.Name))
	}
	i, found := slices.BinarySearchFunc(rows, a.Name, byName)
	if found {
		panic("algorithm: two rows are called " + a.Name)
	}
	rows = slices.Insert(rows, i, &a)
	return &a
}

func byName(a *Algorithm, name string) int { return strings.Compare(a.Name, name) }

// All lists the algorithms by name.
func All() []*Algorithm { return slices.Clone(rows) }

// Lookup is the algorithm called name. The error for an unknown name lists those that
// look like it, or all.
func Lookup(name string) (*Algorithm, error) {
	i, found := slices.BinarySearchFunc(rows, name, byName)
	if found {
		return rows[i], nil
	}
	var near, all []string
	for _, a := range rows {
		all = append(all, a.Name)
		if resembles(a.Name, name) {
			near = append(near, a.Name)
		}
	}
	if len(near) > 0 {
		return nil, fmt.Errorf("unknown algorithm %q: did you mean %s?", name, strings.Join(near, " or "))
	}
	return nil, fmt.Errorf("unknown algorithm %q: known are %s", name, strings.Join(all, ", "))
}

// resembles tells whether somebody who wrote b may have meant a: one contains the other,
// or few letters differ.
func resembles(a, b string) bool {
	if len(b) >= 3 && (strings.Contains(a, b) || strings.Contains(b, a)) {
		return true
	}
	return distance(a, b) <= max(len(a), len(b))/4
}

// distance is the number of letters to insert, delete or change (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
