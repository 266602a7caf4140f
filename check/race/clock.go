package race

import (
	"slices"

	"kernbench/record/history"
)

// vec is a vector clock: by agent, the time up to which that agent is known. Missing entries are 0.
// Its value never changes while it has more than one holder. There may be as many as messages. So
// it holds no pointer.
type vec struct {
	refs  int32
	depth int16   // length of the longest chain of vectors with deferred joins from here; 0: none
	given bool    // a holder other than its agent has had it
	times timesID // all times; of a vec with deferred joins, see defer.go
	deferred
}

// vecID is the number of a vec; 0: none.
type vecID uint32

// timesID is the number of a list of times; 0: none.
type timesID uint32

// Vectors lie in slabs of vecSlab vectors.
const (
	vecBits = 10
	vecSlab = 1 << vecBits
)

// clockPool holds the vectors, and the lists of times.
type clockPool struct {
	vecs      [][]vec // in slabs
	numVecs   vecID
	freeVecs  vecID // the first one that is not in use, which are linked by base
	lists     [][]uint32
	freeLists []timesID
	liveVecs  int
	deferring
}

// vec returns the vector with a number.
func (d *clockPool) vec(i vecID) *vec { return &d.vecs[i>>vecBits][i&(vecSlab-1)] }

// clock is a moment of an agent: its own time, and what it knew of the others. The agent's own
// entry in v is not used, and is never later.
type clock struct {
	v     vecID
	agent history.Agent
	time  uint32
}

// at returns the time up to which a clock knows an agent.
func (d *clockPool) at(c *clock, a history.Agent) uint32 {
	if a == c.agent {
		return c.time
	}
	if t := d.times(c); int(a) < len(t) {
		return t[a]
	}
	return 0
}

// times returns what a clock knows of others.
func (d *clockPool) times(c *clock) []uint32 {
	if c.v == 0 {
		return nil
	}
	if d.vec(c.v).depth > 0 {
		d.perform(c.v)
	}
	return d.lists[d.vec(c.v).times]
}

// width returns the number of agents that a clock may know.
func (d *clockPool) width(c *clock) int {
	return max(int(c.agent)+1, len(d.times(c)))
}

// holdClock adds a holder of a clock.
func (d *clockPool) holdClock(c clock) clock {
	if c.v != 0 {
		v := d.vec(c.v)
		v.refs++
		v.given = true
	}
	return c
}

// drop gives a held clock back.
func (d *clockPool) drop(c *clock) {
	if c.v != 0 {
		d.dropVec(c.v)
	}
	*c = clock{}
}

func (d *clockPool) dropVec(i vecID) {
	v := d.vec(i)
	if v.refs--; v.refs > 0 {
		return
	}
	d.liveVecs--
	if v.depth > 0 {
		d.dropDeferred(i)
	}
	if v.times != 0 {
		d.freeLists = append(d.freeLists, v.times)
	}
	*v = vec{deferred: deferred{base: d.freeVecs}}
	d.freeVecs = i
}

// newVec returns the number of a vector without times.
func (d *clockPool) newVec() vecID {
	d.liveVecs++
	i := d.freeVecs
	if i != 0 {
		v := d.vec(i)
		d.freeVecs, v.base = v.base, 0
	} else {
		d.numVecs++
		if i = d.numVecs; int(i>>vecBits) >= len(d.vecs) {
			d.vecs = append(d.vecs, make([]vec, vecSlab))
		}
	}
	d.vec(i).refs = 1
	return i
}

// newList returns the number of an empty list of times, with memory for some if there is one.
func (d *clockPool) newList() timesID {
	if n := len(d.freeLists); n > 0 {
		i := d.freeLists[n-1]
		d.freeLists = d.freeLists[:n-1]
		d.lists[i] = d.lists[i][:0]
		return i
	}
	d.lists = append(d.lists, nil)
	return timesID(len(d.lists) - 1)
}

// setTimes sets the times of a vector.
func (d *clockPool) setTimes(i vecID, t []uint32) {
	v := d.vec(i)
	if v.times == 0 {
		v.times = d.newList()
	}
	d.lists[v.times] = t
}

// mine returns the times of a vector of the clock that no other clock holds, with at least n
// entries.
func (d *clockPool) mine(c *clock, n int) []uint32 {
	had := d.times(c)
	if c.v == 0 || d.vec(c.v).refs > 1 {
		i := d.newVec()
		l := d.newList()
		d.vec(i).times = l
		t := slices.Grow(d.lists[l], max(n, len(had)))
		d.lists[l] = append(t, had...)
		if c.v != 0 {
			d.vec(c.v).refs--
		}
		c.v = i
	}
	d.vec(c.v).given = false
	t := extend(d.lists[d.vec(c.v).times], n)
	d.setTimes(c.v, t)
	return t
}

// extend returns t with at least n entries.
func extend(t []uint32, n int) []uint32 {
	if had := len(t); had < n {
		t = slices.Grow(t, n-had)[:n]
		clear(t[had:])
	}
	return t
}

// join adds the knowledge of another clock. A clock that knows a moment of an agent knows all that
// the agent knew then. So one entry shows whether there is anything to add.
func (d *Detector) join(c, from *clock) {
	if d.deferJoin(c, from) || d.at(c, from.agent) >= from.time {
		return
	}
	d.joinTimes(c, d.times(from))
	d.mine(c, int(from.agent)+1)[from.agent] = from.time
}

// joinTimes adds times to the knowledge of a clock.
func (d *clockPool) joinTimes(c *clock, t []uint32) {
	if len(t) == 0 {
		return
	}
	had := d.times(c)
	n := min(len(t), len(had)) // entries that both have
	i := 0
	if n > 0 {
		i = firstLater(had[:n], t[:n])
	}
	if i == n {
		for i < len(t) && t[i] == 0 {
			i++
		}
	}
	if i < len(t) {
		raise(d.mine(c, len(t))[i:], t[i:])
	}
}
