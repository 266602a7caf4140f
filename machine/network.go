package machine

import (
	"fmt"
	"slices"
	"strings"

	"kernbench/conf"
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

// horizontal reports whether links at s leave along a row.
func (s side) horizontal() bool { return s == east || s == west }

// An edge is a directed link between two sites of a network: cubes within a SIP, or members of a
// level of SIPs. Sites below size.n are those; then comes the shore, where there is one (of a
// level: its gateway), and then the network's own hubs.
type edge struct {
	from, to int32
	out, in  side // where it leaves and enters a cube; without meaning for other sites
}

// A step is one edge of a path, by its number, with the virtual channel used on it and the site
// that it reaches.
type step struct {
	edge    int32
	site    int32
	channel uint8
}

// size is the size of a network.
type size struct {
	n, w, h int  // sites, and the grid that they form, w·h = n; site y·w + x stands at (x, y)
	shore   bool // whether there is one more site, n: the SIP's way out
}

// A network is the wiring of one level with its routing rule.
type network interface {
	// edges lists the directed links; their numbers count from 0 in this order.
	edges() []edge
	// hubs is the number of sites that the network adds, switches for example; they are numbered
	// after the shore.
	hubs() int
	// hubName is the name of a hub, unique among those of the network.
	hubName(hub int) string
	// channels is the number of virtual channels on each edge: 1, or 2 where a ring has a dateline.
	channels() uint8
	// next is the step that a message which started at from takes out of at, at != to. It depends
	// on nothing else, and following it ends at to.
	next(from, at, to int) step
}

// A kind is a way of wiring cubes, SIPs or both. A new one is a file with a network and a call of
// register at its foot.
type kind struct {
	conf.Network                    // what topology.yaml says of it
	look         Look               // how a level of it is drawn
	cubes        Look               // how it is drawn where it joins cubes
	grid         bool               // whether w and h mean something to it
	ring         bool               // whether it wraps, so that its shortest ways need five sites in a line to show all they do
	limit        int                // most sites, where links are too many beyond; 0 is no limit
	uniform      bool               // whether routes between any two members take links of the same kinds
	build        func(size) network // joins cubes; nil: it cannot

	// Of levels of SIPs. fit completes a plan from what topology.yaml says of the level, or names
	// the key that is wrong; nil: there is nothing to it. small is the plan of a network that shows
	// all that one of this kind can do, for the check of its routing; nil: of three members.
	fit   func(*plan, *conf.Level) (key string, err error)
	small func(plan) plan
	join  func(plan) network
}

// A plan is a level of SIPs to be built.
type plan struct {
	n       int   // members
	dims    []int // of a lattice
	gateway bool  // whether there is one more site, n: the way out of the group
	tree    treeShape
	fly     flyShape
	pick    picker
}

// sites is the number of members for networks to which a gateway is one more.
func (p *plan) sites() int {
	if p.gateway {
		return p.n + 1
	}
	return p.n
}

var kinds []kind

// register makes a kind known. It returns a value so that it can stand in a variable declaration.
func register(k kind) struct{} {
	k.Network.Cubes, k.SIPs = k.build != nil, k.join != nil
	kinds = append(kinds, k)
	conf.RegisterNetwork(k.Network)
	return struct{}{}
}

// findKind returns the kind called name of those that can be used for something, or an error with
// their names.
func findKind(name string, usable func(*kind) bool) (*kind, error) {
	var known []string
	for i := range kinds {
		k := &kinds[i]
		if !usable(k) {
			continue
		}
		if k.Name == name {
			return k, nil
		}
		known = append(known, k.Name)
	}
	slices.Sort(known)
	return nil, fmt.Errorf("there is no network %q; there are %s", name, strings.Join(known, ", "))
}

func ofCubes(k *kind) bool { return k.build != nil }
func ofSIPs(k *kind) bool  { return k.join != nil }
