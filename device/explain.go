package device

import (
	"kernbench/mem"
	"kernbench/record/history"
)

// RaceSide is one of the two accesses of a hazard, found by a judge of races.
type RaceSide struct {
	Agent history.AgentInfo
	Read  bool
	Spot  string // the operation and its source line
}

// Explanation describes a hazard by the calls of the interface with which a program posted its
// tasks.
type Explanation struct {
	Names  [2]string // short names of both sides; "": the name that the judge gives
	Calls  [2]string // calls that started the sides; "": none is known
	Remedy string    // "": that of the judge
}

// Explainer explains hazards of one launch. It returns nil if the launch has no such sides.
type Explainer func(first, second RaceSide, at mem.Addr) *Explanation

// ExplainWith sets the explainer of a launch's hazards. It does nothing in a run without a judge of
// races.
func (c *Context) ExplainWith(e Explainer) {
	if c.cfg.Fresh != nil {
		c.explainers = append(c.explainers, e)
	}
}

// Explain returns the explanation of a hazard by the latest launch that has one, or nil.
func (c *Context) Explain(first, second RaceSide, at mem.Addr) *Explanation {
	for i := len(c.explainers) - 1; i >= 0; i-- {
		if x := c.explainers[i](first, second, at); x != nil {
			return x
		}
	}
	return nil
}
