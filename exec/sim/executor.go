package sim

import (
	"context"
	"errors"
	"fmt"
	"io"

	"kernbench/conf"
	"kernbench/des"
	"kernbench/exec/sim/recorded"
	"kernbench/exec/sim/replay"
	"kernbench/exec/stall"
	"kernbench/fault"
	"kernbench/hw/noc"
	"kernbench/hw/pe"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/record/cause"
	"kernbench/record/history"
	"kernbench/record/oplog"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// Options of an Executor.
type Options struct {
	Fidelity    noc.Fidelity
	Data        *oplog.Log   // where to record what happens to values; nil for timing only
	RecordLines bool         // keep the kernel's source lines, for faults that name two operations
	Trace       trace.Sink   // consumer of events, or nil
	Scope       trace.Scope  // the part of the run that Trace gets
	Usage       *trace.Usage // gets all of the run, and links count; nil: neither
	Edits       *tl.Edits    // of kernels, or nil
	History     *history.Log // account of memory for the judge of races, or nil; implies RecordLines
	Seed        uint64       // of random delays within what the memory order allows; 0: none
	Causes      *cause.Log   // gets why time passes, or nil; implies RecordLines
	Pointers    io.Writer    // gets the pointers of all rings as each launch leaves them, or nil

	// SecondCore lets an idle second processor apply the data of replayed launches. It changes no
	// result.
	SecondCore bool

	// Yield stops every kernel at every instruction until global time has caught up. It changes no
	// result; tests compare it with the normal mode.
	Yield bool

	// EventDriven keeps launches from being replayed. It changes no result; tests compare both
	// modes.
	EventDriven bool

	// Progress, if set, is called now and then with the ranks that have ended.
	Progress func(done, ranks int, now unit.Time)
}

// Executor runs launches on a simulated machine, one after the other.
type Executor struct {
	opts         Options
	m            *machine.Machine
	topo         *conf.Topology
	spec         *pe.Spec
	order        mem.Ordering
	q            des.Queue
	net          *noc.Fabric
	hbm          *machine.LinkSpec        // the port of a PE's HBM slice
	capacity     [mem.SRAM + 1]unit.Bytes // of one memory, by kind
	routes       map[path]noc.Route
	pairs        *machine.PairClasses // of PEs that write to each other's memory
	pairTimes    []pairTimes          // by their numbers
	hops         []machine.Hop        // found last
	groups       map[string]*group
	switchRoutes map[switchRoute]switchPath
	run          *run
	replaying    *replay.Replay
	traceAt      int       // see trace.Sorter.Kept
	end          unit.Time // of the last launch's kernels
	broken       error
}

// New makes an executor for a machine. It does not own the log.
func New(m *machine.Machine, o Options) *Executor {
	t := m.Topology()
	e := &Executor{
		opts: o, m: m, topo: t, spec: pe.FromConfig(t), routes: map[path]noc.Route{},
	}
	if o.History != nil {
		o.History.Timed = true
	}
	e.order, _ = mem.ParseOrdering(t.Fabric().MemoryOrder) // which conf has checked
	for s := mem.HBM; s <= mem.SRAM; s++ {
		e.capacity[s] = m.Capacity(node(m, mem.At(s, 0, 0))) // memories of a kind are alike
	}
	e.hbm = m.Spec(m.Route(nil, m.HBM(0), m.PE(0))[0].Link)
	e.net = e.newFabric()
	if o.Usage != nil {
		e.net.CountUse()
	}
	if o.Usage != nil && o.Trace == nil {
		e.opts.Trace = discard{}
	}
	return e
}

func (e *Executor) newFabric() *noc.Fabric {
	f := e.topo.Fabric()
	net := noc.New(&e.q, e.m, (*sink)(e), e.opts.Fidelity, noc.Sizes{Message: f.MessageBytes, Flit: f.FlitBytes, Buffer: f.BufferBytes})
	net.Explain(e.opts.Causes)
	return net
}

// Counts implements exec.Counter.
func (e *Executor) Counts() []noc.Count { return e.net.Counts() }

// Data returns the log of the data pass, or nil.
func (e *Executor) Data() *oplog.Log { return e.opts.Data }

// Close does nothing: nothing outlives a launch.
func (e *Executor) Close() {}

// Now returns the simulated time at which the last launch was at rest.
func (e *Executor) Now() unit.Time { return max(e.q.Now(), e.end) }

// ErrBroken is wrapped by launches after one that ended in a fault, because the messages in flight
// are lost.
var ErrBroken = errors.New("an earlier launch of this run failed")

// Launch runs a kernel on all groups. It returns when all kernels have ended, all messages have
// arrived and all credits are back.
func (e *Executor) Launch(ctx context.Context, l *launch.Launch) (*launch.Result, error) {
	if e.broken != nil {
		return nil, fmt.Errorf("%w: %w", ErrBroken, e.broken)
	}
	if err := l.Validate(); err != nil {
		return nil, err
	}
	res, why, err := e.replayed(ctx, l)
	if err != nil || res != nil {
		return res, err
	}
	x, err := e.prepare(l)
	if err != nil {
		return nil, err
	}
	x.mode = "event-driven: " + why.Events
	if x.shown, err = e.classRanks(ctx, l); err != nil {
		return nil, err
	}
	if !why.Irregular {
		return e.perform(ctx, x)
	}
	x.log = nil // some of the data may have been applied: only the fault is needed
	if _, err = e.perform(ctx, x); err == nil {
		err = fmt.Errorf("internal error: launch %s ends when it is simulated by events, and not when it is replayed", l.Name)
		e.broken = err
	}
	return nil, err
}

// perform simulates what has been prepared.
func (e *Executor) perform(ctx context.Context, x *run) (*launch.Result, error) {
	l := x.launch
	e.run = x
	e.broken = recorded.ErrExited // if the launch never returns
	defer func() {                // also when a kernel ends the goroutine
		x.stopAll()
		e.run = nil
	}()
	err := x.simulate(ctx)
	if e.opts.Pointers != nil && x.batch == nil {
		for g := range l.Groups {
			fmt.Fprintf(e.opts.Pointers, "launch %s, group %d of %d:\n%s\n", l.Name, g, len(l.Groups),
				fault.Pointers(stall.OfRanks(&l.Groups[g], x.ringEnds(int32(g))), 0))
		}
	}
	e.end = max(e.end, x.result.End)
	if err == nil {
		x.endCauses()
	}
	x.stopAll()
	if x.history != nil {
		x.history.Flush()
	}
	x.emitTrace(x.fault != nil, x.faultAt.time)
	if err == nil && e.opts.Data != nil {
		err = e.opts.Data.Flush()
	}
	if e.broken = err; err != nil {
		return nil, err
	}
	result := x.result // a pointer into the run would keep all of it
	return &result, nil
}

// path is a path between two nodes. That of a read request leaves out the far memory's port.
type path struct {
	from, to machine.NodeID
	request  bool
}

// mostRoutes is the largest number of paths that an explained run caches. A run can have millions,
// and the fabric can compute each of them again.
const mostRoutes = 1 << 16

// find returns a path, and caches it.
func (e *Executor) find(p path) noc.Route {
	r, ok := e.routes[p]
	if !ok {
		if e.opts.Causes != nil && len(e.routes) >= mostRoutes {
			clear(e.routes)
		}
		r = e.net.AddRoute(p.from, p.to, p.request)
		e.routes[p] = r
	}
	return r
}

// route returns the path between two nodes.
func (e *Executor) route(from, to machine.NodeID) noc.Route { return e.find(path{from, to, false}) }

// request returns the path of a read request to a memory.
func (e *Executor) request(from, to machine.NodeID) noc.Route { return e.find(path{from, to, true}) }

// checkAddress refuses physical addresses that the machine does not have.
func (e *Executor) checkAddress(a mem.Addr, bytes int64) string {
	units := e.m.NumPEs()
	if a.Space() == mem.SRAM {
		units = e.m.NumCubes()
	}
	if a.Unit() >= units {
		return fmt.Sprintf("the machine has %d memories of that kind", units)
	}
	if have := int64(e.capacity[a.Space()]); a.Offset() > have || bytes < 0 || bytes > have-a.Offset() {
		return fmt.Sprintf("the memory has %d bytes", have)
	}
	return ""
}

// place adds the machine's names to the place of a fault.
func (e *Executor) place(r *rank, op string) fault.Place {
	return e.placeOf(int(r.index), int(r.pe), op, r.Clock)
}

func (e *Executor) placeOf(rank, pe int, op string, at unit.Time) fault.Place {
	return fault.Place{Rank: rank, PE: e.m.PEName(pe), Op: op, Time: at, Timed: true}
}
