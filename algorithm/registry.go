package algorithm

import (
	"fmt"
	"slices"
	"strings"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/internal/near"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/topology"
)

// Algorithm is a kernel with what must be known to run and judge it.
type Algorithm struct {
	Name    string
	Summary string // one sentence, for listings

	Collective string            // what it performs, by name in package collective
	Topology   string            // topology of its rings, by name in package topology
	Neighbors  topology.Override // changes to that topology, or nil

	Kernel     tl.Kernel
	OneNode    *Algorithm                   // performs the calls of ranks that are all of one node; nil: Kernel does
	KernelArgs func(world, nElem int) []int // Args.Ints of a launch; nil for none
	Check      func(world, nElem int) error // returns an error for an unsupported call; nil: all calls that the topology supports
	Ops        []tl.ReduceOp                // operators that the kernel supports; nil: all
	Types      []dtype.Type                 // types that the kernel supports; nil: all
	Constraint string                       // the condition of Check, as a formula in N (ranks) and the number of elements
	MinSlots   int                          // least slots of a ring, because ranks forward from slots; 0: one is enough

	// Window is the symmetric memory that a call on nElem elements per rank needs, nil for
	// none: Args.Window(0), whose members are the ranks of the call. It is a new one, of zeros,
	// or calls take turns with two that outlive them, made for the largest: see Args.Uses.
	Window    func(world, nElem int, t dtype.Type) (*mem.Layout, error)
	Rails     bool // each channel can have an order of ranks of its own: see tl.Rails
	Trees     bool // has the latencies and channels of NCCL's trees: software.trees
	Pipelined bool // sends a vector in pieces, of chunk_size: Args.ChunkBytes

	// Path returns the ranks that a vector passes in a chain or a tree on rings. It is nil for
	// other algorithms. Package bound computes a lower limit from it.
	Path func(world, root int) Path

	// Multimem reports whether the kernel needs a switch, or a tree of switches, that joins the
	// ranks, reduces and copies: system.switch.reduce, system.switch.multicast. Groups returns
	// which ranks it must join, if not all: the groups of a world whose levels have these widths.
	Multimem bool
	Groups   func(world int, widths []int) [][]int

	Atomics bool // needs atomics on the memory of other PEs: fabric.p2p_native_atomics

	Steps  string // rounds that follow one another, as a formula in N (ranks)
	Cost   string // time and bytes, as a formula in alpha, beta, N and M (bytes per rank)
	Source string // where it comes from

	Idempotent bool // contributions may count more than once, as max and min permit
}

var rows []*Algorithm

const longestName = 128 // bytes

// isName reports whether ccl.yaml can name it: a dot would part a path of keys.
func isName(name string) bool {
	for i, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-' && i > 0:
		default:
			return false
		}
	}
	return name != "" && len(name) <= longestName
}

// Register adds an algorithm. It panics if the row has no kernel or no name of letters, digits, _
// and -, or if its name is taken. It also panics if the row names an unknown collective, topology,
// operation or type. These are defects of the program.
func Register(a Algorithm) *Algorithm {
	if !isName(a.Name) || a.Kernel == nil {
		panic(fmt.Sprintf("algorithm: a row needs a name of letters, digits, _ and -, and a kernel; found %q", a.Name))
	}
	what, err := collective.Lookup(a.Collective)
	if err == nil {
		err = a.supportable(what)
	}
	if err != nil {
		panic(fmt.Sprintf("algorithm: row %q: %v", a.Name, err))
	}
	if _, err := topology.Lookup(a.Topology); err != nil {
		panic(fmt.Sprintf("algorithm: row %q: %v; one of your own is registered before: write Topology: yours.Name", a.Name, err))
	}
	if one := a.OneNode; one != nil && one.Collective != a.Collective {
		panic(fmt.Sprintf("algorithm: row %q: on one node %s performs %s: name an algorithm of %s", a.Name, one.Name, one.Collective, a.Collective))
	}
	i, found := slices.BinarySearchFunc(rows, a.Name, byName)
	if found {
		panic("algorithm: two rows are called " + a.Name)
	}
	a.dispatch()
	rows = slices.Insert(rows, i, &a)
	return &a
}

func byName(a *Algorithm, name string) int { return strings.Compare(a.Name, name) }

// Unknown is the error for a name that is none of those known. It has the names that are near, and
// the command that lists all.
func Unknown(name string, known []string) error {
	return near.UnknownOfMany("algorithm", name, known, "kernbench list algorithms")
}

// All lists the algorithms by name.
func All() []*Algorithm { return slices.Clone(rows) }

// Lookup returns the algorithm called name. The error for an unknown name has the names that are
// near.
func Lookup(name string) (*Algorithm, error) {
	i, found := slices.BinarySearchFunc(rows, name, byName)
	if found {
		return rows[i], nil
	}
	var all []string
	for _, a := range rows {
		all = append(all, a.Name)
	}
	return nil, Unknown(name, all)
}
