package race

import (
	"slices"

	"kernbench/record/history"
)

// vec is a vector clock: by agent, the time up to which that agent is known. Missing entries are 0.
// It never changes while it has more than one holder.
type vec struct {
	refs int32
	t    []uint32
}

// clockPool holds vectors that are not in use, and the number of those that are.
type clockPool struct {
	vecs     []*vec
	liveVecs int
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
	switch {
	case a == c.agent:
		return c.time
	case c.v == nil || int(a) >= len(c.v.t):
		return 0
	}
	return c.v.t[a]
}

// width returns the number of agents that the clock may know.
func (c *clock) width() int {
	n := int(c.agent) + 1
	if c.v != nil {
		n = max(n, len(c.v.t))
	}
	return n
}

// hold adds a holder of the clock.
func (c clock) hold() clock {
	if c.v != nil {
		c.v.refs++
	}
	return c
}

// drop gives a held clock back.
func (d *Detector) drop(c *clock) {
	if v := c.v; v != nil {
		if v.refs--; v.refs == 0 {
			d.vecs = append(d.vecs, v)
			d.liveVecs--
		}
	}
	*c = clock{}
}

func (d *Detector) newVec() *vec {
	d.liveVecs++
	if n := len(d.vecs); n > 0 {
		v := d.vecs[n-1]
		d.vecs = d.vecs[:n-1]
		v.refs, v.t = 1, v.t[:0]
		return v
	}
	return &vec{refs: 1}
}

// mine returns a vec of the clock that no other clock holds, with at least n entries.
func (d *Detector) mine(c *clock, n int) []uint32 {
	if c.v == nil || c.v.refs > 1 {
		v := d.newVec()
		if c.v != nil {
			v.t = append(v.t, c.v.t...)
			c.v.refs--
		}
		c.v = v
	}
	if len(c.v.t) < n {
		c.v.t = slices.Grow(c.v.t, n-len(c.v.t))
		for len(c.v.t) < n {
			c.v.t = append(c.v.t, 0)
		}
	}
	return c.v.t
}

// join adds the knowledge of another clock. A clock that knows a moment of an agent knows all that
// the agent knew then. So one entry shows whether there is anything to add.
func (d *Detector) join(c, from *clock) {
	if c.at(from.agent) >= from.time {
		return
	}
	if from.v != nil {
		d.joinTimes(c, from.v.t)
	}
	d.mine(c, int(from.agent)+1)[from.agent] = from.time
}

func (d *Detector) joinTimes(c *clock, t []uint32) {
	n := 0 // entries that both have
	if c.v != nil {
		n = min(len(t), len(c.v.t))
	}
	i := 0
	if n > 0 {
		i = firstLater(c.v.t[:n], t[:n])
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
