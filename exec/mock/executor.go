package mock

import (
	"context"
	"fmt"
	"io"
	"iter"

	"kernbench/fault"
	"kernbench/oplog"
	"kernbench/tl"
)

// Options of an Executor.
type Options struct {
	Data        *oplog.Log // where to record what happens to values; nil for none
	RecordLines bool       // keep the kernel's source lines for faults
	Pointers    io.Writer  // gets the pointers of all rings as each launch leaves them, or nil
}

// Executor runs launches without a clock.
type Executor struct{ opts Options }

// New makes an executor. It does not own the log.
func New(o Options) *Executor { return &Executor{o} }

// Data is the log of the data pass, or nil.
func (e *Executor) Data() *oplog.Log { return e.opts.Data }

// Close does nothing: nothing outlives a launch.
func (e *Executor) Close() {}

// run is one launch.
type run struct {
	ctx    context.Context
	launch *tl.Launch
	log    *oplog.Log
	ranks  []*rank // of all groups
	rings  []*ring
	result tl.Result
	hung   bool
}

// Launch runs a kernel to its end on all groups. The first fault of a kernel, in the
// order in which ranks run, ends it.
func (e *Executor) Launch(ctx context.Context, l *tl.Launch) (*tl.Result, error) {
	if err := l.Validate(); err != nil {
		return nil, err
	}
	x := &run{ctx: ctx, launch: l, log: e.opts.Data}
	x.wire(e.opts.RecordLines)
	defer x.clear()
	err := x.loop()
	if w := e.opts.Pointers; w != nil {
		for g := range l.Groups {
			fmt.Fprintf(w, "launch %s, group %d of %d:\n%s\n", l.Name, g, len(l.Groups), fault.Pointers(x.ends(g), 0))
		}
	}
	if err != nil {
		return nil, err
	}
	if err := x.leftOver(); err != nil {
		return nil, err
	}
	if x.log != nil {
		if err := x.log.Flush(); err != nil {
			return nil, err
		}
	}
	for _, r := range x.rings {
		x.result.Messages += r.messages
		x.result.Bytes += r.bytes
	}
	return &x.result, nil
}

// wire makes the ranks of all groups, their rings and coroutines.
func (x *run) wire(lines bool) {
	l := x.launch
	for gi := range l.Groups {
		g := &l.Groups[gi]
		base := len(x.ranks)
		for i, pe := range g.PEs {
			r := &rank{run: x, group: gi, index: i, pe: pe, ready: true, served: -1}
			r.kernel = tl.NewContext(tl.Setup{
				Core: r, Rank: i, World: len(g.PEs), PE: int(pe), PEsPerCube: g.PEsPerCube,
				Wiring: &g.Wiring[i], Ring: &l.Ring, Addrs: l.Addrs, Scratch: l.Scratch,
				RecordLines: lines, CellCapacity: 8,
			})
			r.in = make([]*ring, len(g.Wiring[i].In))
			r.held = make([]bool, len(r.in))
			r.next, r.stop = iter.Pull(r.body(l.Kernel, g.Args))
			x.ranks = append(x.ranks, r)
		}
		for i, r := range x.ranks[base:] {
			for _, o := range g.Wiring[i].Out {
				q := &ring{cfg: &l.Ring, log: x.log, from: r, to: x.ranks[base+int(o.Peer)]}
				r.out = append(r.out, q)
				q.to.in[o.PeerIn] = q
				x.rings = append(x.rings, q)
			}
		}
	}
}

// body is a rank's coroutine.
func (r *rank) body(k tl.Kernel, a tl.Args) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		r.yield = yield
		r.abandoned, r.err = r.kernel.Run(k, a)
		if !r.abandoned {
			r.finish()
		}
		r.done = true
	}
}

// loop gives turns in the order of ranks until all have ended or none can go on.
func (x *run) loop() error {
	left := len(x.ranks)
	for left > 0 {
		moved := false
		for _, r := range x.ranks {
			if !r.ready || r.done {
				continue
			}
			if x.ctx.Err() != nil {
				return x.cancelled(r)
			}
			moved = true
			r.next()
			if !r.done {
				continue
			}
			switch left--; {
			case r.err != nil:
				return r.err
			case r.abandoned:
				return x.cancelled(r)
			}
		}
		if !moved {
			return x.deadlock()
		}
	}
	return nil
}

// cancelled is why a rank gave up: the launch was cancelled, or, when it was not, the kernel
// did what is for executors.
func (x *run) cancelled(r *rank) error {
	if err := x.ctx.Err(); err != nil {
		return fmt.Errorf("stopped: %w", err)
	}
	return &fault.Misuse{Place: fault.Place{Rank: r.index, Op: "abandon"}, Reason: "it is for executors: a kernel ends by returning"}
}

// leftOver is the fault of a launch that ended well but for messages in its rings.
func (x *run) leftOver() error {
	for _, r := range x.ranks {
		for port, q := range r.in {
			if n := len(q.queue); n > 0 {
				return &fault.Unreceived{
					Place: fault.Place{Rank: r.index},
					Dir:   x.launch.Groups[r.group].Wiring[r.index].In[port].Dir.String(),
					From:  q.from.index, Count: n,
				}
			}
		}
	}
	return nil
}

// clear ends all coroutines and drops all references.
func (x *run) clear() {
	for _, r := range x.ranks {
		r.stop()
		r.clear()
	}
	for _, q := range x.rings {
		q.clear()
	}
}
