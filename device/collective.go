package device

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"kernbench/collective"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// Call is one collective that a launch performed, with the inputs of a judge.
type Call struct {
	Title      string // its name in reports if the launch has several collectives; else ""
	Turn       int32  // number of its turns if programs of streams performed it; else 0
	Plan       *Plan
	Collective *collective.Collective
	Groups     []CallGroup // side by side: one, or one per shard with rank_level: sip
}

// ElemsPerRank returns the elements of each rank's contribution: a shard, or with rank_level: sip
// all shards of a SIP.
func (c *Call) ElemsPerRank() int {
	n := 0
	for i := range c.Groups {
		n += c.Groups[i].Call.Elems
	}
	return n
}

// CallGroup is the collective of one group of ranks.
type CallGroup struct {
	Call     collective.Call
	PEs      []int32    // by rank
	Addrs    []mem.Addr // physical, by rank: where the input was
	OutAddrs []mem.Addr // and where the output is; nil: in the place of the input
	Inputs   [][]byte   // by rank, before the launch; nil in a run without data, and if they were not requested

	// Outputs are the results and Provs their provenance, if they were copied during the launch.
	// Memory may have changed since, so there are no addresses. Nil: results are in memory.
	Outputs [][]byte
	Provs   []collective.Prov
	Wrote   [][]int32 // the operation that wrote each element: see oplog.Log.Writers
}

// Out returns the physical address of the result of a rank, if it is in memory.
func (g *CallGroup) Out(rank int) mem.Addr {
	if g.OutAddrs == nil {
		return g.Addrs[rank]
	}
	return g.OutAddrs[rank]
}

// Perform runs the algorithm of a plan on tensors. With rank_level: pe there is one per SIP, whose
// shards are the contributions. With rank_level: sip there is one per SIP in the order of SIPs, and
// shard k is combined with shard k of the others. Results replace the contributions, unless the
// option Into sets their place.
//
// An algorithm that works on a symmetric window gets a new one of zeros, which is freed when
// Perform returns.
func (c *Context) Perform(ctx context.Context, p *Plan, op tl.ReduceOp, tensors []*Tensor, options ...Option) (*Launched, error) {
	args := []any{tensors, op}
	for _, o := range options {
		args = append(args, o)
	}
	a, err := c.sortOut(p.Name, args)
	if err != nil {
		return nil, err
	}
	return c.perform(ctx, p, a)
}

func (c *Context) perform(ctx context.Context, p *Plan, a *arguments) (run *Launched, err error) {
	if err := c.idleAll(); err != nil {
		return nil, fmt.Errorf("launch %s: %w", p.Name, err)
	}
	contributions, err := c.contributions(p, a.lead)
	if err != nil {
		return nil, fmt.Errorf("launch %s: %w", p.Name, err)
	}
	if p, err = p.chosen(a, contributions[0]); err != nil {
		return nil, err // which has the name of the call
	}
	what, err := collective.Lookup(p.Algorithm.Collective)
	if err != nil {
		return nil, fmt.Errorf("algorithm %s: %w", p.Name, err)
	}
	call := &Call{Plan: p, Collective: what}
	groups := make([]launch.Group, len(contributions))
	acc := p.accumulation(what, collective.Call{Type: a.DType, Op: a.Op})
	rails := tl.Rails{Count: 1}
	var windows []*mem.Window
	defer func() {
		for _, w := range windows {
			err = errors.Join(err, c.release(w), c.release(w.Team.Meeting))
		}
	}()
	for g, shards := range contributions {
		cc := collective.Call{World: p.World, Elems: shards[0].Region.Elems(), Type: a.DType, Op: a.Op}
		if len(contributions) > 1 {
			cc.Labels = collective.Ranks{First: g * p.World, N: p.World, Stride: 1}
		}
		cg, group, err := c.group(p, what, a, cc, shards)
		if err != nil {
			return nil, err
		}
		name := p.Name
		if len(contributions) > 1 {
			name = fmt.Sprintf("%s.%d", name, g)
		}
		seen := acc.call(cg)
		layouts, err := c.layouts(p, &seen)
		if err != nil {
			return nil, fmt.Errorf("launch %s: window: %w", p.Name, err)
		}
		for i, l := range layouts {
			w, err := c.windowOf(p, name, &seen, l)
			if err != nil {
				return nil, fmt.Errorf("launch %s: window: %w", p.Name, err)
			}
			windows = append(windows, w)
			group.Args.Windows = slices.Insert(slices.Clone(group.Args.Windows), i, w)
		}
		if acc != nil {
			w, err := c.stage(acc, name+".accumulate", &cg, &group)
			if err != nil {
				return nil, fmt.Errorf("launch %s: %w", p.Name, err)
			}
			windows = append(windows, w)
		}
		rails = p.Rails(cg.Call)
		group.OnRails(rails)
		call.Groups, groups[g] = append(call.Groups, cg), group
	}
	if err := c.label(call, a); err != nil {
		return nil, fmt.Errorf("launch %s: %w", p.Name, err)
	}
	if c.first == nil {
		c.first = call
	}
	kernel := p.Algorithm.Kernel
	if acc != nil {
		kernel = acc.run(what, call.Groups[0].Call.Root)
	}
	l := &launch.Launch{Name: p.Name, Kernel: kernel, Groups: groups, Ring: c.channels(p, what.Bytes(call.Groups[0].Call), rails)}
	run, err = c.launch(ctx, l)
	if log := c.log(); log != nil {
		log.End()
	}
	if err != nil {
		return nil, err
	}
	run.Calls = []*Call{call}
	if c.cfg.Check != nil {
		if err := c.cfg.Check(call); err != nil {
			return nil, err
		}
	}
	return run, nil
}

// group completes the call of one group of ranks, and the arguments that its kernels get.
func (c *Context) group(p *Plan, what *collective.Collective, a *arguments, cc collective.Call,
	shards []Shard) (CallGroup, launch.Group, error) {
	cg := CallGroup{PEs: make([]int32, len(shards)), Addrs: make([]mem.Addr, len(shards))}
	for r, s := range shards {
		cg.PEs[r], cg.Addrs[r] = int32(s.Rank), s.Addr
	}
	group := launch.Group{PEs: cg.PEs, PEsPerCube: p.PEsPerCube, Wiring: p.Wiring, Args: a.on(cg.PEs)}
	if given := c.cfg.Given; given != nil && p.Algorithm == given.Algorithm && given.Blocks != nil {
		group.Blocks, group.Wiring = given.Blocks, given.BlockWiring
	}
	group.Args.ChunkBytes, group.Args.LatencyBytes = int64(p.Config.ChunkSize), p.LatencyBytes
	group.Args.Channels = c.cfg.Machine.Topology().Software().Channels.Count
	group.Args.Levels = levels(c.cfg.Machine, cg.PEs)
	if err := p.ask("Check", func() error { return p.Refuses(cc) }); err != nil {
		return cg, group, fmt.Errorf("algorithm %s: %w", p.Name, err)
	}
	if !a.hasInt && p.Algorithm.KernelArgs != nil {
		if err := p.ask("KernelArgs", func() error {
			group.Args.Ints = p.Algorithm.KernelArgs(p.World, cc.Elems)
			return nil
		}); err != nil {
			return cg, group, fmt.Errorf("algorithm %s: %w", p.Name, err)
		}
	}
	err := a.root(what, &group.Args, &cc)
	if err == nil {
		err = c.results(a, &cg, &group.Args)
	}
	if err == nil {
		err = fits(what, cc, group.Args.OutElems)
	}
	if err != nil {
		return cg, group, fmt.Errorf("launch %s: %w", p.Name, err)
	}
	cg.Call, group.Args.TransferChannels = cc, p.transferChannels(cc)
	return cg, group, nil
}

// fits returns an error if the collective cannot be called on shards of Elems elements, with
// results in place or in shards of outs elements.
func fits(what *collective.Collective, cc collective.Call, outs []int) error {
	if err := what.Check(cc); err != nil {
		return err
	}
	if what.Apart && outs == nil {
		return fmt.Errorf("%w: results of %s cannot take the place of the contributions: say with Into where they go", ErrShape, what.Name)
	}
	for r := range cc.World {
		in, out := what.In(cc, r), what.Out(cc, r)
		switch {
		case outs == nil && max(in, out) > cc.Elems:
			return fmt.Errorf("%w: %s needs %d elements on rank %d, its shard has %d", ErrShape, what.Name, max(in, out), r, cc.Elems)
		case in > cc.Elems:
			return fmt.Errorf("%w: %s needs %d elements from rank %d, its shard has %d", ErrShape, what.Name, in, r, cc.Elems)
		case outs != nil && out > outs[r]:
			return fmt.Errorf("%w: %s leaves %d elements on rank %d, its shard of the results has %d", ErrShape, what.Name, out, r, outs[r])
		}
	}
	return nil
}

// label labels the contributions in the data pass, and keeps copies of those needed later. Memory
// of separate results is marked as unwritten, so that results of an earlier call do not count.
func (c *Context) label(call *Call, a *arguments) error {
	log := c.log()
	if log == nil {
		return nil
	}
	log.Begin(a.Op, call.Plan.World)
	for i := range call.Groups {
		g := &call.Groups[i]
		brought := make([][]byte, len(g.PEs))
		for r, addr := range g.Addrs {
			if n := call.Collective.In(g.Call, r); n > 0 { // a rank may have no contribution, as for a barrier
				var err error
				if brought[r], err = log.Look(addr, g.Call.Type, n); err != nil {
					return fmt.Errorf("contribution of rank %d (%s): %w", r, c.cfg.Machine.PEName(int(g.PEs[r])), err)
				}
			}
		}
		keep := true
		if c.cfg.Contributed != nil {
			var err error
			if keep, err = c.cfg.Contributed(call, g, func(r int) []byte { return brought[r] }); err != nil {
				return err
			}
		}
		if keep {
			g.Inputs = make([][]byte, len(g.PEs))
			for r := range brought {
				g.Inputs[r] = bytes.Clone(brought[r])
			}
		}
		for r, addr := range g.OutAddrs {
			n := call.Collective.Out(g.Call, r)
			if n == 0 {
				continue
			}
			err := log.Forget(addr, g.Call.Type, n)
			if size := mem.Addr(g.Call.Type.Size()); err == nil && g.Addrs[r] < addr+mem.Addr(n)*size &&
				addr < g.Addrs[r]+mem.Addr(len(brought[r])) {
				err = log.Write(g.Addrs[r], g.Call.Type, brought[r]) // memory that both share is still a contribution
			}
			if err != nil {
				return fmt.Errorf("result of rank %d (%s): %w", r, c.cfg.Machine.PEName(int(g.PEs[r])), err)
			}
		}
		for r, addr := range g.Addrs {
			label := r
			if g.Call.Labels.N > 0 {
				label = g.Call.Labels.At(r)
			}
			if n := call.Collective.In(g.Call, r); n > 0 {
				if err := log.Label(label, 0, addr, g.Call.Type, n); err != nil {
					return err
				}
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
			return nil, fmt.Errorf("%w: %d tensors for %d ranks; with rank_level: sip every SIP brings one", ErrShape,
				len(tensors), p.World)
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
				return nil, fmt.Errorf("%w: rank %d is %s, where the tensors have no shard", ErrShape, r,
					c.cfg.Machine.PEName(int(p.PEs[r])))
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
				return nil, fmt.Errorf("%w: rank %d (%s) contributes %d elements, but rank 0 contributes %d", ErrShape, r,
					c.cfg.Machine.PEName(s.Rank), got, want)
			}
		}
	}
	return groups, nil
}
