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
// level of SIPs. Sites below size.n are those. Site size.n is the exit, if there is one: the exit
// of a SIP, or the gateway of a level. The network's own hubs follow.
type edge struct {
	from, to int32
	out, in  side // where it leaves and enters a cube; not used for other sites
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
	exit    bool // whether there is one more site, n: the SIP's exit
}

// A network is the wiring of one level, and its routing rule.
type network interface {
	// edges lists the directed links; their numbers count from 0 in this order.
	edges() []edge
	// hubs is the number of sites that the network adds, switches for example; they are numbered
	// after the exit.
	hubs() int
	// hubName is the name of a hub, unique among those of the network.
	hubName(hub int) string
	// channels is the number of virtual channels on each edge: 1, or 2 where a ring has a dateline.
	channels() uint8
	// next is the step that a message which started at from takes out of at, at != to. It depends
	// on nothing else, and following it ends at to.
	next(from, at, to int) step
}

// A kind is a physical network of cubes, SIPs or both. A new kind is a file with a network and a
// call of register.
type kind struct {
	conf.Network                    // its name and keys in topology.yaml
	look         Look               // how a level of SIPs is drawn
	cubes        Look               // how the cubes of a SIP are drawn
	grid         bool               // whether it uses w and h
	ring         bool               // whether it wraps: a check of its shortest paths then needs five sites in a line
	limit        int                // largest number of sites, as more need too many links; 0: no limit
	uniform      bool               // whether all routes between two members take links of the same kinds
	build        func(size) network // joins cubes; nil if it cannot

	// For levels of SIPs. fit completes a plan from the level's keys in topology.yaml, or returns
	// the key that is wrong; nil if there are no such keys. small is the plan of a small network
	// for the check of routing, with every case of this kind; nil stands for three members.
	fit   func(*plan, *conf.Level) (key string, err error)
	small func(plan) plan
	join  func(plan) network
}

// A plan is a level of SIPs to be built.
type plan struct {
	n       int   // members
	dims    []int // of a lattice, one per dimension
	gateway bool  // whether there is one more site, n: the exit of the group
	tree    treeShape
	fly     flyShape
	pick    picker
}

// sites returns the number of members, and one more if there is a gateway.
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

// findKind returns the kind called name among those for which usable is true, or an error with
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
