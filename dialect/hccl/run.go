package hccl

import (
	"fmt"
	"slices"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/unit"
)

// run is the state of a launch for one group.
type run struct {
	session *session
	comm    *Comm
	queue   int // of the engines, and the number of the group among those of the launch
	status  *mem.Window
	staging map[stagingKey]*staging
	members []member // by rank
	turns   map[turnKey]int32
}

// member is the state of one rank of a group. Its cores share it; only the core that posts writes.
type member struct {
	tasks []*task // posted, by handle
	owner *Hccl   // of the core that posts

	forgotten bool // Finalize has ended

	// uses is the state of the staging buffers. For each of the two that alternate it has the uses
	// that its words count, and how often the two were used.
	uses  map[*staging]*[2][]int
	calls map[*staging]int
}

// turnKey names a unit of a task: a turn, or some steps of one. Tasks are known by their order
// among those that all ranks take part in: handles may differ.
type turnKey struct {
	order int
	unit  int
}

// shared reports whether all ranks of the group take part in a task. Lists of writes and the waits
// of a group are not shared: each rank has its own.
func (t *task) shared() bool { return t.op != 0 && t.op != OpBatchWrite }

// shared returns the tasks in which all ranks take part, by rank and in their order.
func (g *run) shared() [][]*task {
	byRank := make([][]*task, len(g.members))
	for r := range byRank {
		byRank[r] = slices.DeleteFunc(slices.Clone(g.members[r].tasks), func(t *task) bool { return !t.shared() })
	}
	return byRank
}

// turnID returns the number of a unit among all that the device performs, the same for all ranks.
func (g *run) turnID(order, unit int) int32 {
	k := turnKey{order, unit}
	id, ok := g.turns[k]
	if !ok {
		id = g.session.dev.NextTurn()
		g.turns[k] = id
	}
	return id
}

// labels returns the number of rank 0's contribution to a unit; the next ranks have the next
// numbers. Each unit has as many numbers as a group can have ranks, so groups of different sizes
// share none. Numbers repeat after very many.
func (g *run) labels(id int32) int {
	return int(int64(id) * int64(g.session.dev.Machine().NumPEs()) % (1 << 30))
}

// stagingKey identifies buffers: each algorithm has its own words, and elements of one size share
// them.
type stagingKey struct {
	row  *algorithm.Algorithm
	size int
}

// staging has the two windows that calls of one algorithm use in turn. Between two uses of one
// window the other is used, and in that use every rank learns that all have ended the first.
type staging struct {
	windows [2]*mem.Window
	elems   int // that a call can have, as the algorithm counts them
	uses    int // that a window's words count
}

// carriers are types of each size of elements, for the data of staging buffers.
var carriers = []dtype.Type{dtype.U8, dtype.F16, dtype.F32, dtype.F64}

// openRun makes the words of a group for a launch, and the staging buffers for its tiling.
func (s *session) openRun(g *Comm, queue int) (*run, error) {
	r := &run{
		session: s, comm: g, queue: queue, staging: map[stagingKey]*staging{},
		members: make([]member, g.Size()), turns: map[turnKey]int32{},
	}
	for i := range r.members {
		r.members[i] = member{uses: map[*staging]*[2][]int{}, calls: map[*staging]int{}}
	}
	words, err := statusLayout()
	if err != nil {
		return nil, err
	}
	prefix := s.launch.Name + "." + g.name
	if r.status, err = s.window(prefix, g.team, words); err != nil {
		return nil, err
	}
	if s.tiling == nil {
		return r, nil
	}
	for _, cc := range s.tiling.cc {
		if cc.GroupName() != g.name || cc.OpType() == OpBatchWrite {
			continue
		}
		row, err := cc.AlgConfig().Row()
		if err != nil {
			return nil, err
		}
		for _, t := range carriers {
			if err := r.stage(prefix, row, t); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// stage makes the staging buffers of an algorithm for elements of a size.
func (g *run) stage(prefix string, row *algorithm.Algorithm, t dtype.Type) error {
	k := stagingKey{row, t.Size()}
	if g.staging[k] != nil {
		return nil
	}
	world := g.comm.Size()
	// A multiple of the number of ranks, so that all blocks have equal size.
	most := max(1, int(g.comm.opts.Buffer/unit.Bytes(t.Size()))/world) * world
	if row.Collective == collective.AllGather.Name {
		most /= world // its windows are for a block
	}
	l, err := row.Window(world, most, t)
	if err != nil {
		return fmt.Errorf("staging buffer of %s: %w", row.Name, err)
	}
	for i := range l.Parts {
		if p := &l.Parts[i]; p.Word == mem.NoWord {
			p.Staging = true
		}
	}
	st := &staging{elems: most, uses: max(1, 2*world)}
	for i := range st.windows {
		name := fmt.Sprintf("%s.%s.%d.%d", prefix, row.Name, t.Size(), i)
		if st.windows[i], err = g.session.window(name, g.comm.team, l); err != nil {
			return err
		}
	}
	g.staging[k] = st
	return nil
}

// take returns the window that the next call of a rank uses, with the rank's state of it.
func (m *member) take(st *staging) (*mem.Window, []int) {
	if m.uses[st] == nil {
		m.uses[st] = &[2][]int{make([]int, st.uses), make([]int, st.uses)}
	}
	i := m.calls[st] % 2
	m.calls[st]++
	return st.windows[i], m.uses[st][i]
}
