package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kernbench/conf"
)

// Program is a host program with what a listing says of it.
type Program struct {
	Name    string
	Summary string // one sentence
	// Algorithm is what the program runs when nobody names another: an entry of ccl.yaml;
	// "" is defaults.algorithm. Collectives tells whether it runs one at all.
	Algorithm   string
	Collectives bool
	Run         func(ctx context.Context, h *Host) error
}

var rows []*Program

// Register adds a program. It panics when the row has no name or program, or when there is
// one of that name: both are defects of the program that registers.
func Register(p Program) *Program {
	if p.Name == "" || p.Run == nil {
		panic("bench: a row needs a name and a program")
	}
	i, found := slices.BinarySearchFunc(rows, p.Name, byName)
	if found {
		panic("bench: two rows are called " + p.Name)
	}
	rows = slices.Insert(rows, i, &p)
	return &p
}

func byName(p *Program, name string) int { return strings.Compare(p.Name, name) }

// All lists the programs by name.
func All() []*Program { return slices.Clone(rows) }

// Lookup is the program called name.
func Lookup(name string) (*Program, error) {
	i, found := slices.BinarySearchFunc(rows, name, byName)
	if found {
		return rows[i], nil
	}
	var known []string
	for _, p := range rows {
		known = append(known, p.Name)
	}
	if near := conf.Nearest(name, known); near != "" {
		return nil, fmt.Errorf("unknown bench %q: did you mean %q?", name, near)
	}
	return nil, fmt.Errorf("unknown bench %q: one of %s", name, strings.Join(known, ", "))
}
