package tl

import "fmt"

// Turn is one rank's part of a collective that a task of a communication engine performs, in
// parallel to other collectives and other work. The data pass gets the contribution at
// the start of the collective, and the place of its result at the end. So the result of each
// collective is checked separately. A Turn takes no simulated time.
type Turn struct {
	ID      int32    // of the collective in this run, from 1 on: the same on all its ranks
	World   int      // ranks of the collective
	Rank    int      // this one among them
	Op      ReduceOp // operator that merges contributions
	Label   int      // label of this rank's contribution, distinct per collective
	In, Out []Ref    // contribution and result, in the order of the collective's definition; each in one shard

	Name  string // of the work in reports, such as "AllReduce handle 0 turn 0"; empty: reports have ID
	Await string // the call that waits until the turn has ended; empty: none is known
}

// BeginTurn reports that a collective begins for this rank. Its instructions merge contributions
// until EndTurn.
func (d Driver) BeginTurn(t *Turn) {
	c := d.c
	switch {
	case c.turn != nil:
		c.misuse("begin_turn", fmt.Sprintf("turn %d has not ended: end it first", c.turn.ID))
	case t == nil:
		c.misuse("begin_turn", "there is no turn")
	case t.ID < 1:
		c.misuse("begin_turn", fmt.Sprintf("turn number %d: a turn has a number of at least 1", t.ID))
	case t.Op > Avg:
		c.misuse("begin_turn", fmt.Sprintf("turn %d: %v is no reduction", t.ID, t.Op))
	}
	own := *t
	own.In, own.Out = c.turnRefs(t.In), c.turnRefs(t.Out)
	c.turn = &own
	c.emit(&Instr{Op: OpBeginTurn, Dst: None, A: None, B: None, C: None, Turn: c.turn})
}

// EndTurn reports that the result of the turn that has begun is there.
func (d Driver) EndTurn() {
	c := d.c
	if c.turn == nil {
		c.misuse("end_turn", "no turn has begun")
	}
	ended := c.turn
	c.turn = nil
	c.emit(&Instr{Op: OpEndTurn, Dst: None, A: None, B: None, C: None, Turn: ended})
}

// turnRefs returns the references of a list that are not empty, with physical addresses.
func (c *Context) turnRefs(list []Ref) []Ref {
	var refs []Ref
	for _, r := range list {
		if r.Len() > 0 {
			refs = append(refs, c.physical("begin_turn", r))
		}
	}
	return refs
}
