package hccl

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"kernbench/device"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/tl"
)

// Cores is the number of cores of each type that run a kernel on a device.
type Cores struct{ AIC, AIV int }

func (c Cores) of(t CoreType) int {
	if t == AIC {
		return c.AIC
	}
	return c.AIV
}

func (c Cores) all() int { return c.AIC + c.AIV }

// Launch is a kernel to run on the devices of some groups.
type Launch struct {
	Name    string
	Kernel  func(k *Kernel)
	Cores   Cores
	Comms   []*Comm            // one or two; devices are the members of both, in that order
	Tiling  *Tiling            // nil: the kernel has no tasks
	Buffers [][]*device.Tensor // memory of the devices: each has one shard of each buffer
}

// Outcome is the result of a launch that has ended.
type Outcome struct {
	Launched *device.Launched
	Warnings []Diagnostic
}

// session is a launch in progress.
type session struct {
	launch  *Launch
	dev     *device.Context
	tiling  *Tiling // as it was when the launch began
	cores   Cores
	team    *mem.Team   // all devices
	meeting *mem.Window // words of SyncAll
	runs    []*run      // by group
	buffers [][]tl.Ref  // by buffer and device
	kernels [][]*Kernel // by device and core
	windows []*mem.Window
	streams []*device.Stream
}

// Run runs the kernel on all cores of all devices at the same time, and judges the result of each
// task. It returns misuse of the API as *Misuse, joined with other errors. The program continues
// after misuse, as on the original.
func (l *Launch) Run(ctx context.Context) (*Outcome, error) {
	s, err := l.prepare()
	if err != nil {
		return nil, fmt.Errorf("launch %s: %w", l.Name, errors.Join(err, s.free()))
	}
	err = s.perform(ctx)
	if d, ok := errors.AsType[*fault.Deadlock](err); ok {
		d.Queues = s.queues()
		s.advise(d)
		err = fmt.Errorf("launch %s: %w", l.Name, d) // the text of err was made without them
	}
	misuse, warnings := s.conclude()
	err = explained(s.judge(err, misuse), misuse, warnings)
	if err = errors.Join(err, s.free()); err != nil {
		return nil, err
	}
	runs := s.dev.Launches()
	return &Outcome{Launched: runs[len(runs)-1], Warnings: warnings.Diagnostics}, nil
}

// prepare makes the memory of a launch. On an error the session has the memory made so far.
func (l *Launch) prepare() (*session, error) {
	s := &session{launch: l, cores: l.Cores}
	switch {
	case l.Kernel == nil:
		return s, fmt.Errorf("%w: no kernel", ErrComm)
	case l.Cores.AIC < 0 || l.Cores.AIV < 0 || l.Cores == (Cores{}):
		return s, fmt.Errorf("%w: %d AIC and %d AIV: at least one core, and no negative number", ErrComm, l.Cores.AIC, l.Cores.AIV)
	case len(l.Comms) < 1 || len(l.Comms) > tl.EngineQueues || slices.Contains(l.Comms, nil):
		return s, fmt.Errorf("%w: %d groups: one or two", ErrComm, len(l.Comms))
	case slices.ContainsFunc(l.Comms, func(g *Comm) bool { return g.dev == nil }):
		return s, fmt.Errorf("%w: a group that NewComm has not made", ErrComm)
	case len(l.Comms) == 2 && l.Comms[0] == l.Comms[1]:
		return s, fmt.Errorf("%w: group %s twice", ErrComm, l.Comms[0].name)
	}
	s.dev, s.tiling = l.Comms[0].dev, l.Tiling.clone()
	if n := s.dev.Programs(); l.Cores.AIC > n || l.Cores.AIV > n-l.Cores.AIC {
		return s, fmt.Errorf("%w: %d AIC and %d AIV: a PE has 1 to %d cores (pe.programs)", ErrComm, l.Cores.AIC, l.Cores.AIV, n)
	}
	var pes []int32
	for _, g := range l.Comms {
		switch w := g.opts.Window; {
		case g.dev != s.dev:
			return s, fmt.Errorf("%w: group %s: %w", ErrComm, g.name, device.ErrForeign)
		case w != nil && w.Released:
			return s, fmt.Errorf("%w: group %s: window %s was freed", ErrComm, g.name, w.Name)
		}
		for _, pe := range g.team.PEs {
			if !slices.Contains(pes, pe) {
				pes = append(pes, pe)
			}
		}
	}
	var err error
	if s.team, err = s.dev.NewTeam(l.Name+".devices", pes); err != nil {
		return s, err
	}
	came, err := mem.NewLayout(0, []mem.Buffer{{Name: "cores", Parts: []mem.Part{mem.SignalPart("came", mem.Int64, 2)}}})
	if err != nil {
		return s, err
	}
	if s.meeting, err = s.window(l.Name+".cores", s.team, came); err != nil {
		return s, err
	}
	for i, g := range l.Comms {
		r, err := s.openRun(g, i)
		if err != nil {
			return s, err
		}
		s.runs = append(s.runs, r)
	}
	if err := s.findBuffers(); err != nil {
		return s, err
	}
	s.kernels = make([][]*Kernel, len(pes))
	for i := range s.kernels {
		s.kernels[i] = make([]*Kernel, l.Cores.all())
	}
	return s, nil
}

// window makes a window that lives as long as the launch.
func (s *session) window(name string, t *mem.Team, l *mem.Layout) (*mem.Window, error) {
	w, err := s.dev.NewWindowLayout(name, t, l)
	if err == nil {
		s.windows = append(s.windows, w)
	}
	return w, err
}

// findBuffers finds the shard that each device has of each buffer.
func (s *session) findBuffers() error {
	for i, tensors := range s.launch.Buffers {
		at := map[int32]tl.Ref{}
		for _, t := range tensors {
			if t == nil {
				return fmt.Errorf("%w: buffer %d has a tensor that is nil", ErrComm, i)
			}
			for _, sh := range t.Shards() {
				if _, twice := at[int32(sh.Rank)]; twice {
					return fmt.Errorf("%w: buffer %d has two shards on %s: one on each device", ErrComm, i, s.dev.Machine().PEName(sh.Rank))
				}
				at[int32(sh.Rank)] = tl.Ref{Addr: sh.Addr, Shape: tl.Dims(sh.Region.Elems()), DType: t.DType()}
			}
		}
		refs := make([]tl.Ref, s.team.Size())
		for d, pe := range s.team.PEs {
			ref, ok := at[pe]
			if !ok {
				return fmt.Errorf("%w: buffer %d has no shard on %s", ErrComm, i, s.dev.Machine().PEName(int(pe)))
			}
			refs[d] = ref
		}
		s.buffers = append(s.buffers, refs)
	}
	return nil
}

// perform runs all cores to their end.
func (s *session) perform(ctx context.Context) error {
	l := s.launch
	var uses []any
	for _, b := range l.Buffers {
		for _, t := range b {
			uses = append(uses, t)
		}
	}
	args := make([][]any, s.team.Size())
	for i, pe := range s.team.PEs {
		st, err := s.dev.NewStream(int(pe))
		if err != nil {
			return err
		}
		s.streams = append(s.streams, st)
		args[i] = uses
	}
	types := make([]tl.CoreType, l.Cores.all())
	for i := range types {
		types[i] = s.typeOf(i).unit()
	}
	grid := device.Grid{Programs: len(types), Resident: len(types), Team: s.team, Cores: types, Engine: true}
	s.dev.ExplainWith(s.explain)
	if err := s.dev.LaunchGroup(l.Name, s.streams, s.core, grid, args); err != nil {
		return err
	}
	return s.dev.Synchronize(ctx)
}

// typeOf returns the type of a core of the device: AIC come first.
func (s *session) typeOf(core int) CoreType {
	if core < s.cores.AIC {
		return AIC
	}
	return AIV
}

// core is the program of one core.
func (s *session) core(c *tl.Context, _ tl.Args) {
	i := c.ProgramID(0)
	k := &Kernel{Context: c, session: s, device: c.Rank(), typ: s.typeOf(i), block: i}
	if k.typ == AIV {
		k.block -= s.cores.AIC
	}
	s.kernels[k.device][i] = k
	s.launch.Kernel(k)
	k.end()
}

// free frees the memory of the launch.
func (s *session) free() error {
	var errs []error
	for _, st := range s.streams {
		errs = append(errs, st.Free())
	}
	for _, w := range s.windows {
		errs = append(errs, s.dev.FreeWindow(w))
	}
	if s.team != nil {
		errs = append(errs, s.dev.FreeTeam(s.team))
	}
	return errors.Join(errs...)
}
