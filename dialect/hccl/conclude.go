package hccl

import (
	"errors"
	"fmt"
	"slices"

	"kernbench/fault"
)

// conclude collects the diagnostics, by device, core and time.
func (s *session) conclude() (all, warnings *Misuse) {
	all, warnings = &Misuse{}, &Misuse{}
	add := func(d Diagnostic) {
		if d.Severity == Warning {
			warnings.Add(d)
		} else {
			all.Add(d)
		}
	}
	for _, cores := range s.kernels {
		for _, k := range cores {
			if k == nil {
				continue // it never began
			}
			for _, d := range k.found.Diagnostics {
				add(d)
			}
			all.More += k.found.More
		}
		for _, d := range append(s.unlike(cores), tooEarly(cores)...) {
			add(d)
		}
	}
	for _, g := range s.runs {
		for _, d := range g.mismatches() {
			add(d)
		}
	}
	return all, warnings
}

// explained returns the errors of a launch together with the misuse of the API. Warnings may
// explain other errors.
func explained(failed error, misuse, warnings *Misuse) error {
	if failed == nil && misuse.err() == nil {
		return nil
	}
	for _, d := range warnings.Diagnostics {
		misuse.Add(d)
	}
	if len(misuse.Diagnostics) == 0 {
		return failed
	}
	return errors.Join(failed, misuse)
}

// tooEarly reports cores of a device whose last Wait is not ordered before another core's Finalize
// by SyncAll. Such a program succeeds only by chance.
func tooEarly(cores []*Kernel) []Diagnostic {
	var found []Diagnostic
	for _, k := range cores {
		if k == nil {
			continue
		}
		for _, h := range k.objects {
			if !h.finalized || !h.posts || len(h.tasks) == 0 {
				continue
			}
			for _, other := range cores {
				if other == nil || other == k {
					continue
				}
				for _, o := range other.objects {
					if o.g != h.g || o.lastWait == Invalid || met(k, other, o.waitSync, h.finalSync) {
						continue
					}
					d := o.waitAt
					d.Found = fmt.Sprintf("nothing lets it come before Finalize of block %d (%v) %s, after which it waits for ever",
						k.block, k.typ, h.finalAt)
					d.Right = "call SyncAll on all cores between their last Wait and Finalize"
					found = append(found, d)
				}
			}
		}
	}
	return found
}

// met reports whether two cores have a SyncAll between a wait of the one and Finalize of the
// other.
func met(a, b *Kernel, wait, final [2]int) bool {
	return wait[AllCores] < final[AllCores] || a.typ == AIV && b.typ == AIV && wait[AIVOnly] < final[AIVOnly]
}

// mismatches reports tasks that differ from those of the first rank.
func (g *run) mismatches() []Diagnostic {
	var found []Diagnostic
	byRank := g.shared()
	first := byRank[0]
	for r, tasks := range byRank {
		for i := range max(len(first), len(tasks)) {
			var d Diagnostic
			switch {
			case i >= len(tasks):
				d = first[i].where
				d.Found = fmt.Sprintf("rank %d of group %s has prepared %d tasks, rank 0 %d", r, g.comm.name, len(tasks), len(first))
			case i >= len(first):
				d = tasks[i].where
				d.Found = fmt.Sprintf("rank %d of group %s has prepared %d tasks, rank 0 %d", r, g.comm.name, len(tasks), len(first))
			default:
				why := first[i].differs(tasks[i])
				if why == "" {
					continue
				}
				d = tasks[i].where
				d.Found = fmt.Sprintf("handle %d of rank %d is not that of rank 0, %s: %s", tasks[i].handle, r, first[i].call, why)
			}
			d.Rule, d.Right = Mismatch, "all ranks prepare the same tasks in the same order, but for BatchWrite and InterHcclGroupSync"
			found = append(found, d)
			break // later differences are a consequence
		}
	}
	return append(found, g.uneven()...)
}

// differs returns the difference of a task of another rank.
func (t *task) differs(o *task) string {
	switch {
	case t.op != o.op:
		return fmt.Sprintf("it is %s", o.name())
	case t.count != o.count:
		return fmt.Sprintf("the count is %d", o.count)
	case t.carrier != o.carrier:
		return fmt.Sprintf("the type is %v", o.typ)
	case t.reduce != o.reduce:
		return fmt.Sprintf("the operation is %v", o.reduce)
	case t.repeat != o.repeat:
		return fmt.Sprintf("repeat is %d", o.repeat)
	case t.row != o.row:
		return fmt.Sprintf("the algorithm is %q", o.cc.AlgConfig())
	case t.unitsPerTurn() != o.unitsPerTurn():
		return fmt.Sprintf("the step size is %d", o.cc.StepSize())
	case t.silent() != o.silent():
		return "its tiling switches communication off, or that of rank 0 does"
	}
	return ""
}

// uneven reports AlltoAllV tasks in which a send count differs from the matching receive count.
func (g *run) uneven() []Diagnostic {
	byRank := g.shared()
	var found []Diagnostic
	for i, t := range byRank[0] {
		if t.op != OpAlltoAllV {
			continue
		}
	pairs:
		for r := range byRank {
			for d := range byRank {
				if i >= len(byRank[r]) || i >= len(byRank[d]) {
					continue
				}
				from, to := byRank[r][i], byRank[d][i]
				if from.op != OpAlltoAllV || to.op != OpAlltoAllV || from.sends[d].N == to.recvs[r].N {
					continue
				}
				diag := from.where
				diag.Rule = Mismatch
				diag.Found = fmt.Sprintf("rank %d sends %d elements to rank %d, which expects %d", r, from.sends[d].N, d, to.recvs[r].N)
				diag.Right = fmt.Sprintf("sendCounts[%d] of rank %d and recvCounts[%d] of rank %d are the same", d, r, r, d)
				found = append(found, diag)
				break pairs
			}
		}
	}
	return found
}

// queues returns the state of every rank's tasks, for the report of a deadlock.
func (s *session) queues() []fault.TaskQueue {
	var all []fault.TaskQueue
	for _, g := range s.runs {
		for r := range g.members {
			all = append(all, g.queueOf(r))
		}
	}
	return all
}

func (g *run) queueOf(rank int) fault.TaskQueue {
	pe := g.comm.team.PEs[rank]
	q := fault.TaskQueue{Rank: rank, PE: g.session.dev.Machine().PEName(int(pe)), Name: "group " + g.comm.name}
	m := &g.members[rank]
	if len(m.tasks) == 0 {
		return q
	}
	device := slices.Index(g.session.team.PEs, pe)
	if m.owner.finalized {
		q.State = fmt.Sprintf("Finalize called by block %d (%v) %s", m.owner.k.block, m.owner.k.typ, m.owner.finalAt)
	}
	words := g.status.Words(rank)
	word := func(part string, h Handle) int {
		return int(words[g.status.Layout.Find("tasks."+part).First+int32(h)])
	}
	for _, t := range m.tasks {
		per := t.unitsPerTurn()
		e := fault.QueuedTask{
			Handle: int(t.handle), Name: t.name(), Turns: t.repeat,
			Committed: word("committed", t.handle) / per, Done: word("done", t.handle),
		}
		for _, k := range g.session.kernels[device] {
			if k == nil {
				continue
			}
			for _, h := range k.objects {
				if h.g == g && int(t.handle) < len(h.waits) {
					e.Waited = max(e.Waited, h.waits[t.handle])
				}
			}
		}
		q.Tasks = append(q.Tasks, e)
	}
	return q
}
