package hccl_test

import (
	"pgregory.net/rapid"

	"kernbench/hccl"
)

// The programs that the property draws: each group has a plan, the tasks that its ranks
// prepare in that order; each rank mixes them with calls of its own. Tidy programs do at the
// end what is left, so that most of them come to their end.

const (
	maxCount, maxRepeat = 20, 3
	maxPlan             = 5
	regionElems         = maxCount * maxRepeat * 4 // that a task can need of a buffer
)

var planned = []hccl.OpType{hccl.OpAllReduce, hccl.OpAllGather, hccl.OpReduceScatter, hccl.OpAlltoAll}

func drawProgram(t *rapid.T) *program {
	p := &program{ranks: rapid.IntRange(2, 4).Draw(t, "ranks")}
	all := make([]int, p.ranks)
	for d := range all {
		all[d] = d
	}
	first := all[:rapid.IntRange(1, p.ranks).Draw(t, "first")]
	p.groups = [][]int{first}
	if len(first) < p.ranks || rapid.Bool().Draw(t, "two groups") {
		var second []int
		for _, d := range all {
			if d >= len(first) || rapid.Bool().Draw(t, "in both") {
				second = append(second, d)
			}
		}
		if len(second) > 0 {
			p.groups = append(p.groups, second)
		}
	}
	var plans [][]step
	for g := range p.groups {
		plans = append(plans, drawPlan(t, p, g))
	}
	p.bare, p.steps = make([]bool, p.ranks), make([][]step, p.ranks)
	end := rapid.SampledFrom([]ending{tidy, tidy, tidy, tidy, tidy, lacking, lacking, open}).Draw(t, "ending")
	lacks := [2]int{rapid.IntRange(0, len(p.groups)-1).Draw(t, "lacks in"), rapid.IntRange(0, maxPlan-1).Draw(t, "lacks")}
	for d := range p.ranks {
		p.bare[d] = end == open && rapid.IntRange(0, 7).Draw(t, "bare") == 0
		w := &writer{t: t, ending: end, lacks: lacks, plans: make([][]step, len(plans)), made: make([][]made, len(plans))}
		w.write(p, d, plans)
		p.steps[d] = w.steps
	}
	return p
}

// ending is how a program ends.
type ending uint8

const (
	tidy    ending = iota // with all that is left to do
	lacking               // without one Commit of one task, on all ranks
	open                  // anyhow
)

func drawPlan(t *rapid.T, p *program, g int) []step {
	plan := make([]step, rapid.IntRange(0, maxPlan).Draw(t, "tasks"))
	for i := range plan {
		s := step{
			act: actPrepare, group: g, region: g*maxPlan + i,
			op:    rapid.SampledFrom(planned).Draw(t, "op"),
			count: rapid.IntRange(1, maxCount).Draw(t, "count"), repeat: rapid.IntRange(1, maxRepeat).Draw(t, "repeat"),
		}
		// All members have to be in the other group, or some of them would not have the task.
		if len(p.groups) == 2 && len(p.groups[0]) == len(p.groups[1]) && len(p.groups[0]) == p.ranks && rapid.IntRange(0, 5).Draw(t, "sync") == 0 {
			s = step{act: actGroupSync, group: g, handle: rapid.IntRange(0, maxPlan-1).Draw(t, "of")}
		}
		plan[i] = s
	}
	return plan
}

// writer writes the steps of one rank, and keeps count of what they leave to do.
type writer struct {
	t      *rapid.T
	ending ending
	lacks  [2]int // group and handle
	steps  []step
	plans  [][]step // not prepared yet, by group
	made   [][]made // by group and handle
}

type made struct{ turns, committed, waited int }

func (w *writer) write(p *program, d int, plans [][]step) {
	var mine []int
	for g := range p.groups {
		if p.member(g, d) >= 0 {
			mine = append(mine, g)
			w.plans[g] = plans[g]
		}
	}
	for range rapid.IntRange(0, 20).Draw(w.t, "calls") {
		w.call(rapid.SampledFrom(mine).Draw(w.t, "group"))
	}
	if w.ending != open {
		w.finish(mine)
	}
}

// call writes one call, more often than not one that is right.
func (w *writer) call(g int) {
	t, tasks := w.t, w.made[g]
	handle := rapid.IntRange(-1, len(tasks)).Draw(t, "handle")
	if len(tasks) > 0 && rapid.IntRange(0, 3).Draw(t, "known") > 0 {
		handle = rapid.IntRange(0, len(tasks)-1).Draw(t, "handle")
	}
	m := &made{}
	if handle >= 0 && handle < len(tasks) {
		m = &tasks[handle]
	}
	switch n := rapid.IntRange(0, 19).Draw(t, "call"); {
	case n < 6:
		w.prepare(g)
	case n < 10 && w.most(g, handle, m) > m.committed:
		w.add(step{act: actCommit, group: g, handle: handle})
		m.committed++
	case n < 10 && m.committed == m.turns: // also where there is no such task
		w.add(step{act: actCommit, group: g, handle: handle})
	case n < 15:
		w.add(step{act: actWait, group: g, handle: handle})
		m.waited = min(m.committed, m.waited+1)
	case n < 17:
		w.add(step{act: actQuery, group: g, handle: handle})
	case n < 19 || w.ending != open:
		w.add(step{act: actPrepare, group: g, op: hccl.OpAllReduce, count: 1, repeat: 1, spoil: spoil(rapid.IntRange(1, int(spoils)-1).Draw(t, "spoil"))})
	default:
		w.add(step{act: actFinalize, group: g})
	}
}

// most is how many turns of a task may be committed.
func (w *writer) most(g, handle int, m *made) int {
	if w.ending == lacking && w.lacks == [2]int{g, handle} && m.turns > 0 {
		return m.turns - 1
	}
	return m.turns
}

func (w *writer) add(s step) { w.steps = append(w.steps, s) }

// prepare writes the next task of a plan.
func (w *writer) prepare(g int) {
	if len(w.plans[g]) == 0 {
		return
	}
	s := w.plans[g][0]
	w.plans[g] = w.plans[g][1:]
	m := made{turns: 1, committed: 1}
	if s.act == actPrepare {
		s.now = rapid.Bool().Draw(w.t, "now") && !(w.ending == lacking && w.lacks == [2]int{g, len(w.made[g])})
		m.turns, m.committed = s.repeat, 0
		if s.now {
			m.committed = s.repeat
		}
	}
	w.made[g] = append(w.made[g], m)
	w.add(s)
}

// finish writes what is left: all tasks, all commits, some waits, Finalize.
func (w *writer) finish(mine []int) {
	for _, g := range mine {
		for len(w.plans[g]) > 0 {
			w.prepare(g)
		}
	}
	for _, g := range mine {
		for h, m := range w.made[g] {
			for range w.most(g, h, &m) - m.committed {
				w.add(step{act: actCommit, group: g, handle: h})
			}
		}
	}
	for _, g := range mine {
		for h, m := range w.made[g] {
			for range m.turns - m.waited {
				if rapid.IntRange(0, 2).Draw(w.t, "wait") > 0 {
					w.add(step{act: actWait, group: g, handle: h})
				}
			}
		}
	}
	for _, g := range mine {
		if rapid.IntRange(0, 7).Draw(w.t, "finalize") > 0 {
			w.add(step{act: actFinalize, group: g})
		}
	}
}
