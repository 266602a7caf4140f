package hccl_test

import (
	"fmt"

	"kernbench/dialect/hccl"
)

// The model of the task API: what each call returns, which rule it breaks, and whether a
// program ends. It knows the rules and nothing of how the package keeps them: no
// memory, no time, no engine but a list of turns. What it says does not depend on the order
// in which ranks go, since nothing that a rank waits for is ever taken back.

// act is what a step of a program does.
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

// spoil is what is wrong with a Prepare.
type spoil uint8

const (
	fine spoil = iota
	noRepeat
	nullBuffer
	badType
	notReducible
	badOp
	noCount
	noTiling
	spoils
)

// breaks returns the rule that it breaks.
func (s spoil) breaks() hccl.Rule {
	return [spoils]hccl.Rule{
		"", hccl.RepeatZero, hccl.NullBuffer, hccl.BadDataType, hccl.NotReducible, hccl.BadOp, hccl.BadCount, hccl.NoTiling,
	}[s]
}

// step is one call on the object of a group.
type step struct {
	act    act
	group  int
	handle int // of Commit, Wait, Query, Iterate; in the other group, of InterHcclGroupSync
	side   hccl.Side

	op            hccl.OpType
	count, repeat int
	now           bool // commits all turns
	spoil         spoil
	region        int // of the buffers
}

func (s step) String() string {
	name := [...]string{"prepare", "groupsync", "commit", "wait", "query", "iterate", "finalize"}[s.act]
	switch s.act {
	case actPrepare:
		return fmt.Sprintf("%s:%v(%d×%d now=%v spoil=%d)@%d", name, s.op, s.count, s.repeat, s.now, s.spoil, s.group)
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
	stepSize []int    // by group: of its AlltoAllV; 0: there is none, and AlltoAll
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

// answer holds what a call returns: one of a range. On a core that does not post, and may be
// slower than the one that does, the range has another end.
type answer struct{ low, high, slower int }

func one(n int) answer { return answer{n, n, n} }

// foreseen holds what a program comes to.
type foreseen struct {
	answers [][]answer    // by device: of the calls that return
	broken  [][]hccl.Rule // by device: in the order of calls, of those that do not return, too
	tasks   []step        // that are collectives
	units   int           // of these that end on all ranks
	ends    bool          // all calls return and all tasks end
}

// modelTask is a task on one rank. Each Commit lets go a unit: a turn, or some steps of one.
type modelTask struct {
	step             step
	turns, per       int          // units of a turn
	committed, ended int          // units
	waited           int          // turns
	iterated         int          // units, given to either side
	received         int          // units that Iterate has waited for
	other            *modelObject // of InterHcclGroupSync
}

func (t *modelTask) units() int { return t.turns * t.per }

// modelObject holds what a rank has of a group.
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

// past reports whether unit u of a handle has ended or can begin.
func (o *modelObject) past(handle, u int) bool {
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
	out     foreseen
}

// foresee runs the model.
func foresee(p *program) foreseen {
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
	for m.calls() || m.units() {
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

// units lets every unit end that can: when all ranks of the group have come to it. One of some
// steps may end earlier.
func (m *model) units() bool {
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
					all = all && (peer == nil || peer.past(handle, t.ended))
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

// breaks notes a rule that a call breaks, which returns n.
func (m *model) breaks(d, n int, r hccl.Rule) (answer, bool) {
	m.out.broken[d] = append(m.out.broken[d], r)
	return one(n), true
}

// call performs a step, unless it has to wait.
func (m *model) call(d int, s step) (a answer, returns bool) {
	o := m.objects[s.group][d]
	failed := -1
	if s.act == actCommit || s.act == actFinalize || s.act == actIterate {
		failed = 0 // Iterate gives no rank, the others return nothing
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
	case s.spoil != fine:
		return m.breaks(d, -1, s.spoil.breaks())
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

// listed returns a list of ranks as a number.
func listed(ranks []int) int {
	n := 0
	for _, r := range ranks {
		n = 10*n + 1 + r
	}
	return n
}
