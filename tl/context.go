package tl

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"kernbench/fault"
	"kernbench/mem"
	"kernbench/tl/frames"
	"kernbench/tl/watch"
	"kernbench/unit"
)

// Context is a kernel's view of the PE that it runs on. One rank of one launch has one;
// it must not be used by other goroutines.
//
// Operations return no errors. A mistake of a kernel stops it at once, and the launch returns it as
// one of the types of package fault.
type Context struct {
	core     Core
	watch    *watch.Watch
	seen     watch.Kernel // what watch sees; an operand's cell remembers the call that uses it
	inspects bool         // instructions need more than the hand-over: see inspect
	choices  bool         // source lines of choices are recorded
	making
	scratchCells
	lookups
	seat

	ports  []portState
	wiring *Wiring
	ring   *Ring
	addrs  *mem.Map
	counts Traffic
	lines  *lines              // nil unless source lines are recorded
	choice *frames.Call        // the line of the instruction, if it is a choice and no other lines are recorded
	source Source              // of a kernel that interprets a program; else nil
	failed error               // the first fault
	trial  map[*mem.Team]int64 // rendezvous of an execution that does not count; else nil
	turn   *Turn               // collective that has begun
}

// seat is the place of a kernel: PE, rank, block, program.
type seat struct {
	pe                   int
	rank, world, perCube int
	block                int // of the rank
	program, grid        int // of a grid; grid is 0 where there is none
	coreType             CoreType
	engine               bool // there is an engine to post tasks to
}

// portState is the kernel's state of a ring that it receives from.
type portState struct {
	held   int32  // cell of the tensor whose lifetime the next take ends, or None
	taken  uint32 // messages taken so far
	posted uint32 // receives announced by RecvAsync so far
}

// Setup is an executor's input for a rank's Context.
type Setup struct {
	Core         Core
	Rank, World  int
	Block        int // among the blocks of its rank
	PE           int // index in the machine
	PEsPerCube   int // ranks that share a cube: what NumPrograms(0) answers
	Wiring       *Wiring
	Ring         *Ring
	Addrs        *mem.Map
	Scratch      unit.Bytes
	PEName       func() string
	Now          func() (unit.Time, bool) // simulated time; false without a clock
	RecordLines  bool                     // keep the source line of every instruction
	ChoiceLines  bool                     // keep the source lines of choices: see isChoice
	CellCapacity int                      // cells to allocate at once; 0: grow as needed

	Program, Grid int // of a grid: what ProgramID(0) and NumPrograms(0) answer; Grid 0: no grid
	CoreType      CoreType
	Engine        bool // Post has an engine to post to
	Trial         bool // the execution does not count: only the context is changed

	Watch *watch.Watch // of the launch, or nil
	Edits *Edits       // of kernels, or nil; implies RecordLines
}

// NewContext makes the context of one rank.
func NewContext(s Setup) *Context {
	c := new(Context)
	c.reset(s)
	return c
}

// reset makes c the context of another rank, as NewContext would, and keeps its memory. Its former
// kernel has ended.
func (c *Context) reset(s Setup) {
	cells, ports, words, known := c.cells[:0], c.ports[:0], c.words[:0], c.lines
	*c = Context{
		core: s.Core, watch: s.Watch, seen: watch.Kernel{Rank: s.Rank, PE: s.PEName, Now: s.Now},
		making:       making{words: words},
		scratchCells: scratchCells{freeCell: None, cells: slices.Grow(cells, s.CellCapacity)},
		seat: seat{pe: s.PE, rank: s.Rank, block: s.Block, world: s.World, perCube: max(1, s.PEsPerCube),
			program: s.Program, grid: s.Grid, coreType: s.CoreType, engine: s.Engine},
		wiring: s.Wiring, ring: s.Ring, addrs: s.Addrs,
	}
	if c.watch == nil {
		c.watch = unwatched
	}
	c.slice = mem.At(mem.HBM, s.PE, 0)
	if s.Edits != nil {
		s.RecordLines = true
		c.core = &editing{Core: s.Core, c: c, edits: s.Edits, held: None}
		if s.Edits.Core != nil {
			c.core = s.Edits.Core(s.Core, c)
		}
	}
	c.choices = s.ChoiceLines && !s.RecordLines
	c.inspects = s.RecordLines || c.choices || s.CoreType != CoreAny
	c.scratch.init(int64(s.Scratch))
	for range s.Wiring.In {
		ports = append(ports, portState{held: None})
	}
	c.ports = ports
	if s.Trial {
		c.trial = map[*mem.Team]int64{}
	}
	switch {
	case !s.RecordLines:
	case known != nil:
		known.forget()
		c.lines = known
	default:
		c.lines = newLines()
	}
}

// Rank returns the index of this PE in the launch's group, 0 to WorldSize-1.
func (c *Context) Rank() int { return c.rank }

// WorldSize returns the number of PEs in the launch's group.
func (c *Context) WorldSize() int { return c.world }

// ProgramID returns the position of this PE: on axis 0 within its cube, on axis 1 that of the
// cube. ProgramID(1)*NumPrograms(0)+ProgramID(0) is Rank. In a grid axis 0 is the number
// of the program, and there is no other.
func (c *Context) ProgramID(axis int) int {
	c.checkAxis(axis)
	if c.grid > 0 {
		if axis == 0 {
			return c.program
		}
		return 0
	}
	if axis == 0 {
		return c.rank % c.perCube
	}
	return c.rank / c.perCube
}

// NumPrograms returns the number of positions along an axis: PEs of a cube that take part, or
// cubes. It counts places, not ranks: the last cube of a group may be part empty. In a grid
// axis 0 has its programs.
func (c *Context) NumPrograms(axis int) int {
	c.checkAxis(axis)
	if c.grid > 0 {
		if axis == 0 {
			return c.grid
		}
		return 1
	}
	if axis == 0 {
		return c.perCube
	}
	return (c.world + c.perCube - 1) / c.perCube
}

func (c *Context) checkAxis(axis int) {
	if axis != 0 && axis != 1 {
		c.misuse("program_id", fmt.Sprintf("axis %d: there are axes 0 (PE in cube) and 1 (cube)", axis))
	}
}

// Neighbor returns the rank that a send in direction d goes to; ok is false if this rank has no
// such ring. A kernel on a mesh uses it to find the rim.
func (c *Context) Neighbor(d Dir) (rank int, ok bool) {
	i := c.wiring.OutIndex(d)
	if i < 0 {
		return 0, false
	}
	return int(c.wiring.Out[i].Peer), true
}

// CDiv returns the quotient rounded up.
func CDiv(a, b int) int { return (a + b - 1) / b }

// place returns the kernel's rank, PE, time and source line. It walks the stack, so it is for
// faults only.
func (c *Context) place(op string) fault.Place {
	p := fault.Place{Rank: c.rank, Op: op, Line: c.sourceLine()}
	if c.seen.PE != nil {
		p.PE = c.seen.PE()
	}
	if c.seen.Now != nil {
		p.Time, p.Timed = c.seen.Now()
	}
	return p
}

// here returns the place of the instruction that is being issued.
func (c *Context) here() fault.Place { return c.place(c.in.Call()) }

// unwatched is the Watch of contexts that have none. Its kernels never look.
var unwatched = watch.New(watch.Limits{})

// stop is the panic value that carries a fault out of a kernel.
type stop struct{ err error }

// abandon unwinds a kernel whose launch has ended without it.
type abandon struct{}

// fail stops the kernel with a fault. It does not return. The fault stands even if the
// kernel recovers from the panic that carries it.
func (c *Context) fail(err error) {
	if c.failed == nil {
		c.failed = err
	}
	panic(stop{err})
}

func (c *Context) misuse(op, reason string) {
	c.fail(&fault.Misuse{Place: c.place(op), Reason: reason})
}

// run executes a kernel to its end on this context. It returns the fault that stopped it, if any;
// abandoned is true if the executor ended it.
func (c *Context) run(k Kernel, a Args) (abandoned bool, err error) {
	returned := false
	defer func() {
		switch p := recover().(type) {
		case nil:
			if !returned {
				c.watch.Exit(c.panicPlace())
			}
		case stop:
			err = p.err
		case abandon:
			abandoned = true
		default:
			pl := c.panicPlace()
			err = &fault.Panic{Place: pl, Value: p, Stack: frames.PanicText()}
		}
	}()
	c.seen.SetCode(uintptr(unsafe.Pointer(c)), reflect.ValueOf(k).Pointer())
	k(c, a)
	returned = true
	return false, c.failed
}

func (c *Context) panicPlace() fault.Place {
	p := c.place("")
	if c.source == nil {
		p.Line = frames.PanicLine()
	}
	return p
}
