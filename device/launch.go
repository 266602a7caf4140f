package device

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"kernbench/conf"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// launches is the record of a context's launches.
type launches struct {
	runs       []*Launched
	first      *Call // the first collective, even if it did not end
	turns      int32 // numbered so far
	explainers []Explainer
}

// Launch runs an algorithm by its name: InstallIPCQ(name) if that has not been done, then its
// kernel on the ranks of the plan. Their contributions are the shards of the first tensor (or list
// of tensors, one per SIP). If no numbers are given, the
// algorithm computes them from the world size and the elements per rank.
func (c *Context) Launch(ctx context.Context, name string, args ...any) (*Launched, error) {
	p := c.plan
	if p == nil || p.Name != name {
		var err error
		if p, err = c.InstallIPCQ(name); err != nil {
			return nil, err
		}
	}
	a, err := c.sortOut(name, args)
	if err != nil {
		return nil, err
	}
	return c.perform(ctx, p, a)
}

// LaunchKernel runs a kernel that is not registered and performs no collective. It uses the ranks
// and rings of the plan that was installed last. Without a plan it uses the PEs of the first
// tensor, without rings.
func (c *Context) LaunchKernel(ctx context.Context, name string, k tl.Kernel, args ...any) (*Launched, error) {
	a, err := c.sortOutPlain(name, args)
	if err != nil {
		return nil, err
	}
	if c.plan != nil && !c.plan.PerSIP() {
		p := c.plan
		g := launch.Group{PEs: p.PEs, PEsPerCube: p.PEsPerCube, Wiring: p.Wiring, Args: a.on(p.PEs)}
		return c.LaunchGroups(ctx, name, k, p.Ring, []launch.Group{g})
	}
	pes := peList(shardsOf(a.lead))
	if len(pes) == 0 {
		return nil, fmt.Errorf("launch %s: %w: give a tensor, or install a plan (InstallIPCQ), to choose the PEs", name, ErrLaunch)
	}
	return c.launchBare(ctx, name, k, pes, a)
}

// LaunchTeam runs a kernel on the members of a team: a rank is that of the team. There are no
// rings; members talk through windows. Of the first tensor each member has its shard.
func (c *Context) LaunchTeam(ctx context.Context, name string, k tl.Kernel, t *mem.Team, args ...any) (*Launched, error) {
	if err := c.usableTeam(t); err != nil {
		return nil, fmt.Errorf("launch %s: %w: %w", name, ErrTeam, err)
	}
	a, err := c.sortOutPlain(name, args)
	if err != nil {
		return nil, err
	}
	return c.launchBare(ctx, name, k, t.PEs, a)
}

// launchBare runs a kernel on some PEs without rings.
func (c *Context) launchBare(ctx context.Context, name string, k tl.Kernel, pes []int32, a *arguments) (*Launched, error) {
	defaults := c.cfg.CCL.Merge(name)
	ring, err := c.ringOf(&defaults, conf.OnRings)
	if err != nil {
		return nil, err
	}
	g := launch.Group{PEs: pes, PEsPerCube: c.perCube(pes), Wiring: make([]tl.Wiring, len(pes)), Args: a.on(pes)}
	return c.LaunchGroups(ctx, name, k, ring, []launch.Group{g})
}

// LaunchGroups starts a kernel on explicit groups of PEs, all at the same simulated time.
func (c *Context) LaunchGroups(ctx context.Context, name string, k tl.Kernel, ring tl.Ring, groups []launch.Group) (*Launched, error) {
	return c.launch(ctx, &launch.Launch{Name: name, Kernel: k, Groups: groups, Ring: ring})
}

// launch starts a kernel as a Launch describes it, in the memory of this device.
func (c *Context) launch(ctx context.Context, l *launch.Launch) (*Launched, error) {
	name, groups := l.Name, l.Groups
	if c.cfg.Executor == nil {
		return nil, fmt.Errorf("launch %s: %w: %w", name, ErrLaunch, errNoExecutor)
	}
	if err := c.idleAll(); err != nil {
		return nil, fmt.Errorf("launch %s: %w", name, err)
	}
	l.Addrs, l.Scratch, l.Tensors = c.addrs, c.Scratch(), c.inUse
	if err := l.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLaunch, err)
	}
	for _, g := range groups {
		for _, pe := range g.PEs {
			if pe < 0 || int(pe) >= c.cfg.Machine.NumPEs() {
				return nil, fmt.Errorf("launch %s: %w: there is no PE %d: the machine has %d", name, ErrLaunch, pe, c.cfg.Machine.NumPEs())
			}
		}
	}
	res, err := c.cfg.Limits.Launch(ctx, c.cfg.Executor, l)
	if err != nil {
		c.disband()
		c.NameMemory(err)
		return nil, fmt.Errorf("launch %s: %w", name, err)
	}
	run := &Launched{Name: name, World: l.World(), Result: *res}
	c.runs = append(c.runs, run)
	return run, nil
}

// on completes the arguments for a group of PEs: where the first tensor has its shards.
func (a *arguments) on(pes []int32) tl.Args {
	args := a.Args
	if len(a.lead) == 0 {
		return args
	}
	if a.shards == nil {
		a.shards = shardsOf(a.lead)
		a.replicated = slices.ContainsFunc(a.lead, func(t *Tensor) bool { return t.replicated })
	}
	args.Shards = make([]mem.Addr, len(pes))
	first := true
	for rank, pe := range pes {
		s := shardOn(a.shards, pe)
		if s == nil {
			continue
		}
		args.Shards[rank] = s.address(a.replicated)
		switch n := s.Region.Elems(); {
		case first:
			args.NElem, first = n, false
		case n != args.NElem:
			args.NElem = 0 // no number holds for all ranks
		}
	}
	return args
}

// shardOn returns the shard of a PE, the last of several, in shards in the order of PEs; nil: it
// has none.
func shardOn(shards []Shard, pe int32) *Shard {
	next := sort.Search(len(shards), func(i int) bool { return shards[i].Rank > int(pe) })
	if next == 0 || shards[next-1].Rank != int(pe) {
		return nil
	}
	return &shards[next-1]
}

// peList lists the PEs of shards in rank order, each once.
func peList(shards []Shard) []int32 {
	pes := make([]int32, 0, len(shards))
	for _, s := range shards {
		pes = append(pes, int32(s.Rank))
	}
	return slices.Compact(pes)
}

// perCube returns how many PEs of a list share a cube: the most that any cube has.
func (c *Context) perCube(pes []int32) int {
	return together(pes, int32(c.cfg.Machine.PEsPerCube()))
}
