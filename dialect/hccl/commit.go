package hccl

import (
	"fmt"

	"kernbench/tl"
)

// Commit releases one more turn of a task, or the number of steps in its tiling. Earlier stores of
// this core are visible when the turn begins; those of other cores only after a SyncAll.
func (h *Hccl) Commit(id Handle) {
	call := fmt.Sprintf("Commit(handle %d)", id)
	t, ok := h.find(call, id, "ignored")
	if !ok {
		return
	}
	if done := h.commits[id]; done >= t.units() {
		h.refuse(CommitTooOften, call, fmt.Sprintf("%d were prepared by %s, and all are committed", t.units(), t.call),
			h.often("Commit", t), "ignored")
		return
	}
	h.release(t, 1)
	if tl.DriverOf(h.k.Context).Again(AgainCommit) && h.commits[id] < t.units() {
		h.release(t, 1)
	}
}

// Names of the calls that an edit of a kernel, tl.Again, can repeat.
const (
	AgainCommit  = "Commit"  // commits one unit more
	AgainPrepare = "Prepare" // commits all units of a task that was to be committed later
)

// often describes how often a call must be made for a task.
func (h *Hccl) often(call string, t *task) string {
	s := fmt.Sprintf("call %s once for each of %d turns", call, t.repeat)
	if per := t.unitsPerTurn(); per > 1 && call == "Commit" {
		s = fmt.Sprintf("call %s %d times: %d for each of %d turns", call, t.units(), per, t.repeat)
	}
	return s + t.strideHint()
}

// strideHint returns a hint if a stride was probably meant as repeat.
func (t *task) strideHint() string {
	if t.repeat != 1 || t.stride == 0 {
		return ""
	}
	return fmt.Sprintf("; strideCount is %d: the stride comes before repeat", t.stride)
}

// Wait waits until one more turn of a task has ended: the first call for its first turn, and
// so on. It returns Success or Failure.
func (h *Hccl) Wait(id Handle) int {
	call := fmt.Sprintf("Wait(handle %d)", id)
	t, ok := h.find(call, id, "-1")
	if !ok {
		return Failure
	}
	n := h.waits[id]
	switch {
	case n >= t.repeat:
		return h.refuse(WaitTooOften, call, fmt.Sprintf("%d turns were prepared by %s, and all were waited for",
			t.repeat, t.call), h.often("Wait", t), "-1")
	case n >= h.commits[id]/t.unitsPerTurn():
		return h.refuse(WaitBeforeCommit, call,
			fmt.Sprintf("%d turns are committed, and as many were waited for", h.commits[id]/t.unitsPerTurn()),
			"Commit a turn before it is waited for", "-1")
	}
	h.waits[id]++
	h.waitFor(call, h.status.done, id, n+1)
	return Success
}

// waitFor waits until a word of a task has reached n. It waits forever when another core of the
// device has called Finalize.
func (h *Hccl) waitFor(call string, s tl.Signal, id Handle, n int) {
	if id < h.lastWait {
		h.warn(WaitOrder, call, fmt.Sprintf("handle %d was waited for before", h.lastWait),
			"wait in the order of the Prepare calls: tasks end in that order")
	}
	h.lastWait = max(h.lastWait, id)
	if h.k.session.cores.all() > 1 {
		h.waitSync, h.waitAt = h.k.syncs, h.diagnostic(Error, FinalizeBeforeWait, call, "", "", "")
		if tl.DriverOf(h.k.Context).Meet(); h.g.members[h.me].forgotten {
			h.k.WaitUntil(h.k.Signals(h.g.status, "tasks.answers"), tl.GE, 1)
		}
	}
	h.status.await(h.k.Context, s, id, n)
}

// Query returns the number of turns of a task that have ended, Failure for none. It does not wait.
func (h *Hccl) Query(id Handle) int {
	call := fmt.Sprintf("Query(handle %d)", id)
	t, ok := h.find(call, id, "-1")
	if !ok {
		return Failure
	}
	n := int(h.k.Peek(h.status.done.At(int(id))))
	if per := t.unitsPerTurn(); per > 1 { // steps that Iterate waited for have ended; the word of turns may change later
		n = max(n, int(h.k.Peek(h.status.steps.At(int(id))))/per)
	}
	return n
}

// find returns the task of a handle. It reports a mistake in the handle.
func (h *Hccl) find(call string, id Handle, returned string) (*task, bool) {
	switch {
	case h.g == nil:
		h.refuse(NoInit, call, "the object was not initialised", "InitV2 comes first", returned)
	case h.finalized:
		h.refuse(AfterFinalize, call, "the object was finalised "+h.finalAt, "call it before Finalize", returned)
	case id < 0 || int(id) >= MaxTasks:
		h.refuse(BadHandle, call, fmt.Sprintf("there is no handle %d", id),
			fmt.Sprintf("handles are 0 to %d; a Prepare that was refused returns -1", MaxTasks-1), returned)
	case int(id) >= len(h.tasks):
		h.refuse(BadHandle, call, fmt.Sprintf("%d tasks were prepared", len(h.tasks)), "use what a Prepare call returned", returned)
	default:
		return h.tasks[id], true
	}
	return nil, false
}

// InterHcclGroupSync lets the tasks of this group that are prepared later wait until a task
// of the other group has ended all its turns. It counts as a task. It returns Success or
// Failure.
func (h *Hccl) InterHcclGroupSync(group int, id Handle) int {
	call := fmt.Sprintf("InterHcclGroupSync(group %d, handle %d)", group, id)
	t := &task{call: call, repeat: 1}
	switch {
	case h.g == nil:
		return h.refuse(NoInit, call, "the object was not initialised", "InitV2 comes first", "-1")
	case h.finalized:
		return h.refuse(AfterFinalize, call, "the object was finalised "+h.finalAt, "call it before Finalize", "-1")
	case h.wrongCore(t):
		return Failure
	case group == h.g.queue || group < 0 || group >= len(h.k.session.runs):
		return h.refuse(BadGroup, call, fmt.Sprintf("the object is of group %d of %d of the launch", h.g.queue,
			len(h.k.session.runs)), "name the other one", "-1")
	case id < 0 || int(id) >= MaxTasks:
		return h.refuse(BadHandle, call, fmt.Sprintf("there is no handle %d", id),
			"use what a Prepare call of the other group returned", "-1")
	}
	other := h.k.session.runs[group]
	if _, ok := h.k.TeamRank(other.comm.team); !ok {
		return h.refuse(BadGroup, call, fmt.Sprintf("this device is no member of group %s", other.comm.name),
			"wait for tasks that it takes part in", "-1")
	}
	t.after, t.afterGroup = id, other
	if h.post(CommitNow, t) == Invalid {
		return Failure
	}
	return Success
}

// Finalize ends the tasks of the object, and waits on the core that posts until all turns of all
// tasks have ended. The object cannot be used afterwards. Other cores of the device that are still
// to wait for a turn wait forever: SyncAll comes before.
func (h *Hccl) Finalize() {
	const call = "Finalize()"
	switch {
	case h.g == nil:
		h.refuse(NoInit, call, "the object was not initialised", "InitV2 comes first", "")
		return
	case h.finalized:
		h.refuse(AfterFinalize, call, "the object was finalised "+h.finalAt, "call it once", "")
		return
	}
	h.finalized, h.finalSync = true, h.k.syncs
	h.finalAt = "at " + tl.DriverOf(h.k.Context).Place("Finalize").Line
	if !h.posts || len(h.tasks) == 0 {
		return
	}
	for i, t := range h.tasks {
		if h.commits[i] < t.units() {
			h.refuse(FinalizeUncommitted, call,
				fmt.Sprintf("%d of %d turns of handle %d (%s) are committed", h.commits[i]/t.unitsPerTurn(), t.repeat, i, t.call),
				"commit every turn before Finalize, which waits for all turns", never)
			break
		}
	}
	for i, t := range h.tasks {
		h.status.await(h.k.Context, h.status.done, Handle(i), t.repeat)
	}
	// The server forgets tasks that have ended: a later search does not find them.
	tl.DriverOf(h.k.Context).Meet()
	h.g.members[h.me].forgotten = true
}
