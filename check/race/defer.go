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
	base vecID // 0: nothing
	from [2]clock
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
	if d.eager || d.facts.pass > 1 || len(d.agents) <= fewAgents && !d.deferAll || from.agent == c.agent {
		return false
	}
	var v *vec
	if c.v != 0 {
		v = d.vec(c.v)
	}
	fromDepth := int16(0)
	if from.v != 0 {
		fromDepth = d.vec(from.v).depth
	}
	if fromDepth == 0 && (v == nil || v.depth == 0 && !v.given) {
		return false // joining costs little
	}
	if d.shows(c.v, from.agent, from.time, mostBases) {
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
	if held.v != 0 {
		d.vec(held.v).refs++
	}
	switch {
	case changeable && free >= 0:
		d.drop(&v.from[free])
		v.from[free], v.depth = held, depth
		return true
	case free >= 0: // a copy of the vector also joins the clock
		i := d.newVec()
		x, old := d.vec(i), v.deferred
		x.deferred = old
		x.from[free], x.depth = held, depth
		if old.base != 0 {
			d.vec(old.base).refs++
		}
		if other := old.from[1-free].v; other != 0 {
			d.vec(other).refs++
		}
		d.dropVec(c.v)
		c.v = i
	default:
		i := d.newVec()
		x := d.vec(i)
		x.depth, x.base, x.from[0] = depth, c.v, held
		c.v = i
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
// joins are performed. Vector 0 knows nothing.
func (d *clockPool) shows(i vecID, a history.Agent, time uint32, vectors int) bool {
	for ; i != 0 && vectors > 0; vectors-- {
		v := d.vec(i)
		if v.depth == 0 {
			t := d.lists[v.times]
			return int(a) < len(t) && t[a] >= time
		}
		for k := range v.from {
			if f := &v.from[k]; f.agent == a && f.time >= time {
				return true
			}
		}
		i = v.base
	}
	return false
}

// defers reports whether a clock has deferred joins, so that a question may have to perform them.
func (d *clockPool) defers(c *clock) bool { return c.v != 0 && d.vec(c.v).depth > 0 }

// reaches reports whether a clock knows a moment of an agent.
func (d *clockPool) reaches(c *clock, a history.Agent, time uint32) bool {
	if a == c.agent || !d.defers(c) {
		return d.at(c, a) >= time
	}
	if d.shows(c.v, a, time, maxChainLimit) {
		return true
	}
	d.answers++
	d.eager = d.eager || leastDeferred*d.answers > d.deferrals+fewDeferred
	return d.at(c, a) >= time
}

// shorten performs the deferred joins of two clocks whose chains are too long, if that costs
// little. Otherwise it doubles the limit and returns false.
func (d *Detector) shorten(c, from *clock) bool {
	within := mostVisits * len(d.agents)
	if d.chainLimit >= maxChainLimit {
		within = math.MaxInt
	}
	for _, i := range []vecID{from.v, c.v} {
		if i != 0 && d.vec(i).depth > 0 && !d.performWithin(i, within) {
			d.chainLimit *= 2
			return false
		}
	}
	return true
}

// perform performs the deferred joins of a vector.
func (d *clockPool) perform(i vecID) { d.performWithin(i, math.MaxInt) }

// performWithin is perform with a limit on visits. It returns false, and leaves the vector as it
// is, if the limit is too low.
func (d *clockPool) performWithin(i vecID, visits int) bool {
	list := d.newList()
	t := d.lists[list]
	bottom := d.vec(i).base
	for bottom != 0 && d.vec(bottom).depth > 0 {
		bottom = d.vec(bottom).base
	}
	if bottom != 0 {
		t = append(t, d.lists[d.vec(bottom).times]...)
	}
	queue := append(d.toVisit[:0], clock{v: i})
	for k := 0; k < len(queue); k++ {
		c := queue[k]
		if c.time > 0 && t[c.agent] > c.time {
			continue // a later moment of the agent has been found
		}
		for at := c.v; at != 0 && at != bottom; {
			d.visits++
			if visits--; visits < 0 {
				d.toVisit, d.lists[list] = queue, t
				d.freeLists = append(d.freeLists, list)
				return false
			}
			x := d.vec(at)
			if x.depth == 0 {
				known := d.lists[x.times]
				t = extend(t, len(known))
				raise(t, known)
				break
			}
			for n := range x.from {
				f := &x.from[n]
				if t = extend(t, int(f.agent)+1); t[f.agent] >= f.time {
					continue
				}
				if t[f.agent] = f.time; f.v != 0 {
					queue = append(queue, *f)
				}
			}
			at = x.base
		}
	}
	d.toVisit, d.lists[list] = queue, t
	d.eager = d.eager || d.visits > mostVisits*(d.deferrals+fewDeferred)
	d.dropDeferred(i)
	d.vec(i).times = list
	return true
}

// dropDeferred forgets the deferred joins of a vector.
func (d *clockPool) dropDeferred(i vecID) {
	v := d.vec(i)
	x := v.deferred
	v.deferred, v.depth = deferred{}, 0
	if x.base != 0 {
		d.dropVec(x.base)
	}
	for k := range x.from {
		d.drop(&x.from[k])
	}
}
