// Package exclusive carries messages over routes whose links no other traffic uses. Such a message
// starts at a link when it and the link are ready. So its times follow from a formula and need no
// event.
//
// It may import machine and unit. Start at Routes.
package exclusive

import (
	"kernbench/machine"
	"kernbench/unit"
)

// Invariant of this package: no other traffic takes the links of an exclusive route, and its
// messages come in the order of their times. Input buffers hold all that can be in flight.

// Routes are the exclusive routes of a fabric. Routes of one kind have links of equal kinds in the
// same order, so their times are equal.
type Routes struct {
	ideal  bool
	kinds  []*kind
	links  uint32      // of all routes
	freeAt []unit.Time // by link of each route; nil until a message meets another
}

// State holds what is kept of one route. There may be millions: it holds no pointer.
type State struct {
	At    unit.Time // start of the latest message; of ideal routes, its arrival
	First uint32    // of its links in Routes.freeAt
	Clear uint32    // passage of that message, which met no other; 0: Routes.freeAt has the times at which links are free
}

// New returns an empty set of routes. On ideal ones messages of different times do not meet either.
func New(ideal bool) *Routes { return &Routes{ideal: ideal} }

// Knows reports whether the links of the routes of a kind are known.
func (x *Routes) Knows(kind uint32) bool { return int(kind) < len(x.kinds) && x.kinds[kind] != nil }

// Learn notes the links of the routes of a kind.
func (x *Routes) Learn(number uint32, links []*machine.LinkSpec) {
	for int(number) >= len(x.kinds) {
		x.kinds = append(x.kinds, nil)
	}
	x.kinds[number] = &kind{bySize: map[int64]uint32{}, links: links}
}

// Add adds a route of a kind whose links are known.
func (x *Routes) Add(kind uint32) State {
	s := State{First: x.links}
	if !x.ideal {
		x.links += uint32(len(x.kinds[kind].links))
	}
	return s
}

// Pass carries a transfer of one message over a route of a kind: its last byte leaves the source at
// departed and arrives at delivered.
func (x *Routes) Pass(p *State, kind uint32, bytes int64, at unit.Time) (departed, delivered unit.Time) {
	w := x.kinds[kind]
	k := w.latest
	if k == 0 || w.passages[k-1].bytes != bytes {
		k = w.passage(bytes)
	}
	t := &w.passages[k-1]
	switch {
	case x.ideal:
		p.At = max(p.At, at+t.ideal)
		return at + t.departed, p.At
	case p.Clear == k && at >= p.At+t.gap:
		p.At = at
		return at + t.departed, at + t.delivered
	}
	return x.passBehind(p, w, k, at)
}

// passBehind is Pass of a message that may have to wait for the one before.
func (x *Routes) passBehind(p *State, w *kind, k uint32, at unit.Time) (departed, delivered unit.Time) {
	if x.freeAt == nil {
		x.freeAt = make([]unit.Time, x.links)
	}
	free := x.freeAt[p.First : p.First+uint32(len(w.links))]
	if p.Clear != 0 {
		for i, end := range w.passages[p.Clear-1].ends {
			free[i] = p.At + end
		}
		p.Clear = 0
	}
	t := &w.passages[k-1]
	arrived, tail, waits := at, at, false
	for i, l := range w.links {
		start := max(arrived, free[i])
		waits = waits || start > arrived
		end := max(start+t.takes[i], tail)
		free[i] = end
		if i == 0 {
			departed = end
		}
		latency := l.Router + l.Wire
		arrived, tail = start+latency, end+latency
	}
	if !waits {
		p.At, p.Clear = at, k
	}
	return departed, tail
}

// kind holds what routes of a kind have in common.
type kind struct {
	latest   uint32 // number of the passage that was asked for last
	passages []passage
	bySize   map[int64]uint32
	links    []*machine.LinkSpec
}

// passage holds the times of a message of one size on a path on which it meets no other, from its
// start. A message of the same size that starts a gap later does not meet it either.
type passage struct {
	bytes               int64
	departed, delivered unit.Time
	ideal               unit.Time // when it arrives on an ideal route
	gap                 unit.Time
	takes, ends         []unit.Time // by link: how long it is taken, and until when
}

// passage returns the number of that of messages of a size, from 1 on.
func (w *kind) passage(bytes int64) uint32 {
	if k := w.bySize[bytes]; k != 0 {
		w.latest = k
		return k
	}
	t := passage{bytes: bytes}
	var start, tail, latency unit.Time
	for _, l := range w.links {
		takes := l.Serial.Time(max(1, bytes))
		end := max(start+takes, tail)
		t.takes, t.ends = append(t.takes, takes), append(t.ends, end)
		t.gap = max(t.gap, end-start)
		t.ideal = max(t.ideal, takes)
		start, tail = start+l.Router+l.Wire, end+l.Router+l.Wire
		latency += l.Router + l.Wire
	}
	t.departed, t.delivered, t.ideal = t.ends[0], tail, t.ideal+latency
	w.passages = append(w.passages, t)
	w.latest = uint32(len(w.passages))
	w.bySize[bytes] = w.latest
	return w.latest
}
