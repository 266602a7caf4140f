package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"kernbench/des"
	"kernbench/exec/sim/replay"
	"kernbench/exec/sim/values"
	"kernbench/hw/noc"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/program"
	"kernbench/record/history"
	"kernbench/record/trace"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// needsEvents returns why a launch needs event-driven simulation whatever its kernel does: options
// that look closer, or rings that replay does not know. It returns "" if it does not.
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

// verdict is what came of an attempt to replay a launch.
type verdict struct {
	events    string // why the launch needs event-driven simulation
	irregular bool   // it does because the program does not run to its end; data may be changed
	mode      string // of one that was replayed
}

// replayed replays a launch if it can, and carries out its data; if not, the result is nil, and
// nothing has happened but what the verdict says.
func (e *Executor) replayed(ctx context.Context, l *launch.Launch) (*launch.Result, verdict, error) {
	if reason := e.needsEvents(l); reason != "" {
		return nil, verdict{events: reason}, nil
	}
	for g := range l.Groups {
		for i := range l.Groups[g].PEs {
			if err := e.checkRank(l, &l.Groups[g], i); err != nil {
				return nil, verdict{}, err
			}
		}
	}
	e.broken = errExited // if a kernel ends the goroutine
	r := &replaying{e: e, l: l, start: e.Now()}
	var err error
	if guess := r.guess(ctx); guess != nil {
		err = r.onGuess(ctx, guess)
	} else {
		err = r.inTurn(ctx)
	}
	if e.broken = err; err != nil || r.result == nil {
		return nil, r.verdict, err
	}
	e.end = max(e.end, r.result.End, r.rest)
	e.emitReplayed(r.trace)
	r.account()
	r.result.Mode = r.mode
	return r.result, r.verdict, nil
}

// account says that the ranks began and ended. What they did between is ordered: each touched its
// own memory only, in the order of its program.
func (r *replaying) account() {
	log := r.e.opts.History
	if log == nil {
		return
	}
	for g := range r.l.Groups {
		for i, pe := range r.l.Groups[g].PEs {
			agent := log.Agent(history.Who{Rank: i, PE: int(pe), Stream: -1, Program: -1})
			log.Add(history.Record{Kind: history.Start, Agent: agent, Other: history.Host, Time: r.start})
			log.Add(history.Record{Kind: history.Join, Agent: history.Host, Other: agent, Time: r.result.End})
		}
	}
	log.Flush()
}

// replaying is a launch that is replayed.
type replaying struct {
	e     *Executor
	l     *launch.Launch
	start unit.Time
	verdict
	result *launch.Result
	rest   unit.Time
	trace  []trace.Event
}

// twoCores reports whether there is a second processor to use.
func (e *Executor) twoCores() bool { return e.opts.SecondCore && runtime.GOMAXPROCS(0) > 1 }

// record finds the program of the launch. It is nil if there is none to replay, with the reason.
// The error is that of ctx.
func (r *replaying) record(ctx context.Context, differ func()) (p *program.Program, reason string, err error) {
	p, err = program.RecordLaunch(ctx, r.l, r.options(differ))
	var refused *program.Refusal
	switch {
	case err == nil:
		return p, "", nil
	case ctx.Err() != nil:
		return nil, "", err
	case errors.As(err, &refused):
		return nil, refused.Error(), nil
	case errors.Is(err, program.ErrBudget):
		return nil, fmt.Sprintf("the program takes more than %v", unit.Bytes(program.DefaultBudget)), nil
	}
	return nil, "a kernel fails", nil
}

func (r *replaying) options(differ func()) program.Options {
	return program.Options{Own: r.e.capacity[mem.HBM], Places: r.e.opts.Data != nil, Parts: true, PEName: r.e.m.PEName, Differ: differ}
}

// inTurn records the launch, and then replays it.
func (r *replaying) inTurn(ctx context.Context) error {
	p, reason, err := r.record(ctx, nil)
	if p == nil || err != nil {
		r.verdict = verdict{events: reason}
		return err
	}
	return r.whole(ctx, p)
}

// whole replays a program, with its data beside.
func (r *replaying) whole(ctx context.Context, p *program.Program) error {
	if p.Long && r.e.opts.Data != nil {
		r.verdict = verdict{events: fmt.Sprintf("data of a program of more than %v", unit.Bytes(program.DefaultBudget))}
		return nil
	}
	data := func(ctx context.Context) error {
		if r.e.opts.Data == nil {
			return nil
		}
		return values.Apply(ctx, r.l, p, r.e.opts.Data)
	}
	if !r.e.twoCores() || r.e.opts.Data == nil {
		if err := r.times(ctx, p); err != nil || r.result == nil {
			return err
		}
		return data(ctx)
	}
	inner, quit := context.WithCancel(ctx)
	defer quit()
	beside := start(func() error { return data(inner) })
	defer beside.wait() // also if this goroutine ends
	if err := r.times(ctx, p); err != nil || r.result == nil {
		quit()
		return err
	}
	return beside.wait()
}

// times replays a program. Without a result the machine is as it was.
func (r *replaying) times(ctx context.Context, p *program.Program) error {
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
		in.Parts = program.NewParts(ctx, l, r.options(nil))
		defer in.Parts.Close()
		mode = "replay in parts"
	}
	x := replay.New(in)
	defer x.Close()
	if r.events = x.Unfit(); r.events != "" {
		return nil
	}
	e.replaying = x
	res, err := x.Run()
	e.replaying = nil
	if err == nil {
		r.result, r.rest, r.trace = res, x.Rest(), x.Events()
		r.mode = mode
		return nil
	}
	r.discard()
	if errors.Is(err, replay.ErrIrregular) {
		r.events, r.irregular = err.Error(), true
		return nil
	}
	return err
}

// discard puts the machine at rest where the launch began, and forgets its result.
func (r *replaying) discard() {
	e := r.e
	r.result, r.trace = nil, nil
	e.q = *des.From(r.start)
	e.net = e.newFabric()
	clear(e.routes)
	clear(e.asks)
}
