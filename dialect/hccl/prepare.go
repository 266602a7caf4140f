package hccl

import (
	"fmt"
	"math"

	"kernbench/mem"
	"kernbench/tl"
)

// AllReduce prepares a task that gives every rank the combination of all contributions: count
// elements in each of repeat turns. Turn i reads and writes count×i elements after the buffers'
// starts.
func (h *Hccl) AllReduce(commit Release, sendBuf, recvBuf mem.Addr, count uint64, dataType DataType, op ReduceOp, repeat uint8) Handle {
	t := &task{op: OpAllReduce, send: sendBuf, recv: recvBuf, typ: dataType, reduce: op, repeat: int(repeat)}
	t.call = fmt.Sprintf("AllReduce(count %d, %v, %v, repeat %d)", count, dataType, op, repeat)
	return h.prepare(commit, t, count, 0)
}

// AllGather prepares a task that gives every rank the contributions of all, sendCount elements of
// each. The contribution of rank j lies strideCount×j elements after the start of recvBuf, or
// sendCount×j when strideCount is 0. With each turn both buffers advance by sendCount.
func (h *Hccl) AllGather(commit Release, sendBuf, recvBuf mem.Addr, sendCount uint64, dataType DataType,
	strideCount uint64, repeat uint8) Handle {
	t := &task{op: OpAllGather, send: sendBuf, recv: recvBuf, typ: dataType, repeat: int(repeat)}
	t.call = fmt.Sprintf("AllGather(sendCount %d, %v, strideCount %d, repeat %d)", sendCount, dataType, strideCount, repeat)
	return h.prepare(commit, t, sendCount, strideCount)
}

// ReduceScatter prepares a task that gives rank j the combination of block j of all contributions.
// A block has recvCount elements. It lies strideCount×j elements after the start of sendBuf, or
// recvCount×j when strideCount is 0. With each turn both buffers advance by recvCount.
func (h *Hccl) ReduceScatter(commit Release, sendBuf, recvBuf mem.Addr, recvCount uint64, dataType DataType,
	op ReduceOp, strideCount uint64, repeat uint8) Handle {
	t := &task{op: OpReduceScatter, send: sendBuf, recv: recvBuf, typ: dataType, reduce: op, repeat: int(repeat)}
	t.call = fmt.Sprintf("ReduceScatter(recvCount %d, %v, %v, strideCount %d, repeat %d)", recvCount, dataType, op, strideCount, repeat)
	return h.prepare(commit, t, recvCount, strideCount)
}

// AlltoAll prepares a task by which rank j gets block j of rank i's contribution as its block i.
// Blocks have dataCount elements. They begin strideCount apart in both buffers, or dataCount when
// strideCount is 0. With each turn both buffers advance by dataCount.
func (h *Hccl) AlltoAll(commit Release, sendBuf, recvBuf mem.Addr, dataCount uint64, dataType DataType,
	strideCount uint64, repeat uint8) Handle {
	t := &task{op: OpAlltoAll, send: sendBuf, recv: recvBuf, typ: dataType, repeat: int(repeat)}
	t.call = fmt.Sprintf("AlltoAll(dataCount %d, %v, strideCount %d, repeat %d)", dataCount, dataType, strideCount, repeat)
	return h.prepare(commit, t, dataCount, strideCount)
}

// AlltoAllV prepares a task by which rank j gets sendCounts[j] elements of each rank i, sdispls[j]
// after the start of i's sendBuf. Rank j stores them as the recvCounts[i] elements rdispls[i] after
// the start of its recvBuf. With each turn a block advances by its own count.
func (h *Hccl) AlltoAllV(commit Release, sendBuf mem.Addr, sendCounts, sdispls []uint64, sendType DataType,
	recvBuf mem.Addr, recvCounts, rdispls []uint64, recvType DataType, repeat uint8,
) Handle {
	t := &task{op: OpAlltoAllV, send: sendBuf, recv: recvBuf, typ: sendType, repeat: int(repeat)}
	t.call = fmt.Sprintf("AlltoAllV(sendCounts %v, sdispls %v, %v, recvCounts %v, rdispls %v, %v, repeat %d)",
		sendCounts, sdispls, sendType, recvCounts, rdispls, recvType, repeat)
	if h.g != nil {
		if sendType != recvType {
			return h.refuseTask(TypesDiffer, t.call, fmt.Sprintf("%v is sent, %v received", sendType, recvType), "give both the same type")
		}
		for _, list := range []struct {
			name string
			of   []uint64
		}{{"sendCounts", sendCounts}, {"sdispls", sdispls}, {"recvCounts", recvCounts}, {"rdispls", rdispls}} {
			switch {
			case list.of == nil:
				return h.refuseTask(NullBuffer, t.call, list.name+" is null",
					fmt.Sprintf("it has a number for each of %d ranks", h.g.comm.Size()))
			case len(list.of) != h.g.comm.Size():
				return h.refuseTask(BadCount, t.call, fmt.Sprintf("%s has %d numbers", list.name, len(list.of)),
					fmt.Sprintf("it has one for each of %d ranks", h.g.comm.Size()))
			}
		}
		var why string
		if t.sends, why = displaced(sendCounts, sdispls, sendType, repeat); why == "" {
			t.recvs, why = displaced(recvCounts, rdispls, recvType, repeat)
		}
		if why != "" {
			return h.refuseTask(BadCount, t.call, why, "counts and displacements are numbers of elements")
		}
	}
	return h.prepare(commit, t, 0, 0)
}

// displaced returns blocks with these counts and displacements, unless they are beyond the end of a
// memory.
func displaced(counts, displs []uint64, t DataType, repeat uint8) ([]mem.Chunk, string) {
	blocks := make([]mem.Chunk, len(counts))
	for j := range counts {
		if counts[j] > mostElems || !fits(counts[j], max(1, uint64(repeat)), t) || !fits(displs[j], 1, t) {
			return nil, fmt.Sprintf("%d elements at %d for rank %d are more than a memory can have", counts[j], displs[j], j)
		}
		blocks[j] = mem.Chunk{Lo: int(displs[j]), N: int(counts[j])}
	}
	return blocks, ""
}

// mostElems is the largest number of elements of a tensor.
const mostElems = math.MaxInt32

// fits reports whether a number of elements, repeated a number of times, fits in the address space.
func fits(n, times uint64, t DataType) bool {
	return n <= uint64(mem.MaxOffset)/uint64(max(1, t.Size()))/times
}

// prepare checks a task, and posts it on the core that posts.
func (h *Hccl) prepare(commit Release, t *task, count, stride uint64) Handle {
	if !h.ready(t) {
		return Invalid
	}
	world := uint64(h.g.comm.Size())
	carrier, known := t.typ.Carrier()
	switch {
	case t.repeat == 0:
		return h.refuseTask(RepeatZero, t.call, "repeat is 0", "the number of turns is 1 to 255")
	case t.send == 0 || t.recv == 0:
		return h.refuseTask(NullBuffer, t.call, "a buffer is null", "both have addresses")
	case !t.typ.Valid() || !known:
		return h.refuseTask(BadDataType, t.call, fmt.Sprintf("tasks have no elements of %v", t.typ),
			"see HcclDataType; HCCL_DATA_TYPE_INT128 is not supported")
	case t.op.Reduces() && !t.typ.Reducible():
		return h.refuseTask(NotReducible, t.call, fmt.Sprintf("%v cannot be combined", t.typ), "one of "+reducibleNames())
	case t.op.Reduces() && !t.reduce.Supported():
		return h.refuseTask(BadOp, t.call, fmt.Sprintf("tasks do not combine by %v", t.reduce),
			numbered([]ReduceOp{ReduceSum, ReduceMax, ReduceMin}))
	case t.op.Reduces() && t.cc.reduceSet && t.cc.reduce != t.reduce:
		return h.refuseTask(BadOp, t.call, fmt.Sprintf("the tiling has reduce type %v", t.cc.reduce),
			"combine by the same here, or leave SetReduceType out")
	case count == 0 && t.op != OpAlltoAllV:
		return h.refuseTask(BadCount, t.call, "the count is 0", "at least 1 element")
	case count > mostElems:
		return h.refuseTask(BadCount, t.call, fmt.Sprintf("there are %d elements", count), fmt.Sprintf("a block has at most %d", mostElems))
	case !fits(count, uint64(t.repeat), t.typ) || t.op != OpAllReduce && !fits(max(count, stride), world, t.typ):
		return h.refuseTask(BadCount, t.call, "it reaches farther than a memory goes", "fewer elements, or a smaller stride")
	}
	t.carrier, t.count, t.stride = carrier, int(count), int(stride)
	t.g, t.me = h.g, h.me
	for _, a := range t.areas() {
		if rule, found, right := h.k.session.misplaced(a, t.typ, t.op.Reduces()); rule != "" {
			return h.refuseTask(rule, t.call, h.would(found), right)
		}
	}
	t.row, _ = t.cc.AlgConfig().Row() // the tiling was checked
	if why := h.levels(t); why != "" {
		return h.refuseTask(BadAlgorithm, t.call, why, "choose another algorithm for SetCcTilingV2")
	}
	return h.post(commit, t)
}

// would returns the handle that a rejected task would have had.
func (h *Hccl) would(found string) string {
	return fmt.Sprintf("%s (the task would be handle %d)", found, len(h.tasks))
}

// ready reports whether tasks can be prepared, and finds the tiling of this one.
func (h *Hccl) ready(t *task) bool {
	switch {
	case h.g == nil:
		h.refuseTask(NoInit, t.call, "the object was not initialised", "InitV2 and SetCcTilingV2 come first")
		return false
	case h.finalized:
		h.refuseTask(AfterFinalize, t.call, "the object was finalised "+h.finalAt, "prepare before Finalize")
		return false
	case h.wrongCore(t):
		return false
	}
	if t.cc = h.cc[t.op]; t.cc == nil {
		h.refuseTask(NoTiling, t.call, fmt.Sprintf("there is no tiling for %v", t.op), "SetCcTilingV2 with one comes first")
		return false
	}
	return true
}

// wrongCore reports whether tasks of the device were prepared on cores of another type, and notes
// the mistake.
func (h *Hccl) wrongCore(t *task) bool {
	m := &h.g.members[h.me]
	if h.config.Server != DefaultCore {
		return false
	}
	if m.owner == nil {
		m.owner = h
	}
	if m.owner.k.typ == h.k.typ {
		return false
	}
	h.refuseTask(WrongCore, t.call, fmt.Sprintf("tasks of this device were prepared on its %v cores, this is an %v",
		m.owner.k.typ, h.k.typ),
		"call on one type of core, or name the one that posts in Config")
	return true
}

// levels returns why the group does not support an algorithm of two levels, or in steps.
func (h *Hccl) levels(t *task) string {
	world := h.g.comm.Size()
	switch {
	case t.cc.StepSize() > 0 && world%t.cc.StepSize() != 0:
		return fmt.Sprintf("%d ranks have %d steps, which do not go into Commits of %d", world, world, t.cc.StepSize())
	case t.cc.StepSize() == 0 && t.cc.AlgConfig().Level1 != "":
		if _, ok := h.g.comm.perServer(); !ok {
			return fmt.Sprintf("%q needs as many ranks in each server (SIP), one server after the other", t.cc.AlgConfig())
		}
	}
	return ""
}

// post gives a task its handle; the core that posts passes it to the engine.
func (h *Hccl) post(commit Release, t *task) Handle {
	if len(h.tasks) >= MaxTasks {
		return h.refuseTask(TooManyPrepares, t.call, fmt.Sprintf("%d tasks were prepared before", len(h.tasks)),
			fmt.Sprintf("a group has at most %d in a launch, InterHcclGroupSync among them: use repeat", MaxTasks))
	}
	m := &h.g.members[h.me]
	if h.posts && len(m.tasks) > 0 && m.owner != h {
		return h.refuseTask(WrongCore, t.call,
			fmt.Sprintf("block %d (%v) posts the tasks of this device, and Config names this core", m.owner.k.block, m.owner.k.typ),
			"give the objects of all cores the same Config")
	}
	t.g, t.me, t.handle = h.g, h.me, Handle(len(h.tasks))
	t.where = h.diagnostic(Error, Mismatch, t.call, "", "", "")
	for _, before := range h.tasks {
		if before.shared() {
			t.order++
		}
	}
	h.tasks = append(h.tasks, t)
	h.waits, h.commits, h.iterated = append(h.waits, 0), append(h.commits, 0), append(h.iterated, 0)
	h.suspect(t)
	if h.posts {
		m.owner = h
		m.tasks = append(m.tasks, t)
		h.k.Post(&tl.Task{Name: fmt.Sprintf("%s handle %d", t.name(), t.handle), Queue: h.g.queue, Kernel: t.perform,
			Rank: h.me, World: t.world()})
	}
	if commit == CommitNow || tl.DriverOf(h.k.Context).Again(AgainPrepare) {
		h.release(t, t.units())
	}
	return t.handle
}

// release lets the engine run a number of further units. Earlier stores of this core are visible to
// them.
func (h *Hccl) release(t *task, units int) {
	h.commits[t.handle] += units
	if h.posts {
		h.k.PipeBarrier()
		if line := tl.DriverOf(h.k.Context).Line(); line != "" {
			t.released = append(t.released, released{h.commits[t.handle], line})
		}
		h.status.add(h.k.Context, h.status.committed, t.handle, units)
	}
}

// suspect reports strides that are allowed but probably a mistake.
func (h *Hccl) suspect(t *task) {
	if t.op == OpAlltoAllV && t.sharesSources() {
		h.warn(OverlappingSources, t.call, "elements are sent to more than one rank: the result cannot be judged",
			"blocks apart, if that was not meant")
	}
	if t.op == OpAlltoAllV {
		if a, b, ok := overlapping(t.recvs, t.repeat); ok {
			h.warn(OverlappingDestinations, t.call,
				fmt.Sprintf("what comes from rank %d in %d turns overlaps what comes from rank %d: elements are written twice",
					a, t.repeat, b),
				"rdispls that leave space for all turns of each block")
		}
	}
	if t.op == OpAllReduce || t.op == OpAlltoAllV || t.op == OpBatchWrite || t.op == 0 || t.world() == 1 {
		return
	}
	reach, what := t.count*t.repeat, "written twice"
	if t.op == OpReduceScatter {
		what = "read twice"
		if t.sharesSources() {
			what += ", and the result cannot be judged"
		}
	}
	switch {
	case t.pitch() >= reach:
	case t.repeat == 1:
		h.warn(StrideLooksLikeRepeat, t.call,
			fmt.Sprintf("the blocks of two ranks are %d elements apart and have %d, so that elements are %s", t.stride, t.count, what),
			fmt.Sprintf("the stride comes before repeat: for %d turns pass 0 (or the distance) and then %d", t.stride, t.stride))
	case t.stride == 0:
		h.warn(OverlappingDestinations, t.call,
			fmt.Sprintf("with stride 0 the blocks of two ranks are %d elements apart, and %d turns of %d advance over the next: elements are %s",
				t.count, t.repeat, t.count, what),
			fmt.Sprintf("pass the distance of the blocks as strideCount: %d for blocks of all turns", reach))
	default:
		h.warn(StrideTooShort, t.call,
			fmt.Sprintf("the blocks of two ranks are %d elements apart, and %d turns of %d reach over the next: elements are %s",
				t.stride, t.repeat, t.count, what),
			fmt.Sprintf("a stride of at least %d", reach))
	}
}
