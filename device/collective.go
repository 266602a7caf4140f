package device

import (
	"context"
	"fmt"

	"kernbench/collective"
	"kernbench/mem"
	"kernbench/tl"
)

// Call is one collective that a launch performed, with all that a judge needs.
type Call struct {
	Plan       *Plan
	Collective *collective.Collective
	Groups     []CallGroup // side by side: one, or one per shard with rank_level: sip
	Result     tl.Result
}

// ElemsPerRank is what each rank brings: a shard, or with rank_level: sip all shards of a
// SIP.
func (c *Call) ElemsPerRank() int {
	n := 0
	for i := range c.Groups {
		n += c.Groups[i].Call.Elems
	}
	return n
}

// CallGroup is the collective of one group of ranks.
type CallGroup struct {
	Call   collective.Call
	PEs    []int32    // by rank
	Addrs  []mem.Addr // physical, by rank: where the input was and the output is
	Inputs [][]byte   // by rank, as they were before; nil in a run without data
}

// Perform runs the algorithm of a plan on tensors: with rank_level: pe one per SIP whose
// shards are the contributions, with rank_level: sip one per SIP in the order of SIPs, of
// which shard k meets shard k of the others.
func (c *Context) Perform(ctx context.Context, p *Plan, op tl.ReduceOp, tensors []*Tensor) (*Launched, error) {
	a, err := c.sortOut(p.Name, []any{tensors, op})
	if err != nil {
		return nil, err
	}
	return c.perform(ctx, p, a)
}

func (c *Context) perform(ctx context.Context, p *Plan, a *arguments) (*Launched, error) {
	contributions, err := c.contributions(p, a.lead)
	if err != nil {
		return nil, fmt.Errorf("launch %s: %w", p.Name, err)
	}
	what, err := collective.Lookup(p.Algorithm.Collective)
	if err != nil {
		return nil, fmt.Errorf("algorithm %s: %w", p.Name, err)
	}
	call := &Call{Plan: p, Collective: what}
	groups := make([]tl.Group, len(contributions))
	for g, shards := range contributions {
		n := shards[0].Region.Elems()
		if p.Algorithm.Check != nil {
			if err := p.ask("Check", func() error { return p.Algorithm.Check(p.World, n) }); err != nil {
				return nil, fmt.Errorf("algorithm %s: %w", p.Name, err)
			}
		}
		pes := make([]int32, len(shards))
		addrs := make([]mem.Addr, len(shards))
		for r, s := range shards {
			pes[r], addrs[r] = int32(s.Rank), s.Addr
		}
		cc := collective.Call{World: p.World, Elems: n, Type: a.DType, Op: a.Op}
		if len(contributions) > 1 {
			cc.Labels = collective.Ranks{First: g * p.World, N: p.World, Stride: 1}
		}
		if err := fits(what, cc); err != nil {
			return nil, fmt.Errorf("launch %s: %w", p.Name, err)
		}
		call.Groups = append(call.Groups, CallGroup{Call: cc, PEs: pes, Addrs: addrs})
		groups[g] = tl.Group{PEs: pes, PEsPerCube: p.PEsPerCube, Wiring: p.Wiring, Args: a.on(pes)}
		if !a.hasInt && p.Algorithm.KernelArgs != nil {
			if err := p.ask("KernelArgs", func() error {
				groups[g].Args.Ints = p.Algorithm.KernelArgs(p.World, n)
				return nil
			}); err != nil {
				return nil, fmt.Errorf("algorithm %s: %w", p.Name, err)
			}
		}
	}
	if err := c.label(call, a); err != nil {
		return nil, fmt.Errorf("launch %s: %w", p.Name, err)
	}
	if c.first == nil {
		c.first = call
	}
	run, err := c.LaunchGroups(ctx, p.Name, p.Algorithm.Kernel, p.Ring, groups)
	if log := c.cfg.Executor.Data(); log != nil {
		log.End()
	}
	if err != nil {
		return nil, err
	}
	call.Result = run.Result
	run.Call = call
	if c.cfg.Check != nil {
		if err := c.cfg.Check(call); err != nil {
			return nil, err
		}
	}
	return run, nil
}

// fits tells whether a collective can be called like that, on shards of Elems elements.
func fits(what *collective.Collective, cc collective.Call) error {
	if err := what.Check(cc); err != nil {
		return err
	}
	for r := range cc.World {
		if n := max(what.In(cc, r), what.Out(cc, r)); n > cc.Elems {
			return fmt.Errorf("%w: %s needs %d elements on rank %d, its shard has %d", ErrShape, what.Name, n, r, cc.Elems)
		}
	}
	return nil
}

// label says in the data pass whose every contribution is, and keeps a copy of it.
func (c *Context) label(call *Call, a *arguments) error {
	log := c.cfg.Executor.Data()
	if log == nil {
		return nil
	}
	log.Begin(a.Op, call.Plan.World)
	for i := range call.Groups {
		g := &call.Groups[i]
		g.Inputs = make([][]byte, len(g.PEs))
		for r, addr := range g.Addrs {
			n := call.Collective.In(g.Call, r)
			if n == 0 {
				continue // it brings nothing, as to a barrier
			}
			data, err := log.Read(addr, g.Call.Type, n)
			if err != nil {
				return fmt.Errorf("contribution of rank %d (%s): %w", r, c.cfg.Machine.PEName(int(g.PEs[r])), err)
			}
			g.Inputs[r] = data
			label := r
			if g.Call.Labels.N > 0 {
				label = g.Call.Labels.At(r)
			}
			if err := log.Label(label, 0, addr, g.Call.Type, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// contributions finds by group and rank the shards that a collective works on.
func (c *Context) contributions(p *Plan, tensors []*Tensor) ([][]Shard, error) {
	var groups [][]Shard
	if p.PerSIP() {
		if len(tensors) != p.World {
			return nil, fmt.Errorf("%w: %d tensors for %d ranks; with rank_level: sip every SIP brings one", ErrShape, len(tensors), p.World)
		}
		for r, t := range tensors {
			if len(t.shards) != len(tensors[0].shards) {
				return nil, fmt.Errorf("%w: %s of rank 0 has %d shards and %s of rank %d has %d",
					ErrShape, tensors[0].name, len(tensors[0].shards), t.name, r, len(t.shards))
			}
		}
		groups = make([][]Shard, len(tensors[0].shards))
		for _, t := range tensors {
			for k, s := range t.shards {
				groups[k] = append(groups[k], s)
			}
		}
	} else {
		shards := shardsOf(tensors)
		if len(shards) != p.World {
			return nil, fmt.Errorf("%w: the tensors have %d shards and the plan %d ranks", ErrShape, len(shards), p.World)
		}
		for r, s := range shards {
			if int32(s.Rank) != p.PEs[r] {
				return nil, fmt.Errorf("%w: rank %d is %s, where the tensors have no shard", ErrShape, r, c.cfg.Machine.PEName(int(p.PEs[r])))
			}
		}
		groups = [][]Shard{shards}
	}
	if len(groups) == 0 {
		return nil, fmt.Errorf("%w: no contributions", ErrShape)
	}
	for _, g := range groups {
		want := g[0].Region.Elems()
		for r, s := range g {
			if got := s.Region.Elems(); got != want {
				return nil, fmt.Errorf("%w: rank %d (%s) brings %d elements, rank 0 brings %d", ErrShape, r, c.cfg.Machine.PEName(s.Rank), got, want)
			}
		}
	}
	return groups, nil
}
