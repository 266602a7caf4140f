package tl

import (
	"fmt"
	"slices"

	"kernbench/mem"
)

// checkLocal refuses what a kernel must not do whose launch is local.
func (c *Context) checkLocal() {
	switch in := &c.in; in.Op {
	case OpMath, OpGemm, OpPost:
	case OpLoad, OpStore:
		c.checkOwn(in.Addr)
	case OpSend:
		if d := c.wiring.Out[in.Port].Dir; c.sends != nil && !slices.Contains(c.sends, d) {
			c.misuse(in.Op.String(), fmt.Sprintf("the launch is local and sends in directions %v, not in %v", c.sends, d))
		}
		if in.A == None && in.N > 0 {
			c.checkOwn(in.Addr)
		}
	case OpRecv:
		switch {
		case in.Port == AnyPort:
			c.misuse(in.Op.String(), "the launch is local: a receive names its direction")
		case in.Copy && in.Dst == None:
			c.misuse(in.Op.String(), "the launch is local: what is received to memory is stored by the kernel itself")
		}
	default:
		c.misuse(in.Op.String(), "the launch is local: there are loads, stores, arithmetic, sends and receives")
	}
}

func (c *Context) checkOwn(a mem.Addr) {
	if a.Space() != mem.HBM || a.Unit() != c.pe {
		c.misuse(c.in.Op.String(), fmt.Sprintf("the launch is local: %v is not in the HBM slice of this PE", a))
	}
}
