package device

import (
	"errors"
	"fmt"
	"slices"

	"kernbench/algorithm"
	"kernbench/conf"
	"kernbench/exec"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/record/oplog"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// Errors that the methods of this package wrap.
var (
	ErrShape   = errors.New("shape mismatch")
	ErrFreed   = errors.New("tensor was freed")
	ErrForeign = errors.New("it is not of this context")
	ErrHost    = errors.New("tensor is on the host")
	ErrLaunch  = errors.New("launch refused")
)

// Config describes a Context.
type Config struct {
	Machine  *machine.Machine
	CCL      *conf.CCL         // nil: the built-in ccl.yaml with the rings of the machine
	Tuning   *algorithm.Tuning // the table for auto; nil: there is none
	Executor exec.Executor     // nil: the context makes plans and launches nothing
	Row      *exec.Row         // what Executor can do; nil: everything
	Limits   exec.Limits       // of launches
	World    int               // ranks of algorithms that are installed; 0: as configured
	PEs      []int32           // the PEs of those ranks: see Install; nil: the first World
	// Check judges every collective right after its launch, while its result is still in
	// memory. It may be nil.
	Check func(*Call) error
	// Contributed is called with the contributions of a group while they are in memory. It reports
	// whether a copy must be kept in the group. Nil: it must.
	Contributed func(c *Call, g *CallGroup, in func(rank int) []byte) (keep bool, err error)
	// Given is the algorithm of all plans, for any name; nil: the algorithm of the plan's name.
	Given *Given
	// Fresh is called with the new memory of a window, on each member. The memory is set to zero.
	// Fresh may be nil.
	Fresh func(a mem.Addr, bytes int64)
}

// Context is a host program's view of the machine. It must be used by one goroutine at a
// time.
type Context struct {
	cfg     Config
	current int             // SIP
	hbm     []mem.Allocator // by PE; only of PEs that have had an allocation
	addrs   *mem.Map
	plan    *Plan // installed last
	tensorList
	windowList
	streamWork
	launches
}

// Launched is one launch that ended without an error.
type Launched struct {
	Name   string
	World  int // PEs
	Result launch.Result
	Calls  []*Call // its collectives
}

const (
	// vaPage is the unit of virtual addresses that tensors start at.
	vaPage = 2 << 20
	// hbmAlign is the unit of HBM that shards start at: a flit, and a burst, of the
	// default machine.
	hbmAlign = 256
)

// New opens a context on SIP 0.
func New(cfg Config) (*Context, error) {
	if cfg.Machine == nil {
		return nil, errors.New("device: a machine is needed")
	}
	if cfg.CCL == nil {
		var err error
		if cfg.CCL, err = cfg.Machine.Topology().LoadCCL(nil, nil); err != nil {
			return nil, err
		}
	}
	return &Context{
		cfg: cfg, addrs: new(mem.Map), tensorList: tensorList{nextVA: vaPage},
		hbm: make([]mem.Allocator, cfg.Machine.NumPEs()),
	}, nil
}

// SetDevice chooses the SIP on which tensors are made from now on.
func (c *Context) SetDevice(sip int) error {
	if sip < 0 || sip >= c.cfg.Machine.SIPs() {
		return fmt.Errorf("SetDevice(%d): the machine has SIPs 0 to %d", sip, c.cfg.Machine.SIPs()-1)
	}
	c.current = sip
	return nil
}

// CurrentDevice returns the SIP on which tensors are made.
func (c *Context) CurrentDevice() int { return c.current }

// Machine returns the machine that the context works on.
func (c *Context) Machine() *machine.Machine { return c.cfg.Machine }

// CCL returns the configuration of the collectives.
func (c *Context) CCL() *conf.CCL { return c.cfg.CCL }

// HasData reports whether the run carries values.
func (c *Context) HasData() bool { return c.log() != nil }

// log returns the log that carries values, nil in a run without a data pass.
func (c *Context) log() *oplog.Log {
	if c.cfg.Executor == nil {
		return nil
	}
	return c.cfg.Executor.Data()
}

// can returns nil if the executor has a capability, else an exec.Missing.
func (c *Context) can(x exec.Capability) error {
	if c.cfg.Row == nil {
		return nil
	}
	return c.cfg.Row.Needs(x)
}

// errNoExecutor is the error of a launch on a context that only makes plans.
var errNoExecutor = errors.New("the context makes plans and has no executor")

// Launches lists the launches so far.
func (c *Context) Launches() []*Launched { return slices.Clone(c.runs) }

// heap returns the free memory of a PE's HBM slice.
func (c *Context) heap(pe int) *mem.Allocator {
	a := &c.hbm[pe]
	if a.Capacity() == 0 {
		m := c.cfg.Machine
		*a = *mem.NewAllocator(min(int64(m.Capacity(m.HBM(pe))), mem.MaxOffset+1), hbmAlign)
	}
	return a
}

// alloc reserves memory in the HBM slice of a PE.
func (c *Context) alloc(pe int, n int64) (mem.Addr, error) {
	off, err := c.heap(pe).Alloc(n)
	if err != nil {
		return 0, fmt.Errorf("HBM of %s: %w", c.cfg.Machine.PEName(pe), err)
	}
	return mem.At(mem.HBM, pe, off), nil
}

func (c *Context) free(a mem.Addr) error { return c.hbm[a.Unit()].Free(a.Offset()) }

// HBMInUse returns the number of bytes that tensors and windows hold in one PE's slice.
func (c *Context) HBMInUse(at machine.Coord) (unit.Bytes, error) {
	pe, ok := c.cfg.Machine.Index(at)
	if !ok {
		return 0, fmt.Errorf("there is no PE at %+v", at)
	}
	return c.inUse(pe), nil
}

func (c *Context) inUse(pe int) unit.Bytes {
	return unit.Bytes(c.hbm[pe].InUse())
}

// Leak is an object that the program has not freed.
type Leak struct {
	Name  string     // of a tensor, or "window NAME", "team NAME", "stream N on PE"
	Bytes unit.Bytes // of HBM on all PEs together
}

// ReleaseAll frees every tensor, window, team and stream, and lists those that the program had not
// freed, each kind with the oldest first. It drops work that is still queued, and the list mentions
// it.
func (c *Context) ReleaseAll() ([]Leak, error) {
	var leaks []Leak
	var errs []error
	var streams []Leak
	for _, s := range c.streams {
		name := s.String()
		if n := len(s.ops); n > 0 {
			name += fmt.Sprintf(", with %d operations that never ran", n)
		}
		streams = append(streams, Leak{Name: name})
	}
	c.drop()
	for _, s := range slices.Clone(c.streams) {
		errs = append(errs, s.Free())
	}
	for _, t := range slices.Clone(c.tensors) {
		if t.freed {
			continue
		}
		leaks = append(leaks, Leak{t.name, t.footprint()})
		errs = append(errs, t.Free())
	}
	for _, w := range slices.Clone(c.windows) {
		leaks = append(leaks, Leak{"window " + w.Name, footprint(w)})
		errs = append(errs, c.FreeWindow(w))
	}
	for _, t := range slices.Clone(c.teams) {
		leaks = append(leaks, Leak{"team " + t.Name, footprint(t.Meeting)})
		errs = append(errs, c.FreeTeam(t))
	}
	return append(leaks, streams...), errors.Join(errs...)
}

// FirstCall returns the collective that was launched first, or nil. It may not have ended: Launches
// has those that did.
func (c *Context) FirstCall() *Call { return c.first }

// Plan returns the plan that was installed last, or nil. With auto it returns the plan that was
// chosen last.
func (c *Context) Plan() *Plan {
	if p := c.plan; p != nil && p.auto != nil && p.auto.last != nil {
		return p.auto.last
	}
	return c.plan
}

// NextTurn returns the number of a new collective of tasks on communication engines: the ID of its
// tl.Turn.
func (c *Context) NextTurn() int32 {
	c.turns++
	return c.turns
}
