package collective

import (
	"cmp"
	"slices"
	"strings"

	"kernbench/internal/near"
	"kernbench/unit"
)

// Collective defines one collective. Each is a row at the end of its file.
type Collective struct {
	Name    string
	Summary string // one sentence, for listings

	Reduces    bool // Call.Op counts; else the output is a copy of inputs
	Rooted     bool // Call.Root counts
	SameOutput bool // all ranks end with the same elements
	Blocks     bool // Call.Elems is one block for each rank: a multiple of World
	Counted    bool // Call.Counts counts, where it is given: Elems does not then
	Apart      bool // results cannot take the place of contributions, which may be read when the first of them come

	In  func(c Call, rank int) int // elements that a rank brings
	Out func(c Call, rank int) int // elements that it ends with

	// InPlace returns where a rank's contribution and its result begin in memory that they share
	// when a collective works in place as NCCL has it. Nil: both at its beginning.
	InPlace func(c Call, rank int) (in, out int)

	// Parts appends the contributors of rank's output, in order and complete.
	Parts func(dst []Part, c Call, rank int) []Part

	// Size is the numerator of algbw, if it differs from that of Bytes. Nil: it does not.
	Size func(c Call) unit.Bytes

	// Demand is the fewest bytes that any algorithm must move between ranks, all ranks
	// together, when memories and links do not compute.
	Demand func(c Call) unit.Bytes

	// BusFactor turns algbw into busbw for n ranks, as nccl-tests defines it.
	BusFactor func(n int) float64

	// The fields below do not define the meaning. It is here so that no other package has a list of
	// collectives.

	NCCL       string   // its name in nccl-tests; "": Name
	Task       string   // the operation of HCCL whose tasks perform it; "": there is none
	Bench      string   // host program that runs its algorithms when no program is named; "": ccl_hello, which runs any
	Known      []string // algorithms of kernbench like those of vendors' libraries
	KnownNCCL  []string // algorithms like those of NCCL alone; nil: Known
	KnownRails []string // on several nodes: algorithms like those of NCCL that work in nodes and between them
	Least      string   // an algorithm that moves no more than Demand, for advice; "": none is named
}

// NCCLName returns the name that nccl-tests has for the collective.
func (co *Collective) NCCLName() string { return cmp.Or(co.NCCL, co.Name) }

var rows []*Collective

// register adds a row. Two of one name are a defect of the program.
func register(co Collective) *Collective {
	i, found := find(co.Name)
	if found {
		panic("collective: two rows are called " + co.Name)
	}
	rows = slices.Insert(rows, i, &co)
	return &co
}

// find returns the row of a name, or where it would be.
func find(name string) (int, bool) {
	return slices.BinarySearchFunc(rows, name, func(co *Collective, name string) int { return strings.Compare(co.Name, name) })
}

// All lists the collectives by name.
func All() []*Collective { return slices.Clone(rows) }

// Lookup returns the collective called name.
func Lookup(name string) (*Collective, error) {
	if i, found := find(name); found {
		return rows[i], nil
	}
	var names []string
	for _, co := range rows {
		names = append(names, co.Name)
	}
	return nil, near.Unknown("collective", name, names)
}

// allRanks returns all ranks of c.
func allRanks(c Call) Ranks { return Ranks{N: c.World, Stride: 1} }

// onlyRank returns a single rank.
func onlyRank(r int) Ranks { return Ranks{First: r, N: 1, Stride: 1} }

// elems returns Call.Elems: the number of elements of each rank.
func elems(c Call, _ int) int { return c.Elems }

// toOthers returns the demand of n elements that cross once to each rank but one.
func toOthers(c Call, n int) unit.Bytes { return c.bytes(n) * unit.Bytes(c.World-1) }
