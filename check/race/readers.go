package race

import (
	"slices"

	"kernbench/record/history"
)

// readerIndex indexes the reads of a stretch by agent, if many agents read it and none writes.
// Without it each read searches the reads of all others. Invariant: it has every node of the list,
// and at most one node of each agent.
type readerIndex struct {
	by   []nodeID // by agent; 0: none
	last nodeID
}

// readersID is the number of a readerIndex in Detector.readerIndexes; number 0 is none.
type readersID uint32

// readerPool holds the readerIndexes.
type readerPool struct {
	readerIndexes []readerIndex
	freeReaders   []readersID
}

// manyReaders is the least length of a list that gets an index. The list must also have a node for
// every manyReaders agents.
const manyReaders = 16

// find returns the node of an agent, 0 for none, and the last of the list.
func (c *readerIndex) find(a history.Agent) (own, last nodeID) {
	if int(a) < len(c.by) {
		own = c.by[a]
	}
	return own, c.last
}

// add enters the new last node of the list. It reports false if its agent has one already.
func (c *readerIndex) add(a history.Agent, i nodeID) bool {
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

// indexReaders indexes the list of a stretch, unless an agent has two nodes in it.
func (d *Detector) indexReaders(s *seg) {
	if len(d.readerIndexes) == 0 {
		d.readerIndexes = append(d.readerIndexes, readerIndex{}) // number 0
	}
	if n := len(d.freeReaders); n > 0 {
		s.readers = d.freeReaders[n-1]
		d.freeReaders = d.freeReaders[:n-1]
	} else {
		s.readers = readersID(len(d.readerIndexes))
		d.readerIndexes = append(d.readerIndexes, readerIndex{})
	}
	c := &d.readerIndexes[s.readers]
	for i := s.rest; i != 0; i = d.nodeAt(i).next {
		if !c.add(d.nodeAt(i).agent, i) {
			d.dropReaders(s)
			return
		}
	}
}

// dropReaders gives back the index of a stretch, if it has one.
func (d *Detector) dropReaders(s *seg) {
	if s.readers == 0 {
		return
	}
	c := &d.readerIndexes[s.readers]
	clear(c.by)
	c.by, c.last = c.by[:0], 0
	d.freeReaders = append(d.freeReaders, s.readers)
	s.readers = 0
}
