package fault_test

import (
	"fmt"
	"iter"

	"kernbench/fault"
)

// taskQueues returns the lists of tasks that TestTexts shows.
func taskQueues() iter.Seq2[string, []fault.TaskQueue] {
	queue := func(rank int, state string, tasks ...fault.QueuedTask) fault.TaskQueue {
		return fault.TaskQueue{Rank: rank, PE: fmt.Sprintf("sip0.cube0.pe%d", rank), Name: "group hccl_world", State: state, Tasks: tasks}
	}
	reduce := fault.QueuedTask{Handle: 0, Name: "AllReduce", Turns: 4, Committed: 4, Done: 2, Waited: 1}
	last := fault.QueuedTask{Handle: 1, Name: "AlltoAllV", Turns: 1}
	var many, busy []fault.QueuedTask
	for i := range 20 {
		t := fault.QueuedTask{Handle: i, Name: "Broadcast", Turns: 1, Committed: 1}
		busy = append(busy, t)
		if t.Done = 1; i < 18 {
			t.Waited = 1
		}
		many = append(many, t)
	}
	var apart []fault.TaskQueue
	for r := range 40 {
		if r%4 != 1 {
			apart = append(apart, queue(r, "", fault.QueuedTask{Handle: 0, Name: "AllGather", Turns: 1, Committed: r % 2}))
		}
	}
	var each []fault.TaskQueue
	for r := range 11 {
		each = append(each, queue(r, "", fault.QueuedTask{Handle: 0, Name: "AllGather", Turns: r}))
	}
	return func(yield func(string, []fault.TaskQueue) bool) {
		_ = yield("equal queues of several ranks are shown once", []fault.TaskQueue{
			queue(0, "in turn 2 of handle 0", reduce, last), queue(1, "in turn 2 of handle 0", reduce, last),
			queue(2, "finalized", reduce, last), queue(3, "in turn 2 of handle 0", reduce, last),
		}) && yield("a queue without tasks, and without names",
			[]fault.TaskQueue{queue(0, ""), {Rank: 1, Tasks: []fault.QueuedTask{last}}}) &&
			yield("many tasks", []fault.TaskQueue{queue(0, "", many...), queue(1, "", busy...)}) &&
			yield("many ranks", apart) && yield("many ranks, each its own", each)
	}
}
