package race

import (
	"slices"

	"kernbench/record/history"
)

// vec is a vector clock: by agent, the time up to which that agent is known. Missing entries are 0.
// Its value never changes while it has more than one holder.
type vec struct {
	refs  int32
	given bool     // a holder other than its agent has had it
	t     []uint32 // all times; of a vec with deferred joins, see defer.go
	deferred
}

// clockPool holds vectors that are not in use, and the number of those that are.
type clockPool struct {
	vecs     []*vec // with memory for times
	bare     []*vec
	fresh    []vec // not used so far
	liveVecs int
	deferring
}

// clock is a moment of an agent: its own time, and what it knew of the others. The agent's own
// entry in v is not used, and is never later.
type clock struct {
	v     *vec
	agent history.Agent
	time  uint32
}

// at returns the time up to which the clock knows an agent.
func (c *clock) at(a history.Agent) uint32 {
	if a == c.agent {
		return c.time
	}
	if t := c.times(); int(a) < len(t) {
		return t[a]
	}
	return 0
}

// times returns what the clock knows of others.
func (c *clock) times() []uint32 {
	switch {
	case c.v == nil:
		return nil
	case c.v.depth > 0:
		c.v.perform()
	}
	return c.v.t
}

// width returns the number of agents that the clock may know.
func (c *clock) width() int {
	return max(int(c.agent)+1, len(c.times()))
}

// hold adds a holder of the clock.
func (c clock) hold() clock {
	if c.v != nil {
		c.v.refs++
		c.v.given = true
	}
	return c
}

// drop gives a held clock back.
func (d *clockPool) drop(c *clock) {
	if c.v != nil {
		d.dropVec(c.v)
	}
	*c = clock{}
}

func (d *clockPool) dropVec(v *vec) {
	if v.refs--; v.refs > 0 {
		return
	}
	d.liveVecs--
	if v.depth > 0 {
		d.dropDeferred(v)
	}
	if v.given = false; cap(v.t) > 0 {
		d.vecs = append(d.vecs, v)
	} else {
		d.bare = append(d.bare, v)
	}
}

// newVec returns a vector without times, with memory for some if there is one.
func (d *clockPool) newVec() *vec {
	if n := len(d.vecs); n > 0 {
		d.liveVecs++
		v := d.vecs[n-1]
		d.vecs = d.vecs[:n-1]
		v.refs, v.t = 1, v.t[:0]
		return v
	}
	return d.newBare()
}

// newBare returns a vector without memory for times.
func (d *clockPool) newBare() *vec {
	d.liveVecs++
	if n := len(d.bare); n > 0 {
		v := d.bare[n-1]
		d.bare = d.bare[:n-1]
		v.refs = 1
		return v
	}
	if len(d.fresh) == 0 {
		d.fresh = make([]vec, vecSlab)
	}
	v := &d.fresh[0]
	d.fresh = d.fresh[1:]
	v.refs = 1
	return v
}

// vecSlab is the number of vectors that are allocated at a time.
const vecSlab = 64

// mine returns a vec of the clock that no other clock holds, with at least n entries.
func (d *clockPool) mine(c *clock, n int) []uint32 {
	had := c.times()
	if c.v == nil || c.v.refs > 1 {
		v := d.newVec()
		v.t = slices.Grow(v.t, max(n, len(had)))
		v.t = append(v.t, had...)
		if c.v != nil {
			c.v.refs--
		}
		c.v = v
	}
	c.v.given = false
	c.v.t = extend(c.v.t, n)
	return c.v.t
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
	if d.deferJoin(c, from) || c.at(from.agent) >= from.time {
		return
	}
	d.joinTimes(c, from.times())
	d.mine(c, int(from.agent)+1)[from.agent] = from.time
}

// joinTimes adds times to the knowledge of a clock.
func (d *clockPool) joinTimes(c *clock, t []uint32) {
	if len(t) == 0 {
		return
	}
	had := c.times()
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
