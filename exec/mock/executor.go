package mock

import (
	"context"
	"fmt"
	"io"

	"kernbench/dtype"
	"kernbench/exec/stall"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/record/oplog"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// Options of an Executor.
type Options struct {
	Data        *oplog.Log   // where to record what happens to values; nil for none
	History     *history.Log // account of memory for the judge of races, or nil; implies RecordLines, unless it is terse
	RecordLines bool         // keep the kernel's source lines for faults
	Edits       *tl.Edits    // of kernels, or nil
	Trace       trace.Sink   // gets the sends and receives of kernels, without times, or nil
	Pointers    io.Writer    // gets the pointers of all rings as each launch leaves them, or nil

	// Seed selects one of the schedules that Order allows: the order of turns, and the times at
	// which effects on other memories happen. 0: ranks in order, effects at once.
	Seed  uint64
	Order mem.Ordering
	// Multimem returns what the machine lacks for operations that combine the copies of some PEs,
	// or store to them. nil: nothing.
	Multimem func(pes []int32, t dtype.Type, reduces, copies bool) error

	NoAtomics bool // no fetch_add and compare_swap on words of other PEs
}

// Executor runs launches without a clock.
type Executor struct {
	opts Options
	runs uint64 // so far
}

// New makes an executor. It does not own the logs.
func New(o Options) *Executor { return &Executor{opts: o} }

// Data returns the log of the data pass, or nil.
func (e *Executor) Data() *oplog.Log { return e.opts.Data }

// Close does nothing, because nothing outlives a launch.
func (e *Executor) Close() {}

// run is one launch, or one run of streams.
type run struct {
	ctx     context.Context
	opts    *Options
	launch  *launch.Launch // of streams: one without groups
	batch   *batch         // of streams, or nil
	log     *oplog.Log
	history *history.Log
	local   bool    // see history.Log.Hold: the account is held back, or dropped
	ranks   []*rank // of all groups
	rings   []*ring
	outcome
	turns
	effects []*effect // in flight
	words
}

// outcome holds what comes out of a run.
type outcome struct {
	result launch.Result
	failed error // the first fault
	hung   bool
}

// begin makes a run.
func (e *Executor) begin(ctx context.Context, l *launch.Launch) *run {
	e.runs++
	return &run{
		ctx: ctx, opts: &e.opts, launch: l, log: e.opts.Data, history: e.opts.History,
		turns: turns{random: shuffled(e.opts.Seed, e.runs)}, words: words{watches: map[int32][]watch{}},
	}
}

// Launch runs a kernel to its end on all groups. The first fault of a kernel, in the
// order in which ranks run, ends it.
func (e *Executor) Launch(ctx context.Context, l *launch.Launch) (*launch.Result, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	x := e.begin(ctx, l)
	x.wire()
	defer x.clear()
	err := x.loop()
	if w := e.opts.Pointers; w != nil {
		for g := range l.Groups {
			fmt.Fprintf(w, "launch %s, group %d of %d:\n%s\n", l.Name, g, len(l.Groups),
				fault.Pointers(stall.OfRanks(&l.Groups[g], x.ends(g)), 0))
		}
	}
	if err != nil {
		return nil, err
	}
	if err := x.leftOver(); err != nil {
		return nil, err
	}
	for _, r := range x.rings {
		x.result.Messages += r.sent
		x.result.Bytes += r.bytes
	}
	x.result.Traffic = l.Traffic(func(i int) tl.Traffic { return tl.DriverOf(x.ranks[i].kernel).Traffic() })
	return x.finish()
}

// finish hands over the rest of the log.
func (x *run) finish() (*launch.Result, error) {
	if x.log != nil {
		if err := x.log.Flush(); err != nil {
			return nil, err
		}
	}
	return &x.result, nil
}

// wire makes the ranks of all groups, their rings and coroutines.
func (x *run) wire() {
	l := x.launch
	for gi := range l.Groups {
		g := &l.Groups[gi]
		base := len(x.ranks)
		for i := range g.NumBlocks() {
			b := g.Block(i)
			r := &rank{run: x, group: gi, index: b.Rank, block: i, pe: g.PEs[b.Rank], wiring: &g.Wiring[i]}
			r.served = -1
			r.start(g.Setup(i, l.Scratch), l.Kernel, g.Args)
			x.ranks = append(x.ranks, r)
			x.enter(r)
		}
		for i, r := range x.ranks[base:] {
			for _, o := range g.Wiring[i].Out {
				q := newRing(&l.Ring, l.Ring.SlotsOf(o.Slots), x.log, r, x.ranks[base+int(o.Peer)])
				r.out = append(r.out, q)
				q.to.in[o.PeerIn] = q
				x.rings = append(x.rings, q)
			}
		}
	}
	if x.history != nil {
		x.accountStart()
	}
}

// leftOver returns the fault of a launch that ended with messages in its rings.
func (x *run) leftOver() error {
	for _, r := range x.ranks {
		for port, q := range r.in {
			if n := int(q.Waiting()); n > 0 {
				e := &fault.Unreceived{Place: fault.Place{Rank: r.index}, From: q.from.index, Count: n}
				return tl.Unreceived(e, r.kernel, port, q.from.kernel, int(r.wiring.In[port].PeerOut))
			}
		}
	}
	return nil
}

// clear ends all coroutines, drops all references and hands over the rest of the account, however
// the run ended.
func (x *run) clear() {
	if log := x.opts.History; log != nil {
		if x.local {
			log.Forget()
		}
		log.End()
		defer log.Flush()
	}
	for _, a := range x.actors {
		if r, ok := a.(*rank); ok {
			r.stop()
			r.clear()
		}
	}
	for _, q := range x.rings {
		q.clear()
	}
	if x.log == nil {
		return
	}
	for _, e := range x.effects {
		x.log.Release(e.value)
	}
	if x.batch != nil {
		for _, s := range x.batch.streams {
			x.log.Release(s.copied)
		}
	}
}
