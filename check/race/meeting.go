package race

import "kernbench/record/history"

// meeting returns the operation that orders all operations of two agents before and after it.
func meeting(a, b history.AgentInfo) string {
	switch {
	case a.Queue > 0:
		return meetingTask(a, b)
	case b.Queue > 0:
		return meetingTask(b, a)
	case a.Stream < 0 || b.Stream < 0:
		return "a barrier"
	case a.PE == b.PE && a.Stream == b.Stream:
		return "the end of a launch and another launch"
	case a.Program < 0 || b.Program < 0:
		return "an event of one stream that the other awaits (a join)"
	}
	return "a barrier, or an event of one stream that the other awaits (a join),"
}

// meetingTask is meeting for a task of a communication engine.
func meetingTask(task, o history.AgentInfo) string {
	switch {
	case task.PE != o.PE:
		return "a barrier"
	case o.Queue > 0:
		return "the end of the one task and the post of the other (or one queue for both)"
	case o.Program < 0:
		return "an event after the launch that posts the task, which the other stream awaits (a join),"
	}
	return "the post of the task, or an await of it,"
}
