// Package routes stores the routes of a fabric, each as a list of hops. Millions of them share what
// they have in common: see Compress. What a hop leads over is a number that the owner gives it.
//
// It may import nothing. Start at Table.
package routes

// Hop is a link of a stored route and a channel there.
type Hop uint32

const (
	channelBits = 3

	// Channels is the number of channels that a hop can tell apart.
	Channels = 1 << channelBits

	// Hops that are no links come after all others.
	jump Hop = 1 << 31   // and the number of that which follows
	end  Hop = 1<<32 - 1 // of a part
)

// MakeHop returns a hop with a number and a channel.
func MakeHop(number uint32, channel uint8) Hop { return Hop(number<<channelBits | uint32(channel)) }

// Number returns the number of a hop.
func (h Hop) Number() uint32 { return uint32(h) >> channelBits }

// Channel returns the channel of a hop.
func (h Hop) Channel() uint8 { return uint8(h) & (Channels - 1) }

// Route is a stored path, or the rest of one. It has where it begins in Table.Hops, and where it
// continues when that part ends, if it does.
type Route struct{ At, Then uint32 }

// Empty reports whether there are no links.
func (r Route) Empty() bool { return r.At == 0 }

// Table has routes. Hop number 0 is none.
type Table struct {
	Hops []Hop
	read []Hop // the path that Path read last
}

// New returns a table without routes.
func New() Table { return Table{Hops: []Hop{end}} }

// Hop returns the first hop of a route.
func (t *Table) Hop(r Route) Hop { return t.Hops[r.At] }

// Last reports whether a route has one link.
func (t *Table) Last(r Route) bool { return t.Hops[r.At+1] >= jump && t.Onward(r).Empty() }

// Onward returns the rest of a route after its first link.
func (t *Table) Onward(r Route) Route {
	if r.At++; t.Hops[r.At] < jump {
		return r
	}
	return t.turn(r)
}

// turn returns where a route goes on that comes to a hop that is no link.
func (t *Table) turn(r Route) Route {
	if h := t.Hops[r.At]; h != end {
		r.At = uint32(h - jump)
		return r
	}
	return Route{At: r.Then}
}

// Path returns all of a route, until it is called again.
func (t *Table) Path(r Route) []Hop {
	t.read = t.read[:0]
	for ; !r.Empty(); r = t.Onward(r) {
		t.read = append(t.read, t.Hops[r.At])
	}
	return t.read
}

// Add stores a path by itself.
func (t *Table) Add(path []Hop) Route {
	if len(path) == 0 {
		return Route{}
	}
	r := Route{At: uint32(len(t.Hops))}
	t.Hops = append(append(t.Hops, path...), end)
	return r
}
