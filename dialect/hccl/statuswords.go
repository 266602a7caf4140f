package hccl

import (
	"kernbench/mem"
	"kernbench/tl"
)

// MaxTasks is the number of Prepare calls, InterHcclGroupSync among them, that a group can
// have in one launch. Handles are 0 to MaxTasks-1.
const MaxTasks = 63

// statusLayout declares the status words by which the cores of a device and its communication
// engine synchronise. Each device uses its own copy only. Word h of a part belongs to handle h.
func statusLayout() (*mem.Layout, error) {
	words := func(name string) mem.Part { return mem.SignalPart(name, mem.Int32, MaxTasks) }
	return mem.NewLayout(0, []mem.Buffer{{Name: "tasks", Parts: []mem.Part{
		words("committed"), // units that may run: turns, or the steps of a task that is committed by steps
		words("done"),      // turns that have ended
		words("steps"),     // units that have ended
		words("finished"),  // 1 when all turns have
		// The word of a core that waits for an event after Finalize. No notification changes it.
		mem.SignalPart("answers", mem.Int32, 1),
	}}})
}

// statusWords are the status words of a group as one kernel or task sees them.
type statusWords struct {
	me                               int // rank in the group
	committed, done, steps, finished tl.Signal
}

func openStatus(c *tl.Context, g *run) statusWords {
	part := func(name string) tl.Signal { return c.Signals(g.status, "tasks."+name) }
	me, _ := c.TeamRank(g.comm.team)
	return statusWords{me: me, committed: part("committed"), done: part("done"), steps: part("steps"), finished: part("finished")}
}

// add increases a word.
func (b *statusWords) add(c *tl.Context, s tl.Signal, h Handle, n int) {
	c.Notify(s.At(int(h)), b.me, tl.SignalAdd, int64(n))
}

// await waits until a word has reached n.
func (b *statusWords) await(c *tl.Context, s tl.Signal, h Handle, n int) {
	c.WaitUntil(s.At(int(h)), tl.GE, int64(n))
}
