package topology

import (
	"fmt"
	"slices"
	"strings"

	"kernbench/internal/near"
	"kernbench/tl"
)

// Link is a direction in which a rank can send, and the rank to which it leads.
type Link struct {
	Dir  tl.Dir
	Peer int32
}

// Grid is the extent of a topology. The zero Grid stands for "a square" of one with two
// dimensions, and for a single level.
type Grid struct {
	W, H int

	// Levels are the sizes of the levels, from ranks on, of a topology of levels. The level after
	// the last that is not 0 has the ranks that remain.
	Levels [MostLevels]int
}

// Topology is a family of neighbour maps. Each is a row at the foot of its file.
//
// One rank alone needs no special case in an algorithm. Where the topology wraps, it is its own
// neighbour in every direction; otherwise it has none.
type Topology struct {
	Name     string
	Summary  string // one sentence, for listings
	Planar   bool   // uses W and H of a Grid
	Nested   bool   // uses the Levels of a Grid
	Wraps    bool   // a rank may be its own neighbour in a small world
	MaxRanks int    // ranks that it can have; 0: any number

	// Links appends rank's links in the order of their directions. The grid covers world.
	Links func(dst []Link, rank, world int, g Grid) []Link
}

var rows []*Topology

// Register adds a topology, such as one that lives outside this repository. It panics when
// the row has no name or links, or when there is one of that name: both are defects of the
// program.
func Register(t Topology) *Topology {
	if t.Name == "" || t.Links == nil {
		panic("topology: a row needs a name and links")
	}
	i, found := find(t.Name)
	if found {
		panic("topology: two rows are called " + t.Name)
	}
	rows = slices.Insert(rows, i, &t)
	return &t
}

// find returns the row of a name, or where it would be.
func find(name string) (int, bool) {
	return slices.BinarySearchFunc(rows, name, func(t *Topology, name string) int { return strings.Compare(t.Name, name) })
}

// All lists the topologies by name.
func All() []*Topology { return slices.Clone(rows) }

// Lookup returns the topology called name.
func Lookup(name string) (*Topology, error) {
	if i, found := find(name); found {
		return rows[i], nil
	}
	var names []string
	for _, t := range rows {
		names = append(names, t.Name)
	}
	return nil, near.Unknown("topology", name, names)
}

// Fit checks that t can have world ranks on grid g, and completes the grid. One zero side is
// computed from the other; two zero sides make a square.
func (t *Topology) Fit(world int, g Grid) (Grid, error) {
	if world < 1 {
		return g, fmt.Errorf("%s of %d ranks: at least one is needed", t.Name, world)
	}
	if world > 1<<31-1 {
		return g, fmt.Errorf("%s of %d ranks: at most 2^31-1 can be numbered", t.Name, world)
	}
	if t.MaxRanks > 0 && world > t.MaxRanks {
		return g, fmt.Errorf("%s of %d ranks: at most %d have directions enough", t.Name, world, t.MaxRanks)
	}
	switch {
	case t.Nested:
		return t.fitLevels(world, g)
	case !t.Planar:
		return Grid{}, nil
	}
	return t.fitGrid(world, g)
}

func (t *Topology) fitGrid(world int, g Grid) (Grid, error) {
	given := g
	switch {
	case g.W < 0 || g.H < 0:
		return g, fmt.Errorf("%s of %d x %d: w and h cannot be negative", t.Name, g.W, g.H)
	case g.W == 0 && g.H == 0:
		side := sqrt(world)
		if side*side != world {
			w, h := widest(world)
			return g, fmt.Errorf("%s of %d ranks: %d is not a square, so w or h must be given, such as w=%d h=%d",
				t.Name, world, world, w, h)
		}
		return Grid{W: side, H: side}, nil
	case g.W == 0:
		g.W = world / g.H
	case g.H == 0:
		g.H = world / g.W
	}
	if g.W*g.H != world || g.W > world {
		return g, fmt.Errorf("%s of %d ranks: w=%d h=%d does not cover them: w*h must be %d", t.Name, world, given.W, given.H, world)
	}
	return g, nil
}

// sqrt returns the integer square root.
func sqrt(n int) int {
	r := 0
	for bit := 1 << 30; bit > 0; bit >>= 1 {
		if s := r + bit; s <= 1<<31 && s*s <= n {
			r = s
		}
	}
	return r
}

// widest returns the factorisation of n that is nearest to a square, w >= h.
func widest(n int) (w, h int) {
	for h = sqrt(n); n%h != 0; h-- {
	}
	return n / h, h
}
