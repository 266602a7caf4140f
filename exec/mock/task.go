package mock

import (
	"kernbench/record/history"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// engine is the communication engine of a PE.
type engine struct {
	queues [tl.EngineQueues]queue
}

// queue performs tasks one after the other.
type queue struct {
	run    *run
	number int
	rank   int // of the device
	pe     int32
	tasks  []*task // posted and not ended: the first is in progress
	posted int     // so far
	agent  history.Agent
}

// task is one of them.
type task struct {
	tl.Task
	queue  *queue
	number int     // in its queue
	stream *stream // stream whose launch posted it; the launch ends after it
	event  uint32  // in the account of memory: its posting, then its end
	rank   *rank   // rank that performs it, once it is in progress
	ended  bool
	waiter *rank // rank that awaits it
}

// engines makes the communication engine of each PE, if the batch has them.
func (x *run) engines(b *launch.Batch) {
	if b.Engine == nil {
		return
	}
	x.batch.engine, x.batch.byPE = b.Engine, map[int32]*engine{}
	for i := range b.Streams {
		s := &b.Streams[i]
		if x.batch.byPE[s.PE] != nil {
			continue
		}
		e := &engine{}
		for q := range e.queues {
			e.queues[q] = queue{run: x, number: q, rank: s.Rank, pe: s.PE}
			e.queues[q].agent = x.history.Begins(e.queues[q].agentInfo(), history.Host, 0) // tasks come after nothing but their posts
		}
		x.batch.byPE[s.PE] = e
		x.batch.engines = append(x.batch.engines, e)
	}
}

// tasking holds what a rank has of tasks and turns.
type tasking struct {
	task   *task           // task that it performs, or nil
	posted map[int32]*task // by cell of their handles: those that were not awaited
	turnID int32           // of the collective that has begun, or 0
}

// name returns how reports call a task.
func (t *task) name() string { return tl.TaskName(&t.Task, t.number) }

func (q *queue) agentInfo() history.AgentInfo {
	return history.AgentInfo{Rank: q.rank, PE: int(q.pe), Stream: -1, Program: -1, Queue: 1 + q.number}
}

// accountEngines records that all queues are at rest.
func (x *run) accountEngines() {
	for _, e := range x.batch.engines {
		for i := range e.queues {
			x.history.Joins(history.Host, e.queues[i].agent, 0)
		}
	}
}

// post appends a task to its queue.
func (r *rank) post(in *tl.Instr) {
	x, s := r.run, r.stream
	q := &x.batch.byPE[r.pe].queues[in.Task.Queue]
	t := &task{Task: *in.Task, queue: q, number: q.posted, stream: s}
	if r.posted == nil {
		r.posted = map[int32]*task{}
	}
	r.posted[in.Dst] = t
	q.posted++
	s.grid.tasks++
	s.grid.last[q.number] = t
	if x.history != nil {
		t.event = x.history.NextRings(1)
		r.book.Plain(history.Drain) // the program's stores are complete before the task begins
		r.Record(history.Mark).Ring = t.event
	}
	if q.tasks = append(q.tasks, t); len(q.tasks) == 1 {
		q.start()
	}
}

// start begins the first task, as a program that takes turns with the others.
func (q *queue) start() {
	x, t := q.run, q.tasks[0]
	r := &rank{run: x, tasking: tasking{task: t}, index: t.Rank, pe: q.pe, ringUse: ringUse{served: -1}, wiring: &tl.Wiring{}}
	t.rank = r
	r.start(tl.Setup{Rank: t.Rank, World: t.World, PEsPerCube: 1, Scratch: x.batch.engine.Scratch}, t.Kernel, t.Args)
	if x.history != nil {
		who := q.agentInfo()
		who.Task = 1 + t.number
		x.history.Add(history.Record{Kind: history.Pass, Agent: q.agent, Ring: t.event, Call: tl.OpTask.String()})
		r.agent = x.history.Begins(who, q.agent, 0)
	}
	x.enter(r)
}

// end resumes the ranks that wait for the task, and begins the next one.
func (t *task) end() {
	q, s := t.queue, t.stream
	x := q.run
	if x.history != nil {
		x.history.Add(history.Record{Kind: history.Mark, Agent: q.agent, Ring: t.event, Call: tl.OpTask.String()})
	}
	t.ended = true
	s.traffic.Add(tl.DriverOf(t.rank.kernel).Traffic())
	t.rank.clear()
	t.rank = nil
	if t.waiter != nil {
		x.wake(t.waiter)
	}
	if s.grid.tasks--; s.grid.left() == 0 {
		x.wake(s)
	}
	if q.tasks = q.tasks[1:]; len(q.tasks) > 0 {
		q.start()
	}
}

// awaitTask waits for the end of a task. Pipelines have ended when they are awaited.
func (r *rank) awaitTask(in *tl.Instr) {
	t := r.posted[in.Dst]
	if t == nil {
		return
	}
	delete(r.posted, in.Dst)
	t.waiter, r.awaited = r, t
	for !t.ended {
		r.park(forTask)
	}
	t.waiter, r.awaited = nil, nil
	if r.run.history != nil {
		r.Record(history.Pass).Ring = t.event
	}
}

// accountTasks records that the stream continues after the tasks that its launch has posted. An
// agent after the last task of a queue is after all earlier ones.
func (s *stream) accountTasks(op *launch.StreamOp) {
	if s.run.history == nil {
		return
	}
	for _, t := range s.grid.last {
		if t != nil {
			s.account(op, history.Pass).Ring = t.event
		}
	}
}
