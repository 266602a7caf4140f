package hccl

import (
	"slices"

	"kernbench/device"
)

// judge passes every unit that the tasks performed to the judge of collectives, group by group in
// the order of the tasks. It returns failed. Tasks that ranks prepared differently are not judged.
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

// performed returns the units of a group.
func (g *run) performed() []device.Performed {
	var all []device.Performed
	byRank := g.shared()
	for i, first := range byRank[0] {
		if first.silent() {
			continue
		}
		tasks, twice := make([]*task, len(g.members)), false
		for r := range byRank {
			if i >= len(byRank[r]) {
				return all
			}
			tasks[r] = byRank[r][i]
			twice = twice || tasks[r].sharesSources()
		}
		if twice {
			continue
		}
		for unit := range first.units() {
			id := g.turnID(first.order, unit)
			all = append(all, device.Performed{
				ID: id, Title: first.title(unit), Algorithm: first.row, Collective: first.op.collective().Name,
				Call: meaning(tasks, unit, id), PEs: slices.Clone(g.comm.team.PEs),
			})
		}
	}
	return all
}
