package device

import (
	"errors"
	"fmt"
	"slices"

	"kernbench/exec"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// Grid describes the launch of a kernel on a stream: as a number of programs. They are numbered in
// the order in which they start (ProgramID(0) of NumPrograms(0)). A program that has started stays
// on the PE until it ends.
type Grid struct {
	Programs int
	Resident int // most on the PE at the same time; 0: as many as it holds (pe.programs)

	// Team gives the kernel its Rank and WorldSize. Nil: those of the PE among all that have
	// streams.
	Team *mem.Team

	Cores  []tl.CoreType // of the programs, in their order; nil: any type
	Engine bool          // the programs post tasks to the communication engine of the PE
}

// Programs returns how many programs a PE holds at the same time (pe.programs).
func (c *Context) Programs() int { return c.cfg.Machine.Topology().PE().Programs }

// Scratch returns the memory for tensors that a PE has (pe.tcm.scratch). Programs that are on it at
// the same time share it evenly.
func (c *Context) Scratch() unit.Bytes { return c.cfg.Machine.Topology().PE().TCM.Scratch }

// NeedAtomics returns an error if PEs of the machine cannot perform atomics on each other's words
// (fabric.p2p_native_atomics). Programs call it to fail before their launch.
func (c *Context) NeedAtomics() error {
	if c.cfg.Machine.Topology().Fabric().Atomics {
		return nil
	}
	return &fault.Unsupported{Place: hostPlace("need_atomics"), What: "fabric.p2p_native_atomics"}
}

// Launch queues a kernel. Its arguments are those of LaunchKernel.
func (s *Stream) Launch(name string, k tl.Kernel, g Grid, args ...any) error {
	op, err := s.launch(name, k, g, args)
	if err != nil {
		return err
	}
	s.push(op, op.args.uses...)
	return nil
}

// LaunchGroup queues a kernel on several streams of different PEs. They start at the same time,
// when the last stream has reached the launch. args are the arguments by member; nil: none. On an
// error none is queued.
func (c *Context) LaunchGroup(name string, streams []*Stream, k tl.Kernel, g Grid, args [][]any) error {
	var errs []error
	if len(streams) == 0 {
		errs = append(errs, errors.New("no members"))
	}
	if args != nil && len(args) != len(streams) {
		errs = append(errs, fmt.Errorf("%d members and arguments for %d", len(streams), len(args)))
	}
	members := map[int]int{}
	for i, s := range streams {
		if err := s.usable(c); err != nil {
			errs = append(errs, fmt.Errorf("member %d: %w", i, err))
			continue
		}
		if first, twice := members[s.dev.pe]; twice {
			errs = append(errs, fmt.Errorf("members %d and %d are both on %s", first, i, c.cfg.Machine.PEName(s.dev.pe)))
			continue
		}
		members[s.dev.pe] = i
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w: group launch %s: %w", ErrStream, name, err)
	}
	ops, gang := make([]queued, len(streams)), &launch.Gang{Members: len(streams)}
	for i, s := range streams {
		var own []any
		if args != nil {
			own = args[i]
		}
		op, err := s.launch(name, k, g, own)
		if err != nil {
			return fmt.Errorf("member %d: %w", i, err)
		}
		op.Launch.Gang = gang
		ops[i] = op
	}
	for i, s := range streams {
		s.push(ops[i], ops[i].args.uses...)
	}
	return nil
}

// launch checks a launch and makes its operation.
func (s *Stream) launch(name string, k tl.Kernel, g Grid, args []any) (queued, error) {
	var op queued
	if err := s.usable(nil); err != nil {
		return op, err
	}
	c := s.ctx
	a, err := c.sortOutPlain(name, args)
	if err != nil {
		return op, err
	}
	refuse := func(format string, args ...any) (queued, error) {
		return op, fmt.Errorf("launch %s on %v: %w: %w", name, s, ErrLaunch, fmt.Errorf(format, args...))
	}
	if g.Engine {
		if err := c.can(exec.Tasks); err != nil {
			return refuse("%w", err)
		}
	}
	holds := c.cfg.Machine.Topology().PE().Programs
	l := &launch.GridLaunch{Name: name, Kernel: k, Grid: g.Programs, Resident: g.Resident, Cores: g.Cores}
	if l.Resident == 0 {
		l.Resident = holds
	}
	switch {
	case k == nil:
		return refuse("no kernel")
	case g.Programs < 1:
		return refuse("a grid of %d programs: at least 1", g.Programs)
	case l.Resident < 1 || l.Resident > holds:
		return refuse("%d resident programs: a PE holds 1 to %d (pe.programs)", l.Resident, holds)
	case g.Cores != nil && len(g.Cores) != g.Programs:
		return refuse("found types of cores for %d programs, want them for the %d of the grid", len(g.Cores), g.Programs)
	}
	if t := g.Team; t != nil {
		if err := c.usableTeam(t); err != nil {
			return refuse("%w: %w", ErrTeam, err)
		}
		rank, ok := t.Rank(s.dev.pe)
		if !ok {
			return refuse("%w: the PE is not a member of team %s", ErrTeam, t.Name)
		}
		l.Rank, l.World, l.Args = rank, t.Size(), a.on(t.PEs)
		a.uses = append(a.uses, t)
	}
	return queued{launch.StreamOp{Kind: launch.StreamLaunch, HostName: name, Launch: l}, a, g.Engine}, nil
}

// rank sets the rank of launches without a team among all PEs with streams. Their number may have
// grown since the launch was queued.
func (c *Context) rank(s *Stream, op *queued) {
	if op.Kind != launch.StreamLaunch || op.Launch.World > 0 {
		return
	}
	pes := make([]int32, len(c.devices))
	for i, d := range c.devices {
		pes[i] = int32(d.pe)
	}
	op.Launch.Rank, op.Launch.World, op.Launch.Args = s.dev.rank, len(pes), op.args.on(pes)
}

// share returns the part of a PE's scratch memory that each program has. As many programs as
// possible are then on a PE at the same time.
func (c *Context) share() unit.Bytes {
	together := make([]int, len(c.devices))
	for _, s := range c.streams {
		n := 0
		for i := range s.ops {
			if l := s.ops[i].Launch; l != nil {
				n = max(n, min(l.Resident, l.Grid))
			}
		}
		together[s.dev.rank] += n
	}
	return c.Scratch() / unit.Bytes(slices.Max(append(together, 1)))
}
