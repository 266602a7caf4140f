package hccl

import (
	"slices"

	"kernbench/device"
)

// judge hands every unit that the tasks performed to the judge of collectives, group by group
// in the order of the tasks, and returns failed. Of tasks that ranks did not prepare alike
// nothing can be said.
func (s *session) judge(failed error, misuse *Misuse) error {
	var all []device.Performed
	for _, g := range s.runs {
		if misuse.Has(Mismatch) {
			break
		}
		all = append(all, g.performed()...)
	}
	return s.dev.JudgeTurns(all, failed)
}

// performed is the units of a group.
func (g *run) performed() []device.Performed {
	var all []device.Performed
	for i, first := range g.members[0].tasks {
		if first.op == 0 || first.op == OpBatchWrite || first.silent() {
			continue
		}
		tasks, shared := make([]*task, len(g.members)), false
		for r := range g.members {
			if i >= len(g.members[r].tasks) {
				return all
			}
			tasks[r] = g.members[r].tasks[i]
			shared = shared || tasks[r].sharesSources()
		}
		if shared {
			continue
		}
		for unit := range first.units() {
			id := g.turnID(first.handle, unit)
			all = append(all, device.Performed{
				ID: id, Title: first.title(unit), Algorithm: first.row, Collective: first.op.collectiveName(),
				Call: meaning(tasks, unit, id), PEs: slices.Clone(g.comm.team.PEs),
			})
		}
	}
	return all
}
