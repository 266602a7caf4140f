package race

import (
	"math"

	"kernbench/record/history"
)

// This file defers joins. If others hold an agent's vector, a join copies all times of the vector.
// Most of these times are never read. So a vector may instead refer to its old value and to the
// clocks that it joins. The joins are performed when an agent asks for a time that these
// references do not show.
// Invariant: a vector with deferred joins has the value that joining at once would give. As in
// join, a clock that knows a moment of an agent knows all that the agent knew then. Clocks of
// updates that an earlier pass has found know less. So later passes join at once.

// deferred holds the joins of a vector that are still to be performed. The vector knows all that
// base knows, the moments of the clocks, and all that these clocks know.
type deferred struct {
	depth int16 // length of the longest chain of vectors with deferred joins from here; 0: none
	pool  *clockPool
	base  *vec // nil: nothing
	from  [2]clock
}

const (
	// firstChainLimit is the first limit on the length of a chain. A chain beyond the limit is
	// resolved if that costs little. This bounds the memory of vectors to which only other vectors
	// refer.
	firstChainLimit = 1 << 12
	// maxChainLimit is the length of a chain that is resolved at any cost.
	maxChainLimit = 1 << 13
	// mostVisits bounds the visits of vectors in two ways. A chain is cheap to resolve with at most
	// mostVisits per agent. With more than mostVisits per deferred join in total, later joins are
	// performed at once, because that costs less.
	mostVisits = 4
	// mostBases bounds the vectors that are searched before a join is deferred.
	mostBases = 4
	// leastDeferred is the least ratio of deferred joins to answers. Below it, later joins are
	// performed at once.
	leastDeferred = 8
	// fewDeferred is added to the deferred joins in both tests, so that the first ones do not
	// decide.
	fewDeferred = 1 << 10
)

// deferring is the state of a Detector for deferred joins.
type deferring struct {
	eager      bool  // joins are performed at once
	deferAll   bool  // few agents have deferred joins too, for tests
	chainLimit int16 // length of a chain beyond which it is resolved, from firstChainLimit up to maxChainLimit
	deferrals  int
	answers    int // questions for which joins had to be performed
	visits     int
	toVisit    []clock // scratch
}

// deferJoin adds the knowledge of another clock without joining all times. It returns false if
// they must be joined.
func (d *Detector) deferJoin(c, from *clock) bool {
	v := c.v
	if d.eager || d.facts.pass > 1 || len(d.agents) <= fewAgents && !d.deferAll || from.agent == c.agent {
		return false
	}
	fromDepth := int16(0)
	if from.v != nil {
		fromDepth = from.v.depth
	}
	if fromDepth == 0 && (v == nil || v.depth == 0 && !v.given) {
		return false // joining costs little
	}
	if v.shows(from.agent, from.time, mostBases) {
		return true
	}
	free := -1 // place in v.from that is empty or has an older clock of the agent
	depth := 1 + fromDepth
	if v != nil && v.depth > 0 {
		free = v.placeFor(from.agent)
		depth = max(depth, v.depth)
		if free < 0 {
			depth = max(depth, v.depth+1)
		}
	}
	changeable := v != nil && v.depth > 0 && v.refs == 1 && !v.given
	if changeable && free < 0 && fromDepth == 0 || depth > d.chainLimit && d.shorten(c, from) {
		return false
	}
	d.deferrals++
	held := *from
	if held.v != nil {
		held.v.refs++
	}
	switch {
	case changeable && free >= 0:
		d.drop(&v.from[free])
		v.from[free], v.depth = held, depth
		return true
	case free >= 0: // a copy of the vector also joins the clock
		x := d.newBare()
		x.deferred = v.deferred
		x.from[free], x.depth = held, depth
		if x.base != nil {
			x.base.refs++
		}
		if other := x.from[1-free].v; other != nil {
			other.refs++
		}
		d.dropVec(v)
		c.v = x
	default:
		x := d.newBare()
		x.deferred = deferred{depth: depth, pool: &d.clockPool, base: v}
		x.from[0] = held
		c.v = x
	}
	return true
}

// placeFor returns the place of an older clock of an agent or an empty one, or -1.
func (v *vec) placeFor(a history.Agent) int {
	for i := range v.from {
		if f := &v.from[i]; f.time == 0 || f.agent == a {
			return i
		}
	}
	return -1
}

// shows reports whether the first vectors of the chain show that a moment of an agent is known. No
// joins are performed. A nil vector knows nothing.
func (v *vec) shows(a history.Agent, time uint32, vectors int) bool {
	for ; v != nil && vectors > 0; vectors-- {
		if v.depth == 0 {
			return int(a) < len(v.t) && v.t[a] >= time
		}
		for i := range v.from {
			if f := &v.from[i]; f.agent == a && f.time >= time {
				return true
			}
		}
		v = v.base
	}
	return false
}

// defers reports whether the clock has deferred joins, so that a question may have to perform them.
func (c *clock) defers() bool { return c.v != nil && c.v.depth > 0 }

// reaches reports whether the clock knows a moment of an agent.
func (c *clock) reaches(a history.Agent, time uint32) bool {
	if a == c.agent || c.v == nil || c.v.depth == 0 {
		return c.at(a) >= time
	}
	if c.v.shows(a, time, maxChainLimit) {
		return true
	}
	d := c.v.pool
	d.answers++
	d.eager = d.eager || leastDeferred*d.answers > d.deferrals+fewDeferred
	return c.at(a) >= time
}

// shorten performs the deferred joins of two clocks whose chains are too long, if that costs
// little. Otherwise it doubles the limit and returns false.
func (d *Detector) shorten(c, from *clock) bool {
	within := mostVisits * len(d.agents)
	if d.chainLimit >= maxChainLimit {
		within = math.MaxInt
	}
	for _, v := range []*vec{from.v, c.v} {
		if v != nil && v.depth > 0 && !v.performWithin(within) {
			d.chainLimit *= 2
			return false
		}
	}
	return true
}

// perform performs the deferred joins of a vector.
func (v *vec) perform() { v.performWithin(math.MaxInt) }

// performWithin is perform with a limit on visits. It returns false, and leaves the vector as it
// is, if the limit is too low.
func (v *vec) performWithin(visits int) bool {
	d := v.pool
	t := d.memory()
	bottom := v.base
	for bottom != nil && bottom.depth > 0 {
		bottom = bottom.base
	}
	if bottom != nil {
		t = append(t, bottom.t...)
	}
	queue := append(d.toVisit[:0], clock{v: v})
	for i := 0; i < len(queue); i++ {
		c := queue[i]
		if c.time > 0 && t[c.agent] > c.time {
			continue // a later moment of the agent has been found
		}
		for x := c.v; x != nil && x != bottom; x = x.base {
			d.visits++
			if visits--; visits < 0 {
				d.toVisit = queue
				d.returnMemory(t)
				return false
			}
			if x.depth == 0 {
				t = extend(t, len(x.t))
				raise(t, x.t)
				break
			}
			for k := range x.from {
				f := &x.from[k]
				if t = extend(t, int(f.agent)+1); t[f.agent] >= f.time {
					continue
				}
				if t[f.agent] = f.time; f.v != nil {
					queue = append(queue, *f)
				}
			}
		}
	}
	d.toVisit = queue
	d.eager = d.eager || d.visits > mostVisits*(d.deferrals+fewDeferred)
	d.dropDeferred(v)
	v.t = t
	return true
}

// memory returns an empty slice for times, from the pool if possible.
func (d *clockPool) memory() []uint32 {
	n := len(d.vecs)
	if n == 0 {
		return nil
	}
	v := d.vecs[n-1]
	d.vecs = d.vecs[:n-1]
	t := v.t[:0]
	v.t = nil
	d.bare = append(d.bare, v)
	return t
}

// returnMemory returns a slice for times to the pool.
func (d *clockPool) returnMemory(t []uint32) {
	if cap(t) > 0 {
		d.vecs = append(d.vecs, &vec{t: t})
	}
}

// dropDeferred forgets the deferred joins of a vector.
func (d *clockPool) dropDeferred(v *vec) {
	x := v.deferred
	v.deferred = deferred{}
	if x.base != nil {
		d.dropVec(x.base)
	}
	for i := range x.from {
		d.drop(&x.from[i])
	}
}
