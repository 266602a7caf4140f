package machine

import (
	"fmt"
	"slices"
	"strings"
)

// side is the edge of a cube at which a link leaves or enters it. North is row 0.
type side uint8

const (
	east side = iota
	west
	north
	south
)

func (s side) String() string { return "ewns"[s : s+1] }

// horizontal tells whether links at s leave along a row.
func (s side) horizontal() bool { return s == east || s == west }

// An edge is a directed link between two sites of a network: cubes within a SIP, or SIPs within the system. Sites
// below size.n are those; then comes the shore, where there is one, and then the network's own hubs.
type edge struct {
	from, to int32
	out, in  side // where it leaves and enters a cube; without meaning for other sites
}

// A step is one edge of a path, by its number, with the virtual channel used on it and the site that it reaches.
type step struct {
	edge    int32
	site    int32
	channel uint8
}

// size says what a network has to join.
type size struct {
	n, w, h int  // sites, and the grid that they form, w·h = n; site y·w + x stands at (x, y)
	shore   bool // whether there is one more site, n: the SIP's way out
}

// A network is the wiring of one level with its routing rule.
type network interface {
	// edges lists the directed links; their numbers count from 0 in this order.
	edges() []edge
	// hubs is the number of sites that the network adds, switches for example; they are numbered after the shore.
	hubs() int
	// channels is the number of virtual channels on each edge: 1, or 2 where a ring has a dateline.
	channels() uint8
	// next is the step that a message which started at from takes out of at, at != to. It depends on nothing else, and
	// following it ends at to.
	next(from, at, to int) step
}

// A kind is a way of wiring a level. A new one is a file with a network and a call of register at its foot.
type kind struct {
	names []string // as topology.yaml writes it
	grid  bool     // whether w and h mean something to it
	ring  bool     // whether it wraps, so that its shortest ways need five sites in a line to show all they do
	limit int      // most sites, where links are too many beyond; 0 is no limit
	build func(size) network
}

var kinds []kind

// register makes a kind known. It returns a value so that it can stand in a variable declaration.
func register(k kind) struct{} {
	kinds = append(kinds, k)
	return struct{}{}
}

// findKind returns the kind called name, or an error with the names that exist.
func findKind(name string) (kind, error) {
	var known []string
	for _, k := range kinds {
		if slices.Contains(k.names, name) {
			return k, nil
		}
		known = append(known, k.names...)
	}
	slices.Sort(known)
	return kind{}, fmt.Errorf("there is no network %q; there are %s", name, strings.Join(known, ", "))
}
