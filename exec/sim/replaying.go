package sim

import (
	"context"
	"errors"
	"fmt"

	"kernbench/des"
	"kernbench/exec/sim/recorded"
	"kernbench/exec/sim/replay"
	"kernbench/hw/noc"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/program"
	"kernbench/record/history"
	"kernbench/record/trace"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// needsEvents returns why a launch needs event-driven simulation whatever its kernel does: its
// options, or rings that replay does not support. It returns "" if it does not.
func (e *Executor) needsEvents(l *launch.Launch) string {
	o := &e.opts
	switch {
	case o.EventDriven:
		return "asked for"
	case o.Yield:
		return "stops at every instruction"
	case o.Seed != 0:
		return "random delays"
	case o.RecordLines:
		return "source lines"
	case o.Edits != nil:
		return "edits"
	case o.Causes != nil:
		return "causes"
	case o.Usage != nil:
		return "counts of use"
	case o.Trace != nil && o.Scope.Partial(l.World()):
		return "part of a trace"
	case o.Pointers != nil:
		return "pointers of rings"
	case o.Fidelity == noc.Flit:
		return "fidelity flit"
	case l.Watch.Timed():
		return "limit of simulated time"
	case l.SeveralBlocks():
		return "several blocks of a rank"
	case l.Ring.Mixed:
		return "rings with slots of their own"
	case l.Ring.OnRecv:
		return "credit: on_recv"
	case l.Ring.Space != mem.TCM:
		return fmt.Sprintf("rings in %v", l.Ring.Space)
	}
	for i := range l.Groups {
		if l.Groups[i].Args.Uses != nil {
			return "use counters"
		}
	}
	return ""
}

// replayed replays a launch if possible, and applies its data. If not, the result is nil, and
// nothing has changed except as the verdict states.
func (e *Executor) replayed(ctx context.Context, l *launch.Launch) (*launch.Result, recorded.Verdict, error) {
	if reason := e.needsEvents(l); reason != "" {
		return nil, recorded.Verdict{Events: reason}, nil
	}
	for g := range l.Groups {
		for i := range l.Groups[g].PEs {
			if err := e.checkRank(l, &l.Groups[g], i); err != nil {
				return nil, recorded.Verdict{}, err
			}
		}
	}
	e.broken = recorded.ErrExited // if a kernel ends the goroutine
	r := &replaying{e: e, l: l, start: e.Now()}
	v, err := r.recorded().Run(ctx)
	if e.broken = err; err != nil || v.Events != "" {
		return nil, v, err
	}
	return r.ends(), v, nil
}

// ends takes over what a replay has found.
func (r *replaying) ends() *launch.Result {
	e := r.e
	e.end = max(e.end, r.result.End, r.rest)
	if e.opts.Trace != nil {
		trace.Sort(r.trace)
		for i := range r.trace {
			e.opts.Trace.Emit(&r.trace[i])
		}
	}
	r.account()
	return r.result
}

// account records the start and end of the ranks. Their accesses need no records: each touched its
// own memory only, in program order.
func (r *replaying) account() {
	log := r.e.opts.History
	if log == nil {
		return
	}
	for g := range r.l.Groups {
		for i, pe := range r.l.Groups[g].PEs {
			agent := log.Begins(history.AgentInfo{Rank: i, PE: int(pe), Stream: -1, Program: -1}, history.Host, r.start)
			log.Joins(history.Host, agent, r.result.End)
		}
	}
	log.Flush()
}

// replaying is a launch that is replayed.
type replaying struct {
	e      *Executor
	l      *launch.Launch
	start  unit.Time
	result *launch.Result
	rest   unit.Time
	trace  []trace.Event
}

func (r *replaying) recorded() *recorded.Launch {
	return &recorded.Launch{
		Launch: r.l, Options: r.e.recording(), Data: r.e.opts.Data, SecondCore: r.e.opts.SecondCore,
		Replay: r.times, Discard: r.discard,
	}
}

// recording returns how programs are recorded.
func (e *Executor) recording() program.Options {
	return program.Options{Own: e.capacity[mem.HBM], Places: e.opts.Data != nil, Long: true, PEName: e.m.PEName}
}

// times replays a program. Without a result the machine is as it was.
func (r *replaying) times(ctx context.Context, p *program.Program) (v recorded.Verdict, err error) {
	e, l := r.e, r.l
	in := &replay.Input{
		Program: p, Launch: l, Start: r.start,
		Machine: e.m, Spec: e.spec, Net: e.net, Queue: &e.q, Ideal: e.opts.Fidelity == noc.Ideal, HBM: e.hbm,
		Message: e.topo.Fabric().MessageBytes, Trace: e.opts.Trace != nil, Look: e.look(ctx),
	}
	var hops []machine.Hop
	in.Timing = func(from, to int) (late, credit unit.Time) {
		late, _ = l.Ring.Protocol.Late(e.m.Between(from, to))
		credit, hops = e.creditTime(&l.Ring, to, from, hops)
		return late, credit
	}
	mode := "replay, 1 class"
	if n := len(p.Records); n != 1 {
		mode = fmt.Sprintf("replay, %d classes", n)
	}
	if p.Long {
		in.Parts = program.NewParts(ctx, l, e.recording())
		defer in.Parts.Close()
		mode = "replay in parts"
	}
	x := replay.New(in)
	defer x.Close()
	if v.Events = x.Unfit(); v.Events != "" {
		return v, nil
	}
	e.replaying = x
	res, err := x.Run()
	e.replaying = nil
	if err == nil {
		res.Mode = mode
		r.result, r.rest, r.trace = res, x.Rest(), x.Events()
		return v, nil
	}
	r.discard()
	if errors.Is(err, replay.ErrIrregular) {
		return recorded.Verdict{Events: err.Error(), Irregular: true}, nil
	}
	return v, err
}

// discard puts the machine at rest where the launch began, and forgets its result.
func (r *replaying) discard() {
	e := r.e
	r.result, r.trace = nil, nil
	e.q = *des.From(r.start)
	e.net = e.newFabric()
	clear(e.routes)
	clear(e.switchRoutes)
}
