package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/internal/near"
)

// Program is a host program with its description for listings.
type Program struct {
	Name    string
	Summary string // one sentence
	// Algorithm is the default algorithm of the program: an entry of ccl.yaml; "" is
	// defaults.algorithm. Collectives reports whether the program runs a collective.
	Algorithm   string
	Collectives bool
	// Parallel reports whether the program runs on selected PEs, by default Ranks of them. Every
	// program with Collectives does.
	Parallel bool
	Ranks    int // 0: as configured
	// Combines reports whether an operation can be chosen. Every program with Collectives does.
	Combines bool
	// Chosen reports whether the contributions of ranks can be chosen. For every program with
	// Collectives it can.
	Chosen bool
	// DType and NElem are the program's defaults.
	DType   dtype.Type // Invalid: F16
	NElem   int        // 0: as configured
	Options []Option   // of its own
	Run     func(ctx context.Context, h *Host) error
}

var rows []*Program

// Register adds a program. It panics if the row has no name or program, if its name is taken, or if
// an option does not accept its own default. These are defects of the program that registers.
func Register(p Program) *Program {
	if p.Name == "" || p.Run == nil {
		panic("bench: a row needs a name and a program")
	}
	for i := range p.Options {
		o := &p.Options[i]
		if o.Name == "" || p.option(o.Name) != o {
			panic(fmt.Sprintf("bench: %s has an option %q without a name of its own", p.Name, o.Name))
		}
		if err := o.Check(o.Default); err != nil {
			panic(fmt.Sprintf("bench: default of an option of %s: %v", p.Name, err))
		}
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

// For returns the program that runs an algorithm of a collective when no program is named. That is
// the program of the collective's row, or ccl_hello, which launches any algorithm.
func For(name string) *Program {
	program := anyAlgorithm
	if co, err := collective.Lookup(name); err == nil && co.Bench != "" {
		program = co.Bench
	}
	p, err := Lookup(program)
	if err != nil {
		return &Program{}
	}
	return p
}

// Lookup returns the program called name.
func Lookup(name string) (*Program, error) {
	i, found := slices.BinarySearchFunc(rows, name, byName)
	if found {
		return rows[i], nil
	}
	var known []string
	for _, p := range rows {
		known = append(known, p.Name)
	}
	err := near.UnknownOfMany("bench", name, known, "kernbench list benches")
	if !strings.HasSuffix(err.Error(), "?") { // no bench has a similar name
		err = fmt.Errorf("%w; a bench is a host program: to name an algorithm, use --algorithm", err)
	}
	return nil, err
}
