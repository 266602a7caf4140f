package program

import (
	"context"
	"iter"

	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// Parts records a long program while it is used. The kernel of each rank runs, in a coroutine of
// its own, as far as its next part of operations. Tensors keep the kernel's numbers.
type Parts struct {
	table
	ctx  context.Context
	l    *launch.Launch
	opts Options
	busy map[int]*part // by rank: kernels that have not ended
	idle []*part
	ops  []Op

	// Traffic is the traffic of the ranks whose kernels have ended.
	Traffic []tl.Traffic
}

// firstPart and laterPart are the numbers of operations that are recorded at once. They suffice to
// record a short kernel whole, after which its coroutine serves another. The operations of a long
// kernel stay in the cache until they are used.
const (
	firstPart = 512
	laterPart = 128
)

// part is the Core of a kernel that is recorded part by part.
type part struct {
	guard
	of    *Parts
	setup tl.Setup
	group *launch.Group
	limit int
	yield func(struct{}) bool
	next  func() (struct{}, bool)
	stop  func()
	ended bool
	quit  bool
	err   error
}

// NewParts makes the parts of a launch whose program is long. Close must be called at the end.
func NewParts(ctx context.Context, l *launch.Launch, o Options) *Parts {
	return &Parts{table: newTable(), ctx: ctx, l: l, opts: o, busy: map[int]*part{}, Traffic: make([]tl.Traffic, l.NumBlocks())}
}

// Next returns the next part of rank number of the launch, until it is called again. Its last
// operation is End if the kernel has ended. It fails as RecordLaunch does, if the kernel no longer
// does what it did then.
func (p *Parts) Next(rank int) ([]Op, error) {
	k := p.busy[rank]
	if k == nil {
		k = p.start(rank)
		k.limit = firstPart
	} else {
		k.limit = laterPart
		tl.DriverOf(k.tl).Enter()
	}
	p.ops = p.ops[:0]
	k.next()
	if k.ended {
		delete(p.busy, rank)
		p.idle = append(p.idle, k)
		p.Traffic[rank] = tl.DriverOf(k.tl).Traffic()
	}
	return p.ops, k.err
}

// TensorTypes returns those of all operations so far.
func (p *Parts) TensorTypes() []TensorType { return p.types }

// More is the total of all operations so far.
func (p *Parts) More() []More { return p.more }

// Close ends all coroutines.
func (p *Parts) Close() {
	for _, k := range p.busy {
		k.quit = true
		k.stop()
	}
	for _, k := range p.idle {
		k.quit = true
		k.stop()
	}
	p.busy, p.idle = nil, nil
}

// start takes a coroutine for a rank.
func (p *Parts) start(rank int) *part {
	var k *part
	if n := len(p.idle); n > 0 {
		k, p.idle = p.idle[n-1], p.idle[:n-1]
	} else {
		k = &part{of: p, guard: guard{opts: p.opts, ctx: p.ctx}}
		k.setup = setupOf(p.l, &k.guard)
		k.setup.Core = k
		k.next, k.stop = iter.Pull(k.body)
	}
	p.busy[rank] = k
	for g := range p.l.Groups {
		if n := p.l.Groups[g].NumBlocks(); rank >= n {
			rank -= n
			continue
		}
		k.group = &p.l.Groups[g]
		break
	}
	placeBlock(&k.setup, p.l, k.group, rank)
	k.slice, k.stopped, k.ended = mem.At(mem.HBM, k.setup.PE, 0), nil, false
	return k
}

// body runs one kernel after the other.
func (k *part) body(yield func(struct{}) bool) {
	k.yield = yield
	for {
		if k.tl == nil {
			k.tl = tl.NewContext(k.setup)
		} else {
			tl.DriverOf(k.tl).Reset(k.setup)
		}
		k.err = k.run(k.of.l.Kernel, k.group.Args)
		if k.quit {
			return
		}
		k.of.ops = append(k.of.ops, Op{Code: End, Dst: tl.None, A: tl.None, B: tl.None, C: tl.None})
		k.ended = true
		if !yield(struct{}{}) {
			return
		}
	}
}

// Do records an instruction, and parks the kernel at the end of a part.
func (k *part) Do(in *tl.Instr) {
	if in.Op == tl.OpDrop {
		return
	}
	k.allow(in)
	switch in.Op {
	case tl.OpLoad, tl.OpStore:
		k.offset(in)
	case tl.OpSend:
		if in.A == tl.None && in.N > 0 {
			k.offset(in)
		}
	case tl.OpRecv:
		fillReceive(in)
	}
	p := k.of
	p.ops = append(p.ops, p.op(in, k.reads(in.A), k.reads(in.B), k.reads(in.C)))
	if in.Dst != tl.None {
		tl.DriverOf(k.tl).Cell(in.Dst).Filled = true
	}
	if len(p.ops) >= k.limit && !k.yield(struct{}{}) {
		k.quit = true
		tl.DriverOf(k.tl).Abandon()
	}
}
