package mscclpp

import (
	"fmt"
	"slices"
)

// byteRange is a range of bytes of a buffer of a rank.
type byteRange struct {
	rank   int
	buffer Buffer
	first  int64 // in the buffer, of what is stored
	packet bool  // stored as packets: twice the payload
	flags  bool  // reads wait for flags, writes set them
}

// action is one operation of one iteration, with its reads, writes, waits and signals.
type action struct {
	op    *Op
	index int // place of the operation in the thread block, those in pipelines counted
	part  int
	size  int64 // payload in bytes of each range
	src   []byteRange
	dst   []byteRange

	sync  syncKind
	chans []int // channels of the GPU
}

// syncKind is the synchronisation of an action that moves data.
type syncKind uint8

const (
	noSync syncKind = iota
	syncBarrier
	syncSignal
	syncWait
	syncFlush
	syncAcquire
	syncRelease
)

// expansion makes the actions of one thread block at a size.
type expansion struct {
	*sizes
	rank    int
	block   *Block
	payload int64 // bytes of data in a packet
	total   *int  // of all thread blocks: actions and ranges
	actions []action
	err     error
	at      *Op // where err is
}

// mostActions limits the expansion of a plan: its operations, and the ranges of buffers that
// they access.
const mostActions = 1 << 18

// expand lists what a thread block does in one call.
func (e *expansion) expand() {
	index := 0
	for i := range e.block.Ops {
		op := &e.block.Ops[i]
		if op.Name != "pipeline" {
			e.op(op, index, 0, 0, mostBytes)
			index++
			continue
		}
		n := e.iterations(op)
		if n > 1<<16-1 {
			e.fail(op, fmt.Errorf("a pipeline of %d iterations: the executor counts them with 16 bits", n))
		}
		for it := int64(0); it < n && e.err == nil; it++ {
			for k := range op.Ops {
				e.op(&op.Ops[k], index+1+k, int(it), it*int64(op.UnitSize), int64(op.UnitSize))
			}
		}
		index += 1 + len(op.Ops)
	}
}

func (e *expansion) fail(op *Op, err error) {
	if e.err == nil {
		e.err, e.at = err, op
	}
}

// op adds the actions of an operation, from offset on.
func (e *expansion) op(op *Op, index, part int, offset, unit int64) {
	if e.err != nil {
		return
	}
	if *e.total++; *e.total > mostActions {
		e.fail(op, fmt.Errorf("more than %d operations at this size, with all buffers that they use", mostActions))
		return
	}
	a := action{op: op, index: index, part: part}
	switch op.Name {
	case "nop":
		e.actions = append(e.actions, a)
		return
	case "barrier":
		a.sync = syncBarrier
	case "signal", "rlxsignal":
		a.sync = syncSignal
	case "wait", "rlxwait":
		a.sync = syncWait
	case "flush":
		a.sync = syncFlush
	case "sem_acquire":
		a.sync, a.chans = syncAcquire, op.Semaphores
	case "sem_release":
		a.sync, a.chans = syncRelease, op.Semaphores
	default:
		e.data(a, offset, unit)
		return
	}
	if s := shapes[op.Name]; s.channels {
		a.chans = e.channels(op)
	}
	e.actions = append(e.actions, a)
}

// channels returns those of the GPU that an operation names.
func (e *expansion) channels(op *Op) []int {
	list := e.block.Memory
	if op.Type == PortChannel {
		list = e.block.Port
	}
	var out []int
	for _, c := range op.Channels {
		out = append(out, list[c])
	}
	return out
}

// data adds the actions of an operation that moves data.
func (e *expansion) data(a action, offset, unit int64) {
	op := a.op
	if shapes[op.Name].packets {
		offset, unit = 0, mostBytes // packets ignore pipelines
	}
	switch op.Name {
	case "put", "pws", "pwsf", "ppkt", "get":
		// One copy for each pair.
		for i := range op.Dst {
			b := a
			if op.Type == PortChannel {
				b.chans = e.channels(op)[i : i+1]
			}
			measure := op.Dst[i]
			if op.Name == "ppkt" || op.Name == "get" {
				measure = op.Src[i]
			}
			e.move(b, op.Src[i:i+1], op.Dst[i:i+1], measure, offset, unit, i)
		}
	case "rppkt":
		if op.Type == PortChannel {
			a.chans = e.channels(op)
		}
		e.move(a, op.Src[:1], op.Dst, op.Src[0], offset, unit, 0)
	case "copy", "upkt", "cpkt", "gstore", "gstorepkt", "glres":
		e.move(a, op.Src[:1], op.Dst[:1], op.Src[0], offset, unit, 0)
	case "re", "rre", "repkt":
		e.move(a, op.Src, op.Dst[:1], op.Src[0], offset, unit, 0)
	case "recpkt":
		e.move(a, op.Src, op.Dst[:2], op.Src[0], offset, unit, 0)
	default: // res, rres, respkt, recspkt
		e.move(a, op.Src, op.Dst, op.Src[0], offset, unit, 0)
	}
}

// move adds an action that adds up what is at src and writes it to each of dst. measure returns the
// number of bytes; pair is the place of a pair.
func (e *expansion) move(a action, src, dst []Ref, measure Ref, offset, unit int64, pair int) {
	_, size, err := e.span(measure, NoBuffer, a.op)
	if err != nil {
		e.fail(a.op, err)
		return
	}
	a.size = window(size, offset, unit)
	if shapes[a.op.Name].packets {
		a.size -= a.size % e.payload
	}
	if a.size == 0 {
		return
	}
	for i, r := range src {
		e.addRanges(&a.src, &a, r, i, true, offset)
	}
	for i, r := range dst {
		e.addRanges(&a.dst, &a, r, i, false, offset)
	}
	switch {
	case a.op.Name == "get":
		// The executor takes the offset of each side for the other.
		a.src[0].first, a.dst[0].first = a.dst[0].first, a.src[0].first
	case a.op.Name == "put" && a.op.Type == MemoryChannel && pair > 0:
		a.src[0].buffer = a.op.Src[0].Local // all sources are taken to be in the buffer of the first
	}
	e.actions = append(e.actions, a)
}

// addRanges appends what a reference means: several ranges of a switch channel, else one.
func (e *expansion) addRanges(list *[]byteRange, a *action, r Ref, place int, read bool, offset int64) {
	if e.err != nil {
		return
	}
	ranks, buffer := []int{e.rank}, r.Local
	switch {
	case r.Remote >= 0:
		refs := e.block.MemoryRefs
		if a.op.Type == PortChannel {
			refs = e.block.PortRefs
		}
		remote := e.gpu.Remote[refs[r.Remote]]
		ranks, buffer = []int{remote.Rank}, remote.Buffer
	case r.Switch >= 0:
		c := e.gpu.Switch[e.block.Switch[r.Switch]]
		ranks, buffer = slices.Sorted(slices.Values(c.Ranks)), c.Buffer
	}
	first, _, err := e.span(r, buffer, a.op)
	if err != nil {
		e.fail(a.op, err)
		return
	}
	s := byteRange{buffer: buffer, first: first + e.inScratch(buffer, offset)}
	s.packet, s.flags = packetsAt(a.op, place, read)
	if s.packet {
		s.first *= 2
		if read && s.flags && a.op.Name != "gstorepkt" {
			s.buffer = Scratch // for every reference
		}
	}
	*e.total += len(ranks)
	for _, rank := range ranks {
		s.rank = rank
		*list = append(*list, s)
	}
}

// packetsAt reports whether an operation takes a reference for packets, and whether it looks
// at their flags.
func packetsAt(op *Op, place int, read bool) (packets, flags bool) {
	switch op.Name {
	case "ppkt":
		return !read || op.Type == PortChannel, !read // a port copies packets as they are
	case "rppkt", "gstorepkt":
		return true, true
	case "cpkt":
		return !read, !read
	case "upkt":
		return read, read
	case "repkt", "recpkt", "respkt", "recspkt":
		return place > 0, place > 0
	}
	return false, false
}
