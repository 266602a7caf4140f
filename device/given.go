package device

import (
	"fmt"

	"kernbench/algorithm"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/topology"
	"kernbench/unit"
)

// Given is an unregistered algorithm with wiring of its own: a program from a file. Its algorithm
// needs no Topology and no Window.
type Given struct {
	Algorithm *algorithm.Algorithm
	Wiring    []tl.Wiring // by rank

	// Blocks are those of all ranks, as in launch.Group, and BlockWiring their rings. Nil: each
	// rank has one, with the rings of Wiring.
	Blocks      []launch.Block
	BlockWiring []tl.Wiring

	Slots     int // of each ring
	SlotBytes int64
	Scratch   int64         // bytes that each rank needs
	Windows   []*mem.Layout // symmetric memory of a call
}

// ownWiring is the topology of a Given, for reports.
var ownWiring = &topology.Topology{Name: "its own wiring"}

// installGiven makes the algorithm of the configuration ready. An entry of ccl.yaml of its name
// has its settings.
func (c *Context) installGiven() (*Plan, error) {
	g := c.cfg.Given
	cfg, err := c.cfg.CCL.Resolve(g.Algorithm.Name)
	if err != nil {
		cfg = c.cfg.CCL.Merge(g.Algorithm.Name)
	}
	if cfg.RankLevel == "sip" {
		return nil, fmt.Errorf("program %s: found rank_level sip, want pe: ranks of a program are PEs", g.Algorithm.Name)
	}
	if have := int64(c.Scratch()); g.Scratch > have {
		return nil, fmt.Errorf("program %s: it needs %d bytes of scratch memory, a PE has %d", g.Algorithm.Name, g.Scratch, have)
	}
	if err := c.needs(g.Algorithm.Name, g.Algorithm, g.Windows != nil); err != nil {
		return nil, err
	}
	cfg.Accumulate = "same" // the program sets the types of partial sums
	cfg.NSlots, cfg.RingSlots, cfg.SlotSize = g.Slots, "none", unit.Bytes(g.SlotBytes)
	p := &Plan{Name: cfg.Name, Algorithm: g.Algorithm, Topology: ownWiring, Config: cfg, World: len(g.Wiring), Wiring: g.Wiring}
	pes := c.cfg.PEs
	if pes != nil {
		if err := c.checkPEs(&cfg, pes); err != nil {
			return nil, fmt.Errorf("program %s: %w", p.Name, err)
		}
		if len(pes) != p.World {
			return nil, fmt.Errorf("program %s: it has %d ranks, %d PEs are to take part", p.Name, p.World, len(pes))
		}
	}
	if _, err := c.world(&cfg, p.World); err != nil {
		return nil, fmt.Errorf("program %s: %w", p.Name, err)
	}
	c.seat(p, pes)
	if err := c.timing(p); err != nil {
		return nil, err
	}
	c.plan = p
	return p, nil
}

// layouts returns the layouts of the windows that a call of a plan needs.
func (c *Context) layouts(p *Plan, g *CallGroup) ([]*mem.Layout, error) {
	switch {
	case c.cfg.Given != nil && p.Algorithm == c.cfg.Given.Algorithm:
		return c.cfg.Given.Windows, nil
	case p.Algorithm.Window == nil:
		return nil, nil
	}
	l, err := p.layout(g)
	return []*mem.Layout{l}, err
}
