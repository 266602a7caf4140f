package tl

import "fmt"

// Turn is one rank's part of a collective that a task of a communication engine performs, in
// parallel to other collectives and other work. It gives the data pass the contribution at the
// start of the collective and the place of its result at the end. So each collective is judged
// separately. It takes no time.
type Turn struct {
	ID      int32    // of the collective in this run, from 1 on: the same on all its ranks
	World   int      // ranks of the collective
	Rank    int      // this one among them
	Op      ReduceOp // by which contributions are merged
	Label   int      // label of this rank's contribution, distinct per collective
	In, Out []Ref    // contribution and result, in the order of the collective's definition; each in one shard

	Name  string // of the work, for reports: AllReduce handle 0 turn 0; empty: the number
	Await string // the call that waits until the turn has ended; empty: none is known
}

func (c *Context) beginTurn(t *Turn) {
	if c.turn != nil || t == nil || t.ID < 1 || t.Op > Avg {
		c.misuse("begin_turn", fmt.Sprintf("%+v: turns have numbers from 1 on, and one ends before the next begins", t))
	}
	own := *t
	own.In, own.Out = c.turnRefs(t.In), c.turnRefs(t.Out)
	c.turn = &own
	c.emit(&Instr{Op: OpBeginTurn, Dst: None, A: None, B: None, C: None, Turn: c.turn})
}

func (c *Context) endTurn() {
	if c.turn == nil {
		c.misuse("end_turn", "no turn has begun")
	}
	ended := c.turn
	c.turn = nil
	c.emit(&Instr{Op: OpEndTurn, Dst: None, A: None, B: None, C: None, Turn: ended})
}

// turnRefs returns a list at the addresses where it lies, without what is empty.
func (c *Context) turnRefs(list []Ref) []Ref {
	var refs []Ref
	for _, r := range list {
		if r.Len() > 0 {
			refs = append(refs, c.physical("begin_turn", r))
		}
	}
	return refs
}
