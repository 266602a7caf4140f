package sim

import (
	"slices"

	"kernbench/hw/pe"
	"kernbench/record/cause"
	"kernbench/record/history"
	"kernbench/record/trace"
	"kernbench/tl"
	"kernbench/unit"
)

// commEngine is a communication engine: a core of its own, with the queues of the PEs that it
// serves. Its queues share the CPU, the DMA and the vector unit.
type commEngine struct {
	pe.PE
	issued cause.Point
	free   unit.Time // when the CPU has issued what it was given
	queues []*queue
}

// queue performs tasks one after the other, in one of the slots for programs of the run.
type queue struct {
	engine      *commEngine
	programSlot *rank // holds the program that runs
	pe          int32
	rank        int // of the device
	number      int
	tasks       []*task // tasks that wait for their turn
	running     *task
	posted      int
	agent       history.Agent // in the account of memory
	joined      bool          // its end is in there, too
}

// task is a program that an engine performs.
type task struct {
	*tl.Task
	queue  *queue
	number int   // in its queue
	parent *rank // stream whose launch ends after it

	// The program that posted it, and its handle there. Another program may have that place by now.
	poster *rank
	ctx    *tl.Context
	cell   int32
	gen    uint32
	event  uint32 // in the account of memory: its posting, then its end
	flow   uint64 // in the trace: from its posting
}

// tasking holds what a rank has of tasks and turns.
type tasking struct {
	task  *task   // of a communication engine; nil: it is none
	turn  int32   // number of the collective that has begun, or 0
	posts []*task // tasks that it has posted and not awaited
}

// name returns how reports call it.
func (t *task) name() string { return tl.TaskName(t.Task, t.number) }

// prepareEngines makes the engines of the PEs of a batch; places are those of their tasks.
func (x *run) prepareEngines(first int) {
	if x.batch.Engine == nil {
		return
	}
	seats := map[int32]*commEngine{}
	for i := range x.batch.Streams {
		s := &x.batch.Streams[i]
		if x.batch.queues[s.PE] != nil {
			continue
		}
		seat := x.seat(s.PE)
		c := seats[seat]
		if c == nil {
			c = &commEngine{free: x.start}
			c.Reset(x.start)
			seats[seat] = c
		}
		for k := range tl.EngineQueues {
			q := &queue{engine: c, programSlot: &x.ranks[first], pe: s.PE, rank: s.Rank, number: k}
			q.programSlot.id = int32(first)
			first++
			c.queues = append(c.queues, q)
			x.batch.queues[s.PE] = append(x.batch.queues[s.PE], q)
			q.agent = x.history.Begins(q.agentInfo(), history.Host, x.start) // tasks come after no more than it knows
		}
	}
}

// seat returns the PE that holds the engine which serves a PE.
func (x *run) seat(pe int32) int32 {
	if x.e.topo.CommEngine().Per != "sip" {
		return pe
	}
	perSIP := int32(x.e.m.CubesPerSIP() * x.e.m.PEsPerCube())
	return pe / perSIP * perSIP
}

// post appends a task to its queue. The task comes after the program's loads and stores, and after
// tasks posted earlier in simulated time.
func (r *rank) post(in *tl.Instr) {
	x, from := r.run, r.Clock
	for r.moving() {
		r.park(forEngines)
	}
	r.AdvanceTo(r.storesAckedAt)
	r.waitedForOwn()
	r.sync()
	q := x.batch.queues[r.pe][in.Task.Queue]
	own, c := *in.Task, tl.DriverOf(r.ctx).Cell(in.Dst)
	t := &task{Task: &own, queue: q, number: q.posted, parent: r.parent, poster: r, ctx: r.ctx, cell: in.Dst, gen: c.Gen(), flow: r.flow()}
	c.Waiting++
	q.posted++
	g := &r.parent.stream.grid
	g.tasks++
	g.last[q.number] = t
	x.expect(1)
	r.posts = append(r.posts, t)
	r.accountPost(t)
	q.tasks = append(q.tasks, t)
	if x.e.opts.Trace != nil {
		r.emit(trace.Event{Kind: trace.Post, Peer: -1, Start: from, End: r.Clock, Flow: t.flow, Line: tl.DriverOf(r.ctx).Line()})
	}
	if q.running == nil {
		q.start(x, r.Clock, r.point())
	}
}

// start begins the next task.
func (q *queue) start(x *run, at unit.Time, after cause.Point) {
	t, p := q.tasks[0], q.programSlot
	q.tasks = q.tasks[1:]
	q.running = t
	x.prepareAgent(p, p.id, q.pe, t.Rank)
	p.parent, p.task = t.parent, t
	p.sit(x.seat(q.pe))
	p.engines, p.source = &q.engine.PE, uint32(x.e.m.NumPEs())+uint32(p.seat)
	p.Clock, p.began = at, at
	x.begins(p, tl.Setup{Rank: t.Rank, World: t.World, Scratch: x.batch.Engine.Scratch}, t.Kernel, t.Args)
	p.beginCauses(after)
	q.accountTask(p, at)
	p.resumeAt(at)
}

// taskEnded resumes the agents that wait for the task, and begins the next one.
func (r *rank) taskEnded() {
	x, t, s := r.run, r.task, r.parent
	q, g := t.queue, &s.stream.grid
	r.accountTaskEnd()
	s.stream.traffic.Add(tl.DriverOf(r.ctx).Traffic())
	if x.log != nil {
		tl.DriverOf(r.ctx).DropAll()
	}
	end, last := r.Clock, r.point()
	s.endsBy(r)
	s.AdvanceTo(end)
	q.running = nil
	if len(q.tasks) > 0 {
		q.start(x, end, last) // r is that one from here on
	}
	if g.tasks--; g.over() {
		s.wake(s.Clock)
	}
	x.setCurrent(last)
	if t.poster.ctx == t.ctx && !t.poster.done {
		t.poster.filled(&transfer{cell: t.cell, gen: t.gen}, end)
	}
}

// postOf returns the task whose handle a cell is, or nil.
func (r *rank) postOf(cell int32) *task {
	for _, t := range r.posts {
		if t.cell == cell && t.gen == tl.DriverOf(r.ctx).Cell(cell).Gen() {
			return t
		}
	}
	return nil
}

// awaited records that a program continues after the task or pipeline of a handle.
func (r *rank) awaited(cell int32) {
	if t := r.postOf(cell); t != nil {
		r.posts = slices.DeleteFunc(r.posts, func(other *task) bool { return other == t })
		if r.run.history != nil {
			r.Record(history.Pass).Ring = t.event
		}
	}
}

// issue gives an instruction to the CPU of the engine, which issues those of all its tasks in
// the order in which they come.
func (c *commEngine) issue(r *rank) {
	r.sync()
	c.free = max(c.free, r.Clock) + r.run.e.spec.Issue
	r.Clock = c.free
	c.issuedFor(r)
}

// timeless performs an instruction that takes no time. It returns false for others.
func (r *rank) timeless(in *tl.Instr) bool {
	switch in.Op {
	case tl.OpMeet:
		r.sync()
	case tl.OpBeginTurn:
		r.sync()
		r.turn = in.Turn.ID
		if log := r.run.log; log != nil {
			log.BeginTurn(r.origin(), in.Turn)
		}
	case tl.OpEndTurn:
		r.sync()
		if log := r.run.log; log != nil {
			log.EndTurn(r.origin(), in.Turn)
		}
		r.turn = 0
	default:
		return false
	}
	return true
}
