package sim

import (
	"kernbench/record/history"
	"kernbench/tl"
	"kernbench/unit"
)

func (q *queue) agentInfo() history.AgentInfo {
	return history.AgentInfo{Rank: q.rank, PE: int(q.pe), Stream: -1, Program: -1, Queue: 1 + q.number}
}

// accountQueues records that all queues are at rest.
func (x *run) accountQueues() {
	for i := range x.batch.Streams {
		for _, q := range x.batch.queues[x.batch.Streams[i].PE] {
			if !q.joined {
				x.history.Joins(history.Host, q.agent, x.result.End)
			}
			q.joined = true
		}
	}
}

// accountPost records that a program has posted a task, after all its stores.
func (r *rank) accountPost(t *task) {
	if h := r.run.history; h != nil {
		t.event = h.NextRings(1)
		r.book.Plain(history.Drain)
		r.Record(history.Mark).Ring = t.event
	}
}

// accountTask records that the next task of a queue begins on a rank.
func (q *queue) accountTask(r *rank, at unit.Time) {
	h := r.run.history
	if h == nil {
		return
	}
	who := q.agentInfo()
	who.Task = 1 + r.task.number
	h.Add(history.Record{Kind: history.Pass, Agent: q.agent, Ring: r.task.event, Call: tl.OpTask.String(), Time: at})
	r.agent, r.after = h.Begins(who, q.agent, at), q.agent
}

// accountTaskEnd records that a task has ended, for the agents that continue after it.
func (r *rank) accountTaskEnd() {
	if h := r.run.history; h != nil {
		h.Add(history.Record{Kind: history.Mark, Agent: r.task.queue.agent, Ring: r.task.event, Call: tl.OpTask.String(), Time: r.Clock})
	}
}

// accountTasks records that a stream continues after the tasks that its launch has posted. An agent
// after the last task of a queue is after all earlier ones.
func (r *rank) accountTasks() {
	if r.run.history == nil {
		return
	}
	for _, t := range r.stream.grid.last {
		if t != nil {
			r.Record(history.Pass).Ring = t.event
		}
	}
}
