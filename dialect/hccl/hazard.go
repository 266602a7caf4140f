package hccl

import (
	"fmt"
	"slices"

	"kernbench/device"
	"kernbench/mem"
)

// side is an access of a hazard: by a core, or by a task.
type side struct {
	device.RaceSide
	core *Kernel // nil: it is a task's
	task *task
	turn int // of the task, -1 if the address does not determine it
}

// explain describes a hazard of this launch by calls of the task API.
func (s *session) explain(first, second device.RaceSide, at mem.Addr) *device.Explanation {
	a, b := s.sideOf(first, at), s.sideOf(second, at)
	if a == nil || b == nil {
		return nil
	}
	return &device.Explanation{
		Names:  [2]string{a.name(), b.name()},
		Calls:  [2]string{a.calls(), b.calls()},
		Remedy: s.remedy(a, b),
	}
}

// sideOf returns the core or the task that made an access, nil if it is not of this launch.
func (s *session) sideOf(r device.RaceSide, at mem.Addr) *side {
	d := slices.Index(s.team.PEs, int32(r.Agent.PE))
	if d < 0 {
		return nil
	}
	if r.Agent.Queue == 0 {
		ours := slices.ContainsFunc(s.streams, func(x *device.Stream) bool { return x.ID() == r.Agent.Stream })
		if !ours || r.Agent.Program < 0 || s.kernels[d][r.Agent.Program] == nil {
			return nil
		}
		return &side{RaceSide: r, core: s.kernels[d][r.Agent.Program]}
	}
	if r.Agent.Queue > len(s.runs) {
		return nil
	}
	g := s.runs[r.Agent.Queue-1]
	me := slices.Index(g.comm.team.PEs, int32(r.Agent.PE))
	if me < 0 || r.Agent.Task < 1 || r.Agent.Task > len(g.members[me].tasks) {
		return nil
	}
	t := g.members[me].tasks[r.Agent.Task-1]
	return &side{RaceSide: r, task: t, turn: t.turnAt(at)}
}

// turnAt returns the turn that reads or writes an address, -1 for none.
func (t *task) turnAt(at mem.Addr) int {
	if !t.shared() {
		return -1
	}
	size := mem.Addr(t.carrier.Size())
	for turn := range t.repeat {
		for _, x := range []struct {
			from   mem.Addr
			blocks []mem.Chunk
		}{{t.send, t.inBlocks(turn)}, {t.recv, t.outBlocks(turn)}} {
			for _, b := range x.blocks {
				if lo := x.from + mem.Addr(b.Lo)*size; at >= lo && at < lo+mem.Addr(b.N)*size {
					return turn
				}
			}
		}
	}
	return -1
}

// label names a core among those of its device.
func (k *Kernel) label() string { return fmt.Sprintf("block %d (%v)", k.block, k.typ) }

// name returns the name of a side in reports.
func (x *side) name() string {
	if x.core != nil {
		return fmt.Sprintf("rank %d %s", x.core.device, x.core.label())
	}
	s := fmt.Sprintf("%s handle %d", x.task.name(), x.task.handle)
	if x.turn >= 0 {
		s += fmt.Sprintf(" turn %d", x.turn)
	}
	return fmt.Sprintf("%s of rank %d", s, x.task.me)
}

// calls returns the calls that made a task run: the Prepare call, and the Commit of its turn.
func (x *side) calls() string {
	if x.task == nil {
		return ""
	}
	prepared, committed := x.task.where.Place.Line, x.task.committedAt(x.turn)
	switch {
	case prepared == committed:
		return "prepared and committed at " + prepared
	case committed == "":
		return "prepared at " + prepared
	}
	return fmt.Sprintf("prepared at %s, committed at %s", prepared, committed)
}

// committedAt returns the line of the call that committed a turn, "" where none is known.
func (t *task) committedAt(turn int) string {
	unit := turn * t.unitsPerTurn()
	for _, c := range t.released {
		if turn >= 0 && unit < c.units {
			return c.line
		}
	}
	return ""
}

// remedy returns the calls that would order two sides, "" if none is known.
func (s *session) remedy(a, b *side) string {
	switch {
	case a.core != nil && b.core != nil && a.Agent.PE == b.Agent.PE:
		return fmt.Sprintf("SyncAll on both cores between %s and %s", a.Spot, b.Spot)
	case a.core != nil && b.core != nil:
		return ""
	case a.core != nil && a.Agent.PE == b.Agent.PE:
		return a.orderWithTask(b, true)
	case b.core != nil && a.Agent.PE == b.Agent.PE:
		return b.orderWithTask(a, false)
	case a.task != nil && a.task.op == OpBatchWrite:
		return arrived(a, b)
	case b.task != nil && b.task.op == OpBatchWrite:
		return arrived(b, a)
	case a.task != nil && b.task != nil && a.Agent.PE == b.Agent.PE && a.task.g != b.task.g:
		return fmt.Sprintf("InterHcclGroupSync(group %d, handle %d) before handle %d of group %s is prepared: tasks of two groups go side by side",
			a.task.g.queue, a.task.handle, b.task.handle, b.task.g.comm.name)
	}
	return ""
}

// orderWithTask returns the calls that would order an access of a core and a task of its device.
// first reports whether the access came first in this run.
func (x *side) orderWithTask(t *side, first bool) string {
	posts := t.task.g.members[t.task.me].owner.k
	if first && !x.Read && x.core != posts {
		commit := fmt.Sprintf("Commit(handle %d)", t.task.handle)
		if line := t.task.committedAt(t.turn); line != "" {
			commit += " at " + line
		}
		return fmt.Sprintf("SyncAll after %s and before %s: %s commits, and does not know what %s has stored", x.Spot,
			commit, posts.label(), x.core.label())
	}
	wait := fmt.Sprintf("Wait(handle %d) for each of %d turns", t.task.handle, t.task.repeat)
	if t.turn >= 0 {
		wait = t.task.await(t.turn * t.task.unitsPerTurn())
	}
	return fmt.Sprintf("%s before %s", wait, x.Spot)
}

// arrived returns the calls that would order a list of writes and an access on another device.
func arrived(t, x *side) string {
	return fmt.Sprintf("a collective task of all ranks, prepared after BatchWrite handle %d, and a Wait for it on rank %d before %s: a Wait for the list ends when its writes are sent, before they arrive",
		t.task.handle, x.Agent.Rank, x.Spot)
}
