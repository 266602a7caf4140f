package tl

import (
	"fmt"

	"kernbench/dtype"
	"kernbench/mem"
)

// OneSided holds the additional operands of an instruction on a window. The Context owns it, as it
// owns Instr.
type OneSided struct {
	Win  *mem.Window
	Peer int32 // member of Win's team whose copy it concerns

	Group *mem.Group // members whose copies the operation concerns; nil: all

	Remote mem.Addr   // put: destination, get: source; physical, in the memory of Peer
	Local  mem.Addr   // put: source when A is None, get: destination; physical
	NBI    bool       // the call returns before the local buffer may be reused
	Atomic bool       // put: combine by Instr.Binary with what is there
	Signal bool       // put: update Word by Op with Value when the data are there
	Lines  PacketLine // packet format: a put writes the word as a flag in each line, a wait polls such flags

	From, Count int32 // of a wait for flags: the lines of each packet; Count 0: all of them

	Word     int32   // index in the window, of operations on one word
	Words    []int32 // of waits and tests: all of them
	WordType mem.WordType
	Op       SignalOp
	Cmp      Cmp
	Value    int64
	Expect   int64 // compare-and-swap: what the word must hold

	// Filled in by the executor.
	Got int64
	Hit bool
}

// Traffic counts one rank's accesses to the memory of others, its notifications and its waits.
type Traffic struct {
	Rank     int   `json:"rank"`
	Sent     int64 `json:"sent_bytes"`     // into rings
	Read     int64 `json:"read_bytes"`     // loads and gets from the memory of other PEs
	Written  int64 `json:"written_bytes"`  // stores and puts to the memory of other PEs
	Notifies int64 `json:"notifies"`       // words updated, with data or without
	Waits    int64 `json:"waits"`          // words waited for
	Atomics  int64 `json:"atomics"`        // atomics that return a value
	Puts     int64 `json:"puts"`           // of all forms
	Gets     int64 `json:"gets"`           // of all forms
	Syncs    int64 `json:"synchronisings"` // barriers and syncs
}

// Remote returns the number of bytes that crossed from or to other PEs' memory.
func (t *Traffic) Remote() int64 { return t.Sent + t.Read + t.Written }

// Add adds the counts of another program of the same rank.
func (t *Traffic) Add(o Traffic) {
	t.Sent += o.Sent
	t.Read += o.Read
	t.Written += o.Written
	t.Notifies += o.Notifies
	t.Waits += o.Waits
	t.Atomics += o.Atomics
	t.Puts += o.Puts
	t.Gets += o.Gets
	t.Syncs += o.Syncs
}

// Traffic returns what the kernel has done so far.
func (d Driver) Traffic() Traffic {
	d.c.counts.Rank = d.c.rank
	return d.c.counts
}

// away reports whether memory is another PE's.
func (c *Context) away(a mem.Addr) bool { return a-c.slice > mem.MaxOffset && a.Space() == mem.HBM }

// putOptions holds the options in which the forms of put differ.
type putOptions struct {
	op         string
	nbi        bool
	atomic     bool
	by         ReduceOp
	signal     bool
	lines      PacketLine // of which each carries the signal
	word       Signal
	update     SignalOp
	value      int64
	fromMemory bool // the source is src, else t
	src        Ref
	t          Tensor
}

func (c *Context) put(dst Sym, peer int, p *putOptions) {
	to := c.symAt(p.op, dst, peer)
	cell, off, n, typ, shape := None, int32(0), 0, dtype.Invalid, Shape{}
	local := mem.Addr(0)
	if p.fromMemory {
		n, typ, shape = p.src.Len(), p.src.DType, p.src.Shape
		c.checkType(p.op, typ)
	} else {
		cell = c.use(p.op, &p.t)
		off, n, typ, shape = p.t.off, p.t.Len(), p.t.dtype, p.t.shape
	}
	if typ != to.DType || n != to.Len() {
		c.misuse(p.op, fmt.Sprintf("the destination is %s, the source %s", describe(to.DType, to.Shape), describe(typ, shape)))
	}
	if p.fromMemory && n > 0 {
		if c.pieces(p.op, &p.src) > 1 {
			c.badAddress(p.op, &p.src, "a put reads one shard: put the shards one by one")
		}
		local, _, _ = c.resolve(p.src.Addr)
	}
	if p.atomic {
		c.combinesBy(p.op, p.by)
	}
	if p.signal {
		if p.word.win != dst.win {
			c.misuse(p.op, "the signal lies in another window than the destination")
		}
		c.oneWord(p.op, p.word, peer)
		c.signalOp(p.op, p.update)
		c.wordValue(p.op, p.word, p.value)
		c.counts.Notifies++
	}
	if n == 0 && !p.signal {
		return
	}
	in := c.prepare(OpPut, typ, n, shape)
	in.A, in.AOff, in.Addr, in.Side = cell, off, local, &c.side
	c.side = OneSided{Win: dst.win, Peer: int32(peer), Remote: to.Addr, Local: local, NBI: p.nbi, Atomic: p.atomic}
	if p.atomic {
		in.Binary = p.by.Binary()
	}
	if p.signal {
		in.Channels = c.channels
		c.side.Signal, c.side.Word, c.side.WordType = true, c.words[0], p.word.part.Word
		c.side.Op, c.side.Value, c.side.Lines = p.update, p.value, p.lines
	}
	c.counts.Puts++
	c.countAccess(OpStore, to.Addr, to.Bytes())
	if p.fromMemory {
		c.countAccess(OpLoad, local, to.Bytes())
	}
	c.issue()
}

// Put copies memory of this PE into the copy of member peer. It returns when the source has
// been read and may be overwritten. The data arrive later: use Quiet, or a Fence and a signal, or
// PutSignal.
func (c *Context) Put(dst Sym, peer int, src Ref) {
	c.put(dst, peer, &putOptions{op: "put", fromMemory: true, src: src})
}

// PutNBI is Put that returns at once: the source belongs to the DMA until Quiet.
func (c *Context) PutNBI(dst Sym, peer int, src Ref) {
	c.put(dst, peer, &putOptions{op: "put_nbi", fromMemory: true, src: src, nbi: true})
}

// PutTensor is Put of a tensor. Tensors never change, so that it returns at once.
func (c *Context) PutTensor(dst Sym, peer int, t Tensor) {
	c.put(dst, peer, &putOptions{op: "put", t: t})
}

// PutSignal is Put that, when its data are there, updates a word of the same member. It
// orders its own data only.
func (c *Context) PutSignal(dst Sym, peer int, src Ref, s Signal, op SignalOp, v int64) {
	c.put(dst, peer, &putOptions{op: "put_signal", fromMemory: true, src: src, signal: true, word: s, update: op, value: v})
}

// PutSignalNBI is PutSignal that returns at once: the source belongs to the DMA until Quiet.
func (c *Context) PutSignalNBI(dst Sym, peer int, src Ref, s Signal, op SignalOp, v int64) {
	c.put(dst, peer, &putOptions{op: "put_signal_nbi", fromMemory: true, src: src, nbi: true, signal: true, word: s, update: op, value: v})
}

// PutTensorSignal is PutSignal of a tensor.
func (c *Context) PutTensorSignal(dst Sym, peer int, t Tensor, s Signal, op SignalOp, v int64) {
	c.put(dst, peer, &putOptions{op: "put_signal", t: t, signal: true, word: s, update: op, value: v})
}

// PutCombine is Put that combines each element with the one in memory, atomically per element, so
// that no concurrent PutCombine is lost. The order of their roundings is unspecified.
func (c *Context) PutCombine(dst Sym, peer int, src Ref, by ReduceOp) {
	c.put(dst, peer, &putOptions{op: "put_combine", fromMemory: true, src: src, atomic: true, by: by})
}

// PutTensorCombine is PutCombine of a tensor.
func (c *Context) PutTensorCombine(dst Sym, peer int, t Tensor, by ReduceOp) {
	c.put(dst, peer, &putOptions{op: "put_combine", t: t, atomic: true, by: by})
}

// Get copies from the copy of member peer into memory of this PE, and waits for it.
func (c *Context) Get(dst Ref, src Sym, peer int) { c.get("get", dst, src, peer, false) }

// GetNBI is Get that returns at once: the destination belongs to the DMA until Quiet.
func (c *Context) GetNBI(dst Ref, src Sym, peer int) { c.get("get_nbi", dst, src, peer, true) }

func (c *Context) get(op string, dst Ref, src Sym, peer int, nbi bool) {
	from := c.symAt(op, src, peer)
	if from.DType != dst.DType || from.Len() != dst.Len() {
		c.misuse(op, fmt.Sprintf("the destination is %s, the source %s", describe(dst.DType, dst.Shape), describe(from.DType, from.Shape)))
	}
	if dst.Len() == 0 {
		return
	}
	if c.pieces(op, &dst) > 1 {
		c.badAddress(op, &dst, "a get writes one shard: get the shards one by one")
	}
	local, _, _ := c.resolve(dst.Addr)
	c.side = OneSided{Win: src.win, Peer: int32(peer), Remote: from.Addr, Local: local, NBI: nbi}
	c.counts.Gets++
	c.countAccess(OpLoad, from.Addr, from.Bytes())
	c.countAccess(OpStore, local, from.Bytes())
	in := c.prepare(OpGet, dst.DType, dst.Len(), dst.Shape)
	in.Addr, in.Side = local, &c.side
	c.issue()
}

// Fence orders, at each destination, what this PE has put, stored or signalled there before
// what it puts, stores or signals there later. It waits for nothing to complete, and does not
// cover gets.
func (c *Context) Fence() { c.plain(OpFence) }

// Quiet waits until everything that this PE has started is complete everywhere.
func (c *Context) Quiet() { c.plain(OpQuiet) }

// PipeBarrier waits until the engines of this PE are idle: its loads, stores and arithmetic
// are complete. It does not wait for puts to arrive.
func (c *Context) PipeBarrier() { c.plain(OpDrain) }

func (c *Context) plain(op Op) {
	c.prepare(op, dtype.Invalid, 0, Shape{})
	c.issue()
}

// Sync waits until all members of a team have come to it as often as this PE. It is a
// rendezvous only: what members have put or stored need not be there. OpenSHMEM's shmem_sync
// makes a PE's own stores visible; here that takes a PipeBarrier before it.
//
// It is a dissemination barrier of ceil(log2(size)) rounds, on words that only grow. In round k
// rank r notifies rank r+2^k, and waits for the word of rank r-2^k. See Hensgen, Finkel, Manber
// (Two algorithms for barrier synchronization, Int. J. Parallel Programming 17(1), 1988).
func (c *Context) Sync(t *mem.Team) {
	c.counts.Syncs++
	if t == nil || t.Meeting == nil {
		c.misuse("sync", "the team has no barrier words: create teams with device.Context.NewTeam")
	}
	me := c.own("sync", t.Meeting)
	if c.grid > 0 {
		c.plain(OpMeet) // several programs may run on this PE: the executor orders their rendezvous
	}
	met := c.meets(t, me)
	if t.Size() == 1 {
		return
	}
	s := c.Signals(t.Meeting, "rounds")
	notifies, waits := c.counts.Notifies, c.counts.Waits
	for k := range t.Rounds() {
		c.Notify(s.At(k), (me+1<<k)%t.Size(), SignalAdd, 1)
		c.WaitUntil(s.At(k), GE, met)
	}
	c.counts.Notifies, c.counts.Waits = notifies, waits // Traffic counts only the kernel's own notifies and waits
}

// meets counts one more rendezvous of a member of a team, and returns the count. A trial run
// counts in a copy, so the team is unchanged.
func (c *Context) meets(t *mem.Team, member int) int64 {
	if c.trial == nil {
		t.Met[member]++
		return t.Met[member]
	}
	c.trial[t]++
	return t.Met[member] + c.trial[t]
}

// Barrier is Quiet and Sync: everything that any member has started before is complete
// everywhere afterwards.
func (c *Context) Barrier(t *mem.Team) {
	c.Quiet()
	c.Sync(t)
}
