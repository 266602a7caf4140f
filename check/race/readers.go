package race

import (
	"slices"

	"kernbench/record/history"
)

// crowd indexes the reads of a stretch by agent, if many agents read and none writes. Without it
// each read searches the reads of all others. Invariant: it has every node of the list, and no
// agent has two.
type crowd struct {
	by   []nodeID // by agent; 0: none
	last nodeID
}

// crowdID is the number of a crowd in Detector.crowds; number 0 is none.
type crowdID uint32

// crowdPool holds the crowds.
type crowdPool struct {
	crowds     []crowd
	freeCrowds []crowdID
}

// manyReaders is the length of a list from which on it gets a crowd, and the largest number of
// agents per node.
const manyReaders = 16

// find returns the node of an agent, 0 for none, and the last of the list.
func (c *crowd) find(a history.Agent) (own, last nodeID) {
	if int(a) < len(c.by) {
		own = c.by[a]
	}
	return own, c.last
}

// add enters the new last node of the list. It reports false if its agent has one already.
func (c *crowd) add(a history.Agent, i nodeID) bool {
	if n := int(a) + 1; n > len(c.by) {
		c.by = slices.Grow(c.by, n-len(c.by))
		for len(c.by) < n {
			c.by = append(c.by, 0)
		}
	}
	if c.by[a] != 0 {
		return false
	}
	c.by[a], c.last = i, i
	return true
}

// gather makes a crowd of the list of a stretch, unless an agent has two nodes in it.
func (d *Detector) gather(s *seg) {
	if len(d.crowds) == 0 {
		d.crowds = append(d.crowds, crowd{}) // number 0
	}
	if n := len(d.freeCrowds); n > 0 {
		s.crowd = d.freeCrowds[n-1]
		d.freeCrowds = d.freeCrowds[:n-1]
	} else {
		s.crowd = crowdID(len(d.crowds))
		d.crowds = append(d.crowds, crowd{})
	}
	c := &d.crowds[s.crowd]
	for i := s.rest; i != 0; i = d.nodeAt(i).next {
		if !c.add(d.nodeAt(i).agent, i) {
			d.disperse(s)
			return
		}
	}
}

// disperse gives back the crowd of a stretch, if it has one.
func (d *Detector) disperse(s *seg) {
	if s.crowd == 0 {
		return
	}
	c := &d.crowds[s.crowd]
	clear(c.by)
	c.by, c.last = c.by[:0], 0
	d.freeCrowds = append(d.freeCrowds, s.crowd)
	s.crowd = 0
}
