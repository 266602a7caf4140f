package hccl_test

import (
	"fmt"

	"kernbench/dialect/hccl"
)

// The model of the task API: what each call returns, which rule it breaks, and whether a
// program ends. It has the rules only: no memory, no time, and a list
// of turns in place of an engine. Its result does not depend on the order in which ranks execute,
// since a condition for which a rank waits stays true.

// act is the call of a step of a program.
type act uint8

const (
	actPrepare act = iota
	actGroupSync
	actCommit
	actWait
	actQuery
	actIterate
	actFinalize
)

// badArg is the invalid argument of a Prepare call.
type badArg uint8

const (
	fine badArg = iota
	noRepeat
	nullBuffer
	badType
	notReducible
	badOp
	noCount
	noTiling
	badArgs
)

// violates returns the rule that the argument violates.
func (m badArg) violates() hccl.Rule {
	return [badArgs]hccl.Rule{
		"", hccl.RepeatZero, hccl.NullBuffer, hccl.BadDataType, hccl.NotReducible, hccl.BadOp, hccl.BadCount, hccl.NoTiling,
	}[m]
}

// step is one call on the object of a group.
type step struct {
	act    act
	group  int
	handle int // argument of Commit, Wait, Query and Iterate; for InterHcclGroupSync, a handle of the other group
	side   hccl.Side

	op            hccl.OpType
	count, repeat int
	now           bool // commits all turns
	badArg        badArg
	region        int // of the buffers
}

func (s step) String() string {
	name := [...]string{"prepare", "groupsync", "commit", "wait", "query", "iterate", "finalize"}[s.act]
	switch s.act {
	case actPrepare:
		return fmt.Sprintf("%s:%v(%d×%d now=%v badArg=%d)@%d", name, s.op, s.count, s.repeat, s.now, s.badArg, s.group)
	case actIterate:
		return fmt.Sprintf("%s(%d side=%d)@%d", name, s.handle, s.side, s.group)
	}
	return fmt.Sprintf("%s(%d)@%d", name, s.handle, s.group)
}

// program holds what the ranks of up to two groups do.
type program struct {
	ranks    int
	groups   [][]int  // members, ascending
	stepped  bool     // some tasks go in steps
	stepSize []int    // by group: of AlltoAllV; 0: the group uses AlltoAll instead
	bare     []bool   // by rank: its objects are not initialised
	steps    [][]step // by rank
}

// member returns the rank of a device in a group, -1 for none.
func (p *program) member(group, device int) int {
	for i, d := range p.groups[group] {
		if d == device {
			return i
		}
	}
	return -1
}

// answer is the range of values that a call may return: low to high on the posting core. On other
// cores, which may run later, it is low to slower.
type answer struct{ low, high, slower int }

func one(n int) answer { return answer{n, n, n} }

// outcome is the expected outcome of a program.
type outcome struct {
	answers [][]answer    // by device: of the calls that return
	broken  [][]hccl.Rule // by device: violated rules in the order of calls, also of those that do not return
	tasks   []step        // that are collectives
	units   int           // of these tasks, the units that end on all ranks
	ends    bool          // all calls return and all tasks end
}

// modelTask is a task on one rank. Each Commit starts a unit: a turn, or some of its steps.
type modelTask struct {
	step             step
	turns, per       int          // units of a turn
	committed, ended int          // units
	waited           int          // turns
	iterated         int          // units that Iterate has returned for a side
	received         int          // units that Iterate has waited for
	other            *modelObject // of InterHcclGroupSync
}

func (t *modelTask) units() int { return t.turns * t.per }

// modelObject is the object of a rank for a group.
type modelObject struct {
	me, world, size   int // its rank, and the step size of its AlltoAllV
	usable, finalized bool
	tasks             []*modelTask
	lastWait          int
}

// current returns the task whose unit is next, and its handle; nil when all have ended.
func (o *modelObject) current() (*modelTask, int) {
	for i, t := range o.tasks {
		if t.ended < t.units() {
			return t, i
		}
	}
	return nil, len(o.tasks)
}

// reached reports whether this rank has reached unit u of a handle: it has ended or can begin.
func (o *modelObject) reached(handle, u int) bool {
	t, at := o.current()
	switch {
	case t == nil || at != handle:
		return at > handle
	case t.ended != u:
		return t.ended > u
	}
	return t.committed > u
}

type model struct {
	p       *program
	objects [][]*modelObject // by group and device; nil: no member
	at      []int            // next step, by device
	entered []bool           // by device: the next step has been entered and blocks
	out     outcome
}

// predict runs the model.
func predict(p *program) outcome {
	m := &model{p: p, at: make([]int, p.ranks), entered: make([]bool, p.ranks)}
	m.out.answers, m.out.broken = make([][]answer, p.ranks), make([][]hccl.Rule, p.ranks)
	for g := range p.groups {
		objects := make([]*modelObject, p.ranks)
		for _, d := range p.groups[g] {
			objects[d] = &modelObject{
				me: p.member(g, d), world: len(p.groups[g]), size: p.stepSize[g], usable: !p.bare[d], lastWait: -1,
			}
		}
		m.objects = append(m.objects, objects)
	}
	for m.calls() || m.endUnits() {
	}
	m.out.ends = true
	for d := range p.ranks {
		m.out.ends = m.out.ends && m.at[d] == len(p.steps[d])
	}
	for g, objects := range m.objects {
		for d, o := range objects {
			if o == nil {
				continue
			}
			t, _ := o.current()
			m.out.ends = m.out.ends && t == nil
			for _, t := range o.tasks {
				if t.step.act == actPrepare && d == m.p.groups[g][0] {
					m.out.tasks = append(m.out.tasks, t.step)
					m.out.units += t.ended
				}
			}
		}
	}
	return m.out
}

// calls lets every rank go as far as it can.
func (m *model) calls() bool {
	moved := false
	for d, steps := range m.p.steps {
		for m.at[d] < len(steps) {
			a, returns := m.call(d, steps[m.at[d]])
			if !returns {
				break
			}
			m.out.answers[d] = append(m.out.answers[d], a)
			m.at[d]++
			m.entered[d] = false
			moved = true
		}
	}
	return moved
}

// endUnits ends each unit that all ranks of the group have reached. A unit of some steps of a turn
// may end earlier.
func (m *model) endUnits() bool {
	moved := false
	for _, objects := range m.objects {
		for _, o := range objects {
			if o == nil {
				continue
			}
			t, handle := o.current()
			if t == nil || t.committed <= t.ended {
				continue
			}
			all := true
			if t.step.act == actGroupSync {
				i := t.step.handle
				all = i < len(t.other.tasks) && t.other.tasks[i].ended == t.other.tasks[i].units()
			} else {
				for _, peer := range objects {
					all = all && (peer == nil || peer.reached(handle, t.ended))
				}
			}
			if all {
				t.ended++
				moved = true
			}
		}
	}
	return moved
}

// breaks records a rule that a call violates; the call returns n.
func (m *model) breaks(d, n int, r hccl.Rule) (answer, bool) {
	m.out.broken[d] = append(m.out.broken[d], r)
	return one(n), true
}

// call performs a step, unless it has to wait.
func (m *model) call(d int, s step) (a answer, returns bool) {
	o := m.objects[s.group][d]
	failed := -1
	if s.act == actCommit || s.act == actFinalize || s.act == actIterate {
		failed = 0 // Iterate returns 0 ranks; Commit and Finalize have no result
	}
	switch {
	case !o.usable:
		return m.breaks(d, failed, hccl.NoInit)
	case o.finalized && !m.entered[d]:
		return m.breaks(d, failed, hccl.AfterFinalize)
	}
	switch s.act {
	case actPrepare:
		return m.prepare(d, o, s)
	case actGroupSync:
		return m.groupSync(d, o, s)
	case actFinalize:
		return m.finalize(d, o)
	}
	if s.handle < 0 || s.handle >= len(o.tasks) {
		return m.breaks(d, failed, hccl.BadHandle)
	}
	t := o.tasks[s.handle]
	switch s.act {
	case actCommit:
		if t.committed == t.units() {
			return m.breaks(d, 0, hccl.CommitTooOften)
		}
		t.committed++
		return one(0), true
	case actQuery:
		return answer{max(t.waited, t.received/t.per), t.committed / t.per, t.turns}, true
	case actIterate:
		return m.iterate(d, o, t, s)
	}
	return m.wait(d, o, t, s.handle)
}

func (m *model) prepare(d int, o *modelObject, s step) (answer, bool) {
	switch {
	case s.badArg != fine:
		return m.breaks(d, -1, s.badArg.violates())
	case len(o.tasks) == hccl.MaxTasks:
		return m.breaks(d, -1, hccl.TooManyPrepares)
	}
	t := &modelTask{step: s, turns: s.repeat, per: 1}
	if s.op == hccl.OpAlltoAllV {
		t.per = o.world / o.size
	}
	if s.now {
		t.committed = t.units()
	}
	o.tasks = append(o.tasks, t)
	return one(len(o.tasks) - 1), true
}

func (m *model) groupSync(d int, o *modelObject, s step) (answer, bool) {
	other := 1 - s.group
	switch {
	case len(m.objects) == 1 || m.objects[other][d] == nil:
		return m.breaks(d, -1, hccl.BadGroup)
	case s.handle < 0 || s.handle >= hccl.MaxTasks:
		return m.breaks(d, -1, hccl.BadHandle)
	case len(o.tasks) == hccl.MaxTasks:
		return m.breaks(d, -1, hccl.TooManyPrepares)
	}
	o.tasks = append(o.tasks, &modelTask{step: s, turns: 1, per: 1, committed: 1, other: m.objects[other][d]})
	return one(0), true
}

func (m *model) wait(d int, o *modelObject, t *modelTask, handle int) (answer, bool) {
	if !m.entered[d] {
		switch {
		case t.waited == t.turns:
			return m.breaks(d, -1, hccl.WaitTooOften)
		case t.waited == t.committed/t.per:
			return m.breaks(d, -1, hccl.WaitBeforeCommit)
		}
		m.waits(d, o, handle)
		m.entered[d] = true
		t.waited++
	}
	return one(0), t.ended/t.per >= t.waited
}

// waits notes whether waits come in the order of the tasks.
func (m *model) waits(d int, o *modelObject, handle int) {
	if handle < o.lastWait {
		m.breaks(d, 0, hccl.WaitOrder)
	}
	o.lastWait = max(o.lastWait, handle)
}

func (m *model) finalize(d int, o *modelObject) (answer, bool) {
	if !m.entered[d] {
		m.entered[d], o.finalized = true, true
		for _, t := range o.tasks {
			if t.committed < t.units() {
				m.breaks(d, 0, hccl.FinalizeUncommitted)
				break
			}
		}
	}
	t, _ := o.current()
	return one(0), t == nil
}

func (m *model) iterate(d int, o *modelObject, t *modelTask, s step) (answer, bool) {
	side := s.side
	if !m.entered[d] {
		switch {
		case t.step.act != actPrepare || t.step.op != hccl.OpAlltoAllV:
			return m.breaks(d, 0, hccl.BadIterate)
		case t.iterated == t.units():
			return one(0), true
		case side == hccl.Sources && t.iterated == t.committed:
			return m.breaks(d, 0, hccl.WaitBeforeCommit)
		case side == hccl.Sources:
			m.waits(d, o, s.handle)
		}
		m.entered[d] = true
		t.iterated++
		if side == hccl.Sources {
			t.received = t.iterated
		}
	}
	ranks := make([]int, o.size)
	for i := range ranks {
		k := (t.iterated-1)%t.per*o.size + i
		if side == hccl.Sources {
			k = o.world - k
		}
		ranks[i] = (o.me + k) % o.world
	}
	return one(listed(ranks)), side == hccl.Destinations || t.ended >= t.iterated
}

// listed encodes a list of ranks as a decimal number, with digit rank+1 for each.
func listed(ranks []int) int {
	n := 0
	for _, r := range ranks {
		n = 10*n + 1 + r
	}
	return n
}
