package hccl_test

import (
	"math/rand/v2"

	"kernbench/dialect/hccl"
	_ "kernbench/internal/fixedseed"

	"pgregory.net/rapid"
)

// The programs that the property draws. Each group has a plan: the tasks that its ranks prepare in
// that order. Each rank mixes them with calls of its own. Tidy programs do at the end what is left,
// so that most of them end.

const (
	maxCount, maxRepeat = 20, 3
	maxPlan             = 5
	regionElems         = maxCount * maxRepeat * 4 // that a task can need of a buffer
	bufferElems         = 2 * maxPlan * regionElems
)

// operations returns those that a group has tilings for.
func (p *program) operations(g int) []hccl.OpType {
	ops := []hccl.OpType{hccl.OpAllReduce, hccl.OpAllGather, hccl.OpReduceScatter, hccl.OpAlltoAll}
	if p.stepSize[g] > 0 {
		ops[3] = hccl.OpAlltoAllV
	}
	return ops
}

// chance draws numbers. Numbers of rapid are small more often than not. Shifted by others they are
// all equally likely, and can still be reduced one by one.
type chance struct {
	*rapid.T
	shift *rand.Rand // nil: none
}

func newChance(t *rapid.T) *chance {
	if seed := rapid.Uint64().Draw(t, "shift"); seed > 0 {
		return &chance{t, rand.New(rand.NewPCG(seed, 0))}
	}
	return &chance{t, nil}
}

func (c *chance) between(low, high int, label string) int {
	n := rapid.IntRange(low, high).Draw(c.T, label)
	if c.shift != nil {
		n = low + (n-low+c.shift.IntN(high-low+1))%(high-low+1)
	}
	return n
}

func pick[T any](c *chance, label string, list []T) T { return list[c.between(0, len(list)-1, label)] }

func drawProgram(t *chance) *program {
	p := &program{ranks: t.between(2, 4, "ranks")}
	all := make([]int, p.ranks)
	for d := range all {
		all[d] = d
	}
	first := all[:t.between(1, p.ranks, "first")]
	p.groups = [][]int{first}
	if len(first) < p.ranks || t.between(0, 1, "two groups") == 1 {
		var second []int
		for _, d := range all {
			if d >= len(first) || t.between(0, 1, "in both") == 1 {
				second = append(second, d)
			}
		}
		if len(second) > 0 {
			p.groups = append(p.groups, second)
		}
	}
	// A task in steps continues where not all ranks have arrived. The model cannot predict how far
	// programs get that do not reach their end.
	p.stepped = t.between(0, 3, "stepped") == 3
	var plans [][]step
	for g, members := range p.groups {
		size := 0
		if p.stepped {
			size = 1 + t.between(0, len(members)-1, "step size")
			for len(members)%size != 0 {
				size--
			}
		}
		p.stepSize = append(p.stepSize, size)
		plans = append(plans, drawPlan(t, p, g))
	}
	p.bare, p.steps = make([]bool, p.ranks), make([][]step, p.ranks)
	end := tidy
	if !p.stepped {
		end = pick(t, "ending", []ending{tidy, tidy, tidy, tidy, tidy, lacking, lacking, open})
	}
	lacks := [2]int{t.between(0, len(p.groups)-1, "lacks in"), t.between(0, maxPlan-1, "lacks")}
	for d := range p.ranks {
		p.bare[d] = end == open && t.between(0, 7, "bare") == 0
		w := &writer{t: t, p: p, ending: end, lacks: lacks, plans: make([][]step, len(plans)), made: make([][]made, len(plans))}
		w.write(d, plans)
		p.steps[d] = w.steps
	}
	return p
}

// ending says which calls a program still makes before it ends.
type ending uint8

const (
	tidy    ending = iota // all that are left
	lacking               // all but one Commit of one task, on all ranks
	open                  // any of them
)

func drawPlan(t *chance, p *program, g int) []step {
	plan := make([]step, t.between(0, maxPlan, "tasks"))
	for i := range plan {
		s := step{
			act: actPrepare, group: g, region: g*maxPlan + i,
			op:    pick(t, "op", p.operations(g)),
			count: t.between(1, maxCount, "count"), repeat: t.between(1, maxRepeat, "repeat"),
		}
		// All members have to be in the other group, or some of them would not have the task.
		if !p.stepped && len(p.groups) == 2 && len(p.groups[0]) == len(p.groups[1]) && len(p.groups[0]) == p.ranks &&
			t.between(0, 5, "sync") == 0 {
			s = step{act: actGroupSync, group: g, handle: t.between(0, maxPlan-1, "of")}
		}
		plan[i] = s
	}
	return plan
}

// writer writes the steps of one rank, and keeps count of what they leave to do.
type writer struct {
	t      *chance
	p      *program
	ending ending
	lacks  [2]int // group and handle
	steps  []step
	plans  [][]step // not prepared yet, by group
	made   [][]made // by group and handle
}

type made struct{ turns, per, committed, waited int }

func (m *made) units() int { return m.turns * m.per }

func (w *writer) write(d int, plans [][]step) {
	var mine []int
	for g := range w.p.groups {
		if w.p.member(g, d) >= 0 {
			mine = append(mine, g)
			w.plans[g] = plans[g]
		}
	}
	for range w.t.between(0, 20, "calls") {
		w.call(pick(w.t, "group", mine))
	}
	if w.ending != open {
		w.finish(mine)
	}
}

// call writes one call, more often than not one that is right.
func (w *writer) call(g int) {
	t, tasks := w.t, w.made[g]
	handle := t.between(-1, len(tasks), "handle")
	if len(tasks) > 0 && t.between(0, 3, "known") > 0 {
		handle = t.between(0, len(tasks)-1, "handle")
	}
	m := &made{per: 1}
	if handle >= 0 && handle < len(tasks) {
		m = &tasks[handle]
	}
	switch n := t.between(0, 19, "call"); {
	case n < 6:
		w.prepare(g)
	case n < 10 && w.most(g, handle, m) > m.committed:
		w.add(step{act: actCommit, group: g, handle: handle})
		m.committed++
	case n < 10 && m.committed == m.units(): // also where there is no such task
		w.add(step{act: actCommit, group: g, handle: handle})
	case n < 16 && w.p.stepped && m.per > 1:
		w.iterate(g, handle)
	case n < 15:
		w.add(step{act: actWait, group: g, handle: handle})
		m.waited = min(m.committed/m.per, m.waited+1)
	case n < 16:
		w.add(step{act: actQuery, group: g, handle: handle})
	case n < 17:
		w.iterate(g, handle)
	case n < 19 || w.ending != open:
		w.add(step{act: actPrepare, group: g, op: hccl.OpAllReduce, count: 1, repeat: 1,
			badArg: badArg(t.between(1, int(badArgs)-1, "badArg"))})
	default:
		w.add(step{act: actFinalize, group: g})
	}
}

func (w *writer) iterate(g, handle int) {
	side := pick(w.t, "side", []hccl.Side{hccl.Sources, hccl.Destinations})
	w.add(step{act: actIterate, group: g, handle: handle, side: side})
}

// most returns how many units of a task may be committed.
func (w *writer) most(g, handle int, m *made) int {
	if w.ending == lacking && w.lacks == [2]int{g, handle} && m.turns > 0 {
		return m.units() - 1
	}
	return m.units()
}

func (w *writer) add(s step) { w.steps = append(w.steps, s) }

// prepare writes the next task of a plan.
func (w *writer) prepare(g int) {
	if len(w.plans[g]) == 0 {
		return
	}
	s := w.plans[g][0]
	w.plans[g] = w.plans[g][1:]
	m := made{turns: 1, per: 1, committed: 1}
	if s.act == actPrepare {
		s.now = w.t.between(0, 1, "now") == 1 && !(w.ending == lacking && w.lacks == [2]int{g, len(w.made[g])})
		m.turns, m.committed = s.repeat, 0
		if s.op == hccl.OpAlltoAllV {
			m.per = len(w.p.groups[g]) / w.p.stepSize[g]
		}
		if s.now {
			m.committed = m.units()
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
				if w.t.between(0, 2, "wait") > 0 {
					w.add(step{act: actWait, group: g, handle: h})
				}
				for i := range m.per {
					if w.p.stepped {
						w.iterate(g, h)
					}
					if m.per > 1 && i == m.per/2 {
						w.add(step{act: actQuery, group: g, handle: h})
					}
				}
			}
		}
	}
	for _, g := range mine {
		if w.t.between(0, 7, "finalize") > 0 {
			w.add(step{act: actFinalize, group: g})
		}
	}
}
