package program

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"kernbench/fault"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// Options say what Record keeps, and what it refuses.
type Options struct {
	// Own, if positive, limits memory to the first Own bytes of each rank's HBM slice. It limits
	// operations to loads, stores, arithmetic, sends, and receives into tensors. Then a rank
	// depends on the others through the contents of its rings alone.
	Own unit.Bytes

	Budget unit.Bytes          // of all records and places; 0: DefaultBudget
	Long   bool                // a program beyond the budget is checked and not kept: see Program.Long
	Places bool                // keep where each rank accesses memory
	Lines  bool                // keep source lines
	PEName func(pe int) string // for errors; may be nil
	Differ func()              // is called when a rank differs from those before; may be nil
}

// DefaultBudget is the largest memory of the records of a launch.
const DefaultBudget = 64 << 20

// ErrBudget is returned if the records of a launch take more memory than their budget.
var ErrBudget = fmt.Errorf("the records of the program take more than their budget (%v by default)", unit.Bytes(DefaultBudget))

// Refusal is the reason why a kernel cannot be recorded: it asks, or it does something that Options
// exclude.
type Refusal struct {
	Place  fault.Place
	Reason string
}

func (r *Refusal) Error() string {
	if r.Place.Line == "" {
		return fmt.Sprintf("%s: %s", r.Place.Op, r.Reason)
	}
	return fmt.Sprintf("%s %s", r.Place.Line, r.Reason)
}

// Asks names the value that an instruction returns from other ranks, which the kernel can read and
// branch on. It returns "" for instructions without one.
func Asks(in *tl.Instr) string {
	switch in.Op {
	case tl.OpRecv:
		if in.Port == tl.AnyPort {
			return "recv any"
		}
	case tl.OpTestWord, tl.OpReadWord, tl.OpFetchAdd, tl.OpCompareSwap:
		return in.Op.String()
	}
	return ""
}

// RecordLaunch runs the kernel of each rank of a launch alone, to its end, and returns what they
// do. It fails with a Refusal, with ErrBudget, with the fault of a kernel, or with the error of
// ctx. Kernels get copies of use counters, so that nothing of the launch changes.
func RecordLaunch(ctx context.Context, l *launch.Launch, o Options) (*Program, error) {
	r := newRecorder(ctx, l, o)
	for g := range l.Groups {
		if g > 0 {
			r.base += len(l.Groups[g-1].PEs)
		}
		for i := range l.Groups[g].NumBlocks() {
			err := r.rank(&l.Groups[g], i)
			if errors.Is(err, ErrBudget) && o.Long && !r.long {
				r.becomeLong()
				err = r.rank(&l.Groups[g], i)
			}
			if err != nil {
				return nil, err
			}
			if o.Long && !r.long && r.allDiffer() {
				r.becomeLong()
			}
		}
	}
	return r.program(), nil
}

// differFrom is the number of ranks, all different, that are recorded before allDiffer estimates
// whether the other ranks fit in the budget.
const differFrom = 8

// allDiffer reports whether all ranks recorded so far differ and, if the others differ too, the
// budget is too small.
func (r *recorder) allDiffer() bool {
	n := len(r.records)
	return n >= differFrom && n == len(r.blocks) && (int64(r.opts.Budget)-r.left)/int64(n)*int64(r.l.NumBlocks()) > int64(r.opts.Budget)
}

// Guess records a few ranks of a launch, and returns the program in which all do the same as the
// first. It returns nil if some differ or cannot be recorded. The guess is valid only if
// RecordLaunch returns the same program.
func Guess(ctx context.Context, l *launch.Launch, o Options) *Program {
	o.Places, o.Long = false, false
	r := newRecorder(ctx, l, o)
	first, last := &l.Groups[0], &l.Groups[len(l.Groups)-1]
	for _, s := range [...]struct {
		g *launch.Group
		i int
	}{{first, 0}, {first, len(first.PEs) / 2}, {last, min(1, len(last.PEs)-1)}, {last, len(last.PEs) - 1}} {
		if err := r.rank(s.g, s.i); err != nil || len(r.records) > 1 {
			return nil
		}
	}
	r.blocks = make([]Block, l.World())
	for i := range r.blocks {
		r.blocks[i].Rank = int32(i)
	}
	return r.program()
}

// Same reports whether all ranks of p do what those of a guess do.
func (p *Program) Same(guess *Program) bool {
	return len(p.Records) == 1 && slices.Equal(p.Records[0].Ops, guess.Records[0].Ops) &&
		slices.Equal(p.TensorTypes, guess.TensorTypes) && slices.Equal(p.More, guess.More)
}

// recorder is the Core of the kernel that is being recorded. As long as a rank does the same as
// one before, it is compared with that one's record and nothing is stored.
//
// Records are a tree: each but the first shares its beginning with its parent. A rank that departs
// from its record begins a new one, or continues with another record of the same operations so far.
// So every kernel runs once.
type recorder struct {
	guard
	table
	l       *launch.Launch
	base    int // rank 0 of the group at hand, among the ranks of all groups
	setup   tl.Setup
	records []Record
	blocks  []Block

	record int32 // that the rank agrees with so far; none: it has one of its own, in the making
	ops    []Op  // of record
	at     int   // operations so far
	own    Record
	parent branch // of own

	addrs, offs writer // of the rank
	left        int64  // bytes of the budget

	parents  []branch // by record
	branches map[branch][]int32

	long  bool // nothing is stored any more
	sends [][]Sends
}

// branch is a place in a record: operation at of record.
type branch struct {
	record int32
	at     int32
}

const none int32 = -1

func newRecorder(ctx context.Context, l *launch.Launch, o Options) *recorder {
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	r := &recorder{
		guard: guard{opts: o, ctx: ctx}, table: newTable(), l: l, left: int64(o.Budget), record: none,
		branches: map[branch][]int32{},
	}
	r.setup = setupOf(l, &r.guard)
	r.setup.Core = r
	return r
}

// setupOf returns the setup to record kernels of a launch, without their ranks and their Core.
func setupOf(l *launch.Launch, g *guard) tl.Setup {
	return tl.Setup{
		Ring: &l.Ring, Addrs: l.Addrs, Scratch: l.Scratch, Watch: l.Watch, RecordLines: g.opts.Lines, Trial: true,
		PEName: func() string {
			if g.opts.PEName == nil {
				return ""
			}
			return g.opts.PEName(g.slice.Unit())
		},
	}
}

// placeBlock sets a setup's rank, PE and wiring to those of block i of a group.
func placeBlock(s *tl.Setup, l *launch.Launch, g *launch.Group, i int) {
	b := g.Setup(i, l.Scratch)
	s.Rank, s.Block, s.World, s.PE, s.PEsPerCube, s.Wiring, s.Scratch = b.Rank, b.Block, b.World, b.PE, b.PEsPerCube, b.Wiring, b.Scratch
}

// program returns the program recorded so far.
func (r *recorder) program() *Program {
	return &Program{Records: r.records, Blocks: r.blocks, TensorTypes: r.types, More: r.more, Long: r.long, Sends: r.sends}
}

// rank records block i of a group.
func (r *recorder) rank(g *launch.Group, i int) error {
	if err := r.cancelled(); err != nil {
		return err
	}
	placeBlock(&r.setup, r.l, g, i)
	if r.tl == nil {
		r.tl = tl.NewContext(r.setup)
	} else {
		tl.DriverOf(r.tl).Reset(r.setup)
	}
	r.slice, r.at, r.stopped = mem.At(mem.HBM, r.setup.PE, 0), 0, nil
	r.addrs, r.offs = writer{}, writer{}
	switch {
	case r.long:
		return r.check(g, i)
	case len(r.records) == 0:
		r.begin(branch{none, 0})
	default:
		r.ops = r.records[r.record].Ops
	}
	if err := r.run(r.l.Kernel, g.Args); err != nil {
		return err
	}
	return r.end()
}

// run takes a kernel to its end.
func (g *guard) run(k tl.Kernel, a tl.Args) error {
	tl.DriverOf(g.tl).Enter()
	abandoned, err := tl.DriverOf(g.tl).Run(k, a.Fresh())
	switch {
	case g.stopped != nil:
		return g.stopped
	case abandoned && err == nil:
		err = &fault.Misuse{Place: tl.DriverOf(g.tl).Place("abandon"), Reason: "it is for executors: a kernel ends by returning"}
	}
	return err
}

// end completes a rank whose kernel has ended.
func (r *recorder) end() error {
	if r.record != none && r.ops[r.at].Code != End && !r.find(nil) {
		r.begin(r.branchAt())
	}
	if r.record == none {
		if err := r.keep(); err != nil {
			return err
		}
	}
	b := Block{Rank: int32(r.base + r.setup.Rank), Number: int32(r.setup.Block), Record: r.record}
	if r.opts.Places {
		b.Places = &Places{r.addrs.runs, r.offs.runs}
		r.left -= int64(unsafe.Sizeof(*b.Places)) + int64(len(r.addrs.runs)+len(r.offs.runs))*int64(unsafe.Sizeof(Run{}))
	}
	if r.left -= int64(unsafe.Sizeof(b)); r.left < 0 {
		return ErrBudget
	}
	r.blocks = append(r.blocks, b)
	return nil
}

// becomeLong drops all records except what is sent into rings. From now on nothing is stored. The
// numbers of types go, too: Parts has its own, in the order in which parts are recorded.
func (r *recorder) becomeLong() {
	r.long = true
	known := make([][]Sends, len(r.records))
	rank := 0
	for g := range r.l.Groups {
		for i := range r.l.Groups[g].NumBlocks() {
			if rank == len(r.blocks) {
				break
			}
			k := r.blocks[rank].Record
			if known[k] == nil {
				known[k] = r.records[k].sends(len(r.l.Groups[g].Wiring[i].Out), r.types)
			}
			r.sends = append(r.sends, known[k])
			rank++
		}
	}
	r.records, r.blocks, r.own, r.table = nil, nil, Record{}, newTable()
}

// check runs the kernel of block i of a group without storing what it does.
func (r *recorder) check(g *launch.Group, i int) error {
	k := &checker{guard: r.guard, sends: make([]Sends, len(g.Wiring[i].Out))}
	s := r.setup
	s.Core = k
	tl.DriverOf(r.tl).Reset(s)
	if err := k.run(r.l.Kernel, g.Args); err != nil {
		return err
	}
	r.sends = append(r.sends, k.sends)
	return nil
}

// Do compares an instruction with the record at hand, or records it.
func (r *recorder) Do(in *tl.Instr) {
	if in.Op == tl.OpDrop {
		return
	}
	if r.at&(checkEvery-1) == checkEvery-1 {
		r.checkContext()
	}
	var o *Op
	if r.record != none && r.agrees(&r.ops[r.at], in) {
		o = &r.ops[r.at]
	} else {
		o = r.depart(in)
	}
	r.at++
	switch o.Code {
	case tl.OpRecv:
		fillReceive(in)
		fallthrough
	case tl.OpLoad, tl.OpStore, tl.OpSend:
		if o.Accesses() {
			r.access(in)
		}
	}
	if r.opts.Places {
		r.operand(o.A, in.AOff)
		r.operand(o.B, in.BOff)
	}
	if o.Dst != tl.None {
		tl.DriverOf(r.tl).Cell(o.Dst).Filled = true // has been filled; until the tensor ends
	}
}

// agrees reports whether in equals o, addresses and offsets excluded. It compares the fields that
// this opcode uses.
func (r *recorder) agrees(o *Op, in *tl.Instr) bool {
	f := &r.types[o.TensorType]
	if o.Code != in.Op || o.Sub != sub(in) || o.N != int32(in.N) || f.Shape != in.Shape || f.Type != in.Type {
		return false
	}
	switch in.Op {
	case tl.OpSend:
		return o.Port == uint8(in.Port) && o.A == r.reads(in.A) && r.restAgrees(o, in)
	case tl.OpRecv:
		return o.Port == uint8(in.Port) && o.Dst == in.Dst
	case tl.OpRecvAsync:
		return o.Port == uint8(in.Port)
	case tl.OpLoad, tl.OpStore:
		return o.Dst == in.Dst && o.A == r.reads(in.A) && r.restAgrees(o, in)
	}
	return o.Dst == in.Dst && o.A == r.reads(in.A) && o.B == r.reads(in.B) && o.C == r.reads(in.C) &&
		o.Math == in.Math && r.restAgrees(o, in)
}

// restAgrees reports what agrees does, for the fields that few instructions have.
func (r *recorder) restAgrees(o *Op, in *tl.Instr) bool {
	if o.More == 0 {
		return !needsMore(in)
	}
	return needsMore(in) && r.more[o.More].is(in)
}

// reads returns an operand as it is recorded. It returns tl.None for a tensor that no recorded
// operation has written.
func (g *guard) reads(tensor int32) int32 {
	if tensor == tl.None || !tl.DriverOf(g.tl).Cell(tensor).Filled {
		return tl.None
	}
	return tensor
}

// access notes where the rank accesses memory.
func (r *recorder) access(in *tl.Instr) {
	off := r.offset(in)
	if !r.opts.Places {
		return
	}
	base := off
	if r.record != none {
		base = r.records[r.record].Base[r.addrs.at]
	} else {
		r.own.Base = append(r.own.Base, off)
	}
	r.addrs.put(int64(off - base))
}

// operand notes where an operand begins in its tensor.
func (r *recorder) operand(tensor, off int32) {
	if tensor == tl.None {
		return
	}
	base := off
	if r.record != none {
		base = r.records[r.record].Offs[r.offs.at]
	} else {
		r.own.Offs = append(r.own.Offs, off)
	}
	r.offs.put(int64(off - base))
}
