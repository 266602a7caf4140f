package hccl

import (
	"fmt"
	"slices"

	"kernbench/algorithm"
	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// task is a prepared task. On the core that posts, the engine performs it.
type task struct {
	g      *run
	me     int // rank
	handle Handle
	order  int    // among those that all ranks take part in
	call   string // as it was prepared
	where  Diagnostic

	released   []released // by the core that posts, where lines are recorded
	op         OpType     // 0: of InterHcclGroupSync
	cc         *CcTiling
	row        *algorithm.Algorithm
	send, recv mem.Addr
	count      int // elements of a block
	stride     int // elements from block to block, or 0
	typ        DataType
	carrier    dtype.Type
	reduce     ReduceOp
	repeat     int
	sends      []mem.Chunk // of AlltoAllV, by rank
	recvs      []mem.Chunk
	items      []BatchItem
	after      Handle // of InterHcclGroupSync: the task of the other group
	afterGroup *run
}

// released is a call that committed units, with the total number after it.
type released struct {
	units int
	line  string
}

// world returns the number of ranks.
func (t *task) world() int { return t.g.comm.Size() }

// name returns the name of the task in reports.
func (t *task) name() string {
	if t.op == 0 {
		return "InterHcclGroupSync"
	}
	return t.op.String()
}

// silent reports whether its turns move no data.
func (t *task) silent() bool { return t.cc != nil && t.cc.CommunicationOff() }

// unitsPerTurn returns how often a turn is committed: once, or the number of its steps over those
// of a Commit.
func (t *task) unitsPerTurn() int {
	if t.cc == nil || t.cc.StepSize() == 0 {
		return 1
	}
	return t.world() / t.cc.StepSize()
}

func (t *task) units() int { return t.repeat * t.unitsPerTurn() }

// pitch returns the distance of the blocks of two ranks, in elements.
func (t *task) pitch() int {
	if t.stride > 0 {
		return t.stride
	}
	return t.count
}

// inBlocks returns the place of a turn's contribution, in elements from the send buffer on: one
// block, or one for each rank.
func (t *task) inBlocks(turn int) []mem.Chunk {
	switch t.op {
	case OpAllReduce, OpAllGather:
		return []mem.Chunk{{Lo: turn * t.count, N: t.count}}
	case OpAlltoAllV:
		return advanced(t.sends, turn)
	}
	return t.pitched(turn)
}

// outBlocks is inBlocks of the result, from the receive buffer on.
func (t *task) outBlocks(turn int) []mem.Chunk {
	switch t.op {
	case OpAllReduce, OpReduceScatter:
		return []mem.Chunk{{Lo: turn * t.count, N: t.count}}
	case OpAlltoAllV:
		return advanced(t.recvs, turn)
	}
	return t.pitched(turn)
}

// pitched returns a block for each rank.
func (t *task) pitched(turn int) []mem.Chunk {
	blocks := make([]mem.Chunk, t.world())
	for j := range blocks {
		blocks[j] = mem.Chunk{Lo: j*t.pitch() + turn*t.count, N: t.count}
	}
	return blocks
}

// sharesSources reports whether elements are in the blocks of two ranks. Contributions are
// identified by their place in memory, which is then ambiguous.
func (t *task) sharesSources() bool {
	_, _, shares := overlapping(t.inBlocks(0), 1)
	return shares
}

// overlapping finds two ranks whose blocks have elements in common, in any of the turns.
func overlapping(blocks []mem.Chunk, turns int) (a, b int, ok bool) {
	order := make([]int, 0, len(blocks))
	for rank := range blocks {
		if blocks[rank].N > 0 {
			order = append(order, rank)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return blocks[a].Lo - blocks[b].Lo })
	for i := 1; i < len(order); i++ {
		a, b = order[i-1], order[i]
		if blocks[b].Lo < blocks[a].Lo+blocks[a].N*turns {
			return a, b, true
		}
	}
	return 0, 0, false
}

// advanced returns the blocks of a turn: each lies after those of the earlier turns.
func advanced(blocks []mem.Chunk, turn int) []mem.Chunk {
	all := make([]mem.Chunk, len(blocks))
	for j, b := range blocks {
		all[j] = mem.Chunk{Lo: b.Lo + turn*b.N, N: b.N}
	}
	return all
}

// within reports whether step k of an exchange, of which rank from sends to rank to, is one of
// a unit's.
func (t *task) within(unit, from, to int) bool {
	if t.unitsPerTurn() == 1 {
		return true
	}
	p, size := t.world(), t.cc.StepSize()
	k := (to - from + p) % p
	return k/size == unit%t.unitsPerTurn()
}

// blocks returns the blocks that a unit sends and receives: those of its turn, without those of
// other steps.
func (t *task) blocks(unit int) (in, out []mem.Chunk) {
	turn := unit / t.unitsPerTurn()
	in, out = t.inBlocks(turn), t.outBlocks(turn)
	if t.unitsPerTurn() == 1 {
		return in, out
	}
	for j := range in {
		if !t.within(unit, t.me, j) {
			in[j].N = 0
		}
		if !t.within(unit, j, t.me) {
			out[j].N = 0
		}
	}
	return in, out
}

// turn returns a unit as the data pass knows it.
func (t *task) turn(unit int) *tl.Turn {
	in, out := t.blocks(unit)
	refs := func(at mem.Addr, blocks []mem.Chunk) []tl.Ref {
		list := make([]tl.Ref, len(blocks))
		for j, b := range blocks {
			list[j] = ref(at, t, b.Lo, b.N)
		}
		return list
	}
	id := t.g.turnID(t.order, unit)
	turn := &tl.Turn{
		ID: id, World: t.world(), Rank: t.me, Op: t.reduce.TL(), Label: t.g.labels(id) + t.me,
		In: refs(t.send, in), Out: refs(t.recv, out),
	}
	if t.g.session.dev.HasData() { // only the data pass reports accesses
		turn.Name, turn.Await = t.title(unit), t.await(unit)
	}
	return turn
}

// await returns the call that waits until the turn of a unit has ended.
func (t *task) await(unit int) string {
	call := fmt.Sprintf("Wait(handle %d)", t.handle)
	if turn := unit / t.unitsPerTurn(); turn > 0 {
		call += fmt.Sprintf(" %d times", turn+1)
	}
	return call
}

// meaning returns the collective that a unit performs, given the tasks of all ranks.
func meaning(tasks []*task, unit int, id int32) collective.Call {
	t := tasks[0]
	c := collective.Call{
		World: t.world(), Elems: t.count, Type: t.carrier, Op: t.reduce.TL(),
		Labels: collective.Ranks{First: t.g.labels(id), N: t.world(), Stride: 1},
	}
	switch t.op {
	case OpReduceScatter, OpAlltoAll:
		c.Elems = t.count * t.world()
	case OpAlltoAllV:
		c.Elems = 0
		c.Counts = make([][]int, len(tasks))
		for r, from := range tasks {
			in, _ := from.blocks(unit)
			c.Counts[r] = make([]int, len(in))
			for j, b := range in {
				c.Counts[r][j] = b.N
			}
		}
	}
	return c
}

// title returns the name of a unit in reports.
func (t *task) title(unit int) string {
	per := t.unitsPerTurn()
	s := fmt.Sprintf("%s handle %d turn %d", t.name(), t.handle, unit/per)
	if len(t.g.session.runs) > 1 {
		s += " of group " + t.g.comm.name
	}
	if per > 1 {
		s += fmt.Sprintf(" steps from %d", unit%per*t.cc.StepSize())
	}
	return s
}
