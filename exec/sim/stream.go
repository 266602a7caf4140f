package sim

import (
	"context"
	"fmt"

	"kernbench/fault"
	"kernbench/record/cause"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// batch is the additional state of a run of streams. Streams are the first ranks of the run. The
// others are places of resident programs, and of tasks of communication engines. A program takes
// the place of one that has ended.
type batch struct {
	*launch.Batch
	engines map[int32]*rank // by PE: the first of its streams, whose engines its programs use
	gangs   map[*launch.Gang]*gang
	events  map[*launch.Event]*event
	queues  map[int32][]*queue // of communication engines, by PE that posts to them
}

// gang is a group launch: the streams that have come to it.
type gang struct {
	arrived []*rank
	at      unit.Time
	last    cause.Point // cause of the time at
	gone    bool
}

// event is an event of streams: its time, and the streams that wait for it.
type event struct {
	at      unit.Time
	cause   cause.Point
	number  uint32 // in the account, plus 1; 0: none yet
	waiting []*rank
}

// stream is the additional state of a rank that is a stream.
type stream struct {
	ops          []launch.StreamOp
	op           *launch.StreamOp // in progress
	grid         grid
	programSlots []rank     // each holds a program that runs
	traffic      tl.Traffic // of those that have ended
}

// hosted holds what a rank of a run of streams has.
type hosted struct {
	stream  *stream // of a rank that is a stream
	parent  *rank   // of a program of a grid, or of a task that such a one has posted: its stream
	program int     // its number
}

// grid is the launch that a stream is at.
type grid struct {
	*launch.GridLaunch
	started, ended int

	tasks int                    // posted by programs and not ended
	last  [tl.EngineQueues]*task // the last that they have posted to each queue
}

// over reports whether all programs have ended, and all tasks that they have posted.
func (g *grid) over() bool { return g.ended == g.Grid && g.tasks == 0 }

// RunStreams lets all streams do what is queued, side by side, and returns when everything
// has come to rest.
func (e *Executor) RunStreams(ctx context.Context, b *launch.Batch) (*launch.Result, error) {
	if e.broken != nil {
		return nil, fmt.Errorf("%w: %w", ErrBroken, e.broken)
	}
	if err := b.Validate(); err != nil {
		return nil, err
	}
	x, err := e.prepareBatch(b)
	if err != nil {
		return nil, err
	}
	return e.perform(ctx, x)
}

// prepareBatch makes the ranks of all streams, and space for those of their programs.
func (e *Executor) prepareBatch(b *launch.Batch) (*run, error) {
	l := &launch.Launch{
		Name: "streams", Groups: []launch.Group{{}}, Addrs: b.Addrs, Scratch: b.Scratch,
		Ring:  tl.Ring{Slots: 1, SlotBytes: 8, Poll: b.Poll, PollEvery: b.PollEvery, WakeCost: b.WakeCost, Protocol: b.Protocol},
		Watch: b.Watch,
	}
	x := &run{
		e: e, mode: "event-driven: streams", launch: l, log: e.opts.Data, history: e.opts.History, ring: &l.Ring,
		start: e.Now(), tracing: e.tracing(),
		batch: &batch{Batch: b, engines: map[int32]*rank{}, gangs: map[*launch.Gang]*gang{}, events: map[*launch.Event]*event{},
			queues: map[int32][]*queue{}},
	}
	places := make([]int, len(b.Streams)) // places that the programs of each stream need
	all := len(b.Streams)
	for i := range b.Streams {
		s := &b.Streams[i]
		if s.PE < 0 || int(s.PE) >= e.m.NumPEs() {
			return nil, fmt.Errorf("stream %d is of PE %d: the machine has %d", s.ID, s.PE, e.m.NumPEs())
		}
		if b.Engine != nil {
			x.batch.queues[s.PE] = nil // counted here, made below
		}
		for k := range s.Ops {
			switch op := &s.Ops[k]; op.Kind {
			case launch.StreamLaunch:
				places[i] = max(places[i], min(op.Launch.Grid, op.Launch.Resident))
				all += op.Launch.Grid
				if g := op.Launch.Gang; g != nil && x.batch.gangs[g] == nil {
					x.batch.gangs[g] = &gang{}
				}
			case launch.StreamRecord, launch.StreamAwait:
				if x.batch.events[op.Event] == nil {
					x.batch.events[op.Event] = &event{}
				}
			}
		}
	}
	x.startCauses()
	next := len(b.Streams)
	for _, n := range places {
		next += n
	}
	tasks := next
	x.ranks = make([]rank, next+len(x.batch.queues)*tl.EngineQueues)
	x.expect(all)
	next = len(b.Streams)
	for i := range b.Streams {
		s := &b.Streams[i]
		r := &x.ranks[i]
		x.prepareAgent(r, int32(i), s.PE, s.Rank)
		if x.batch.engines[s.PE] == nil {
			x.batch.engines[s.PE] = r
			r.Reset(x.start)
		}
		r.stream = &stream{ops: s.Ops, programSlots: x.ranks[next : next+places[i]]}
		for k := range r.stream.programSlots {
			r.stream.programSlots[k].id = int32(next + k)
		}
		next += places[i]
		x.begins(r, tl.Setup{Rank: s.Rank, World: 1, Scratch: b.Scratch}, r.work, tl.Args{})
		r.beginCauses(0)
		r.accountStart()
	}
	x.prepareEngines(tasks)
	return x, nil
}

// prepareAgent sets the fields that streams and programs share. Counters that distinguish the
// agents of a place continue.
func (x *run) prepareAgent(r *rank, id, pe int32, index int) {
	e := x.e
	posted, drawn, flows := r.posted, r.randomSched.drawn, r.flows
	*r = rank{run: x, id: id, index: int32(index), pe: pe, source: uint32(pe), posted: posted,
		ringUse: ringUse{lastAny: -1}, traced: traced{flows: flows}}
	r.randomSched.drawn = drawn
	r.component = uint32(e.m.NumLinks()+e.m.NumPEs()) + uint32(id)
	r.engines = &r.PE
	if first := x.batch.engines[pe]; first != nil {
		r.engines = &first.PE
	}
	r.Clock = x.start
	r.sit(pe)
}

// work is the body of a stream: its operations in order.
func (r *rank) work(*tl.Context, tl.Args) {
	s := r.stream
	for i := range s.ops {
		s.op = &s.ops[i]
		r.performsOp(s.op)
		switch s.op.Kind {
		case launch.StreamCopy:
			r.engineCopy(s.op)
		case launch.StreamLaunch:
			r.launchGrid(s.op.Launch)
		case launch.StreamRecord:
			r.record(s.op.Event)
		case launch.StreamAwait:
			r.awaitEvent(s.op.Event)
		case launch.StreamWait, launch.StreamWrite:
			r.onWord(s.op)
		}
	}
	s.op = nil
}

// launchGrid starts the programs of a kernel, as many as may be resident. It waits until all have
// ended, and all tasks that they have posted.
func (r *rank) launchGrid(l *launch.GridLaunch) {
	g := &r.stream.grid
	*g = grid{GridLaunch: l}
	if l.Gang != nil {
		r.meet(r.run.batch.gangs[l.Gang], l.Gang.Members)
	}
	for i := range min(l.Resident, l.Grid) {
		r.startProgram(&r.stream.programSlots[i], r.Clock, r.point())
	}
	for !g.over() {
		r.park(forOthers)
	}
	r.accountTasks()
}

// meet waits until all members of a group launch have come to it, and starts when the last
// one did.
func (r *rank) meet(g *gang, members int) {
	g.arrived = append(g.arrived, r)
	if g.at = max(g.at, r.Clock); r.causes != nil {
		r.run.later(&g.last, r.causes.at)
	}
	if len(g.arrived) < members {
		for !g.gone {
			r.park(forOthers)
		}
	} else {
		g.gone = true
		for _, other := range g.arrived[:members-1] {
			other.Clock = g.at
			other.wokenBy(g.last)
			other.wake(g.at)
		}
	}
	r.Clock = g.at
	r.waitedFor(cause.Event, 0, g.last)
}

// startProgram starts the next program of the grid that a stream is at, in a place that is
// free.
func (r *rank) startProgram(p *rank, at unit.Time, after cause.Point) {
	x, g := r.run, &r.stream.grid
	x.prepareAgent(p, p.id, r.pe, g.Rank)
	p.parent, p.program = r, g.started
	p.Clock = at
	p.began = at
	x.begins(p, tl.Setup{
		Rank: g.Rank, World: g.World, Scratch: x.launch.Scratch, Program: g.started, Grid: g.Grid,
		CoreType: g.CoreType(g.started), Engine: x.batch.Engine != nil,
	}, g.Kernel, g.Args)
	p.beginCauses(after)
	p.accountStart()
	g.started++
	p.resumeAt(at)
}

// programEnded starts the next program of a grid in the place of this one, or resumes the stream.
func (r *rank) programEnded() {
	s := r.parent
	g := &s.stream.grid
	g.ended++
	s.stream.traffic.Add(tl.DriverOf(r.ctx).Traffic())
	if r.run.log != nil {
		tl.DriverOf(r.ctx).DropAll()
	}
	s.endsBy(r)
	s.AdvanceTo(r.Clock)
	switch {
	case g.started < g.Grid:
		s.startProgram(r, r.Clock, r.point())
	case g.over():
		s.wake(s.Clock)
	}
}

// record marks an event as having happened.
func (r *rank) record(e *launch.Event) {
	v := r.run.batch.events[e]
	e.Happened, v.at, v.cause = true, r.Clock, r.point()
	r.accountMark(v)
	for _, w := range v.waiting {
		w.AdvanceTo(v.at)
		w.wokenBy(v.cause)
		w.wake(w.Clock)
	}
	v.waiting = nil
}

// awaitEvent waits until an event has happened. An event that was recorded in an earlier
// batch has.
func (r *rank) awaitEvent(e *launch.Event) {
	v := r.run.batch.events[e]
	for !e.Happened {
		v.waiting = append(v.waiting, r)
		r.park(forOthers)
	}
	r.AdvanceTo(v.at)
	r.waitedFor(cause.Event, 0, v.cause)
	r.accountPass(v)
}

// onWord writes a word, or waits for one, as a kernel would. Later operations of the stream come
// after the write.
func (r *rank) onWord(op *launch.StreamOp) {
	if err := op.CheckWord(r.placeOfOp()); err != nil {
		tl.DriverOf(r.ctx).Fail(err)
	}
	side := op.Side()
	in := tl.Instr{Op: tl.OpWaitWord, Dst: tl.None, A: tl.None, B: tl.None, C: tl.None, Side: &side}
	if op.Kind == launch.StreamWrite {
		in.Op = tl.OpNotify
	}
	r.Do(&in)
	for r.sidedInFlight > 0 {
		r.park(forQuiet)
	}
	r.AdvanceTo(r.opsAckedAt)
	r.waitedForOwn()
}

// placeOfOp returns the place of a stream's operation.
func (r *rank) placeOfOp() fault.Place {
	p := r.run.e.place(r, "")
	if r.stream.op != nil {
		p.Op, p.Line = r.stream.op.Kind.String(), r.stream.op.Line
	}
	return p
}
