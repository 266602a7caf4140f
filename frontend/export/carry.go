package export

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"kernbench/dtype"
	"kernbench/program/text"
	"kernbench/tl"
)

// carrier executes the statements of all ranks on places in memory, and lists the operations of
// each rank.
type carrier struct {
	file    *text.File
	several bool // some rank may have several blocks
	ranks   []rank
	parts   map[[2]int]int // of a window: first element of scratch
	scratch int            // elements of windows
	queues  map[[2]int][]int
	sends   map[[2]int]int // of a rank, and the number of a ring out of it: the block that sends into it
	takes   map[[2]int]int // the same of the rings into it, and the block that receives
	streams []stream
	known   map[stream]int
	err     error
}

// rank is the state of a rank.
type rank struct {
	agents  []*agent // its blocks, by number
	passive map[[2]int]int
	words   map[[3]int]*word
	written map[[2]int]bool     // written elements of windows
	syncs   map[int16]int       // of a window: arrivals and departures
	ops     []op                // of all blocks, in an order that the program allows
	after   map[int]map[int]int // of a block without an operation since: blocks and the operations to wait for
	waits   []wait
	posts   []post
	scratch int
}

// agent is the state of a block of a rank.
type agent struct {
	*rank
	id      int // of the rank
	block   *text.Block
	index   int // in the block
	at      int
	last    map[int32]int // statement of the last use of a tensor
	tensors map[int32][]piece
}

// stream is the messages of a ring, or those by which a block reaches the memory of another rank.
// Each end belongs to a block.
type stream struct {
	from, fromBlock int
	to, toBlock     int
	ring            int // of those that lead out of the rank, from 1 on; 0: no ring
}

// carry returns the operations of each rank, and the first element of temporaries in scratch
// memory. The order of a rank's operations is one that the program allows.
func carry(f *text.File) (_ *carrier, temporaries int, _ error) {
	c := &carrier{file: f, ranks: make([]rank, f.World), parts: map[[2]int]int{}, queues: map[[2]int][]int{}, known: map[stream]int{},
		sends: map[[2]int]int{}, takes: map[[2]int]int{}}
	for w, layout := range f.Windows {
		for p := range layout.Parts {
			c.parts[[2]int{w, p}] = c.scratch
			if layout.Parts[p].Type == f.Type {
				c.scratch += layout.Parts[p].Count
			}
		}
	}
	for r := range c.ranks {
		c.ranks[r] = rank{passive: map[[2]int]int{}, words: map[[3]int]*word{}, written: map[[2]int]bool{},
			syncs: map[int16]int{}, after: map[int]map[int]int{}, scratch: c.scratch}
	}
	for _, b := range f.Blocks {
		c.several = c.several || b.Number > 0
		last := uses(b)
		for i, r := range b.Ranks {
			k := &c.ranks[r]
			k.agents = append(k.agents, &agent{rank: k, id: int(r), block: b, index: i, last: last, tensors: map[int32][]piece{}})
		}
	}
	c.ends()
	for r := range c.ranks {
		slices.SortFunc(c.ranks[r].agents, func(x, y *agent) int { return x.block.Number - y.block.Number })
	}
	for moved := true; moved && c.err == nil; {
		moved = false
		for r := range c.ranks {
			for _, k := range c.ranks[r].agents {
				for k.at < len(k.block.Stmts) && c.err == nil && c.step(k) {
					k.at++
					moved = true
				}
			}
		}
	}
	if c.err == nil {
		c.err = c.stuck()
	}
	if c.err != nil {
		return nil, 0, c.err
	}
	return c, c.scratch, nil
}

// ends finds the blocks to which the ends of rings belong.
func (c *carrier) ends() {
	for _, b := range c.file.Blocks {
		for i := range b.Stmts {
			s := &b.Stmts[i]
			for _, r := range b.Ranks {
				switch w := &c.file.Wiring[r]; s.Op {
				case text.Send, text.SendRef:
					c.sends[[2]int{int(r), w.OutIndex(s.Dir)}] = b.Number
				case text.Recv, text.RecvTo, text.RecvAsync, text.Wait:
					c.takes[[2]int{int(r), w.InIndex(s.Dir)}] = b.Number
				}
			}
		}
	}
}

// stuck returns the error of a program in which some blocks wait for ever.
func (c *carrier) stuck() error {
	const most = 4
	var first *agent
	says, more := "", 0
	for r := range c.ranks {
		for _, k := range c.ranks[r].agents {
			switch {
			case k.at == len(k.block.Stmts):
			case first == nil:
				first = k
				says = fmt.Sprintf("%s waits for ever at %s", c.name(k), c.file.Statement(k.block, k.at))
			case more < most-1:
				more++
				says += fmt.Sprintf("; %s at %s", c.name(k), c.file.Statement(k.block, k.at))
				if line := k.block.Stmts[k.at].Line; line > 0 {
					says += fmt.Sprintf(" of line %d", line)
				}
			default:
				more++
			}
		}
	}
	if first == nil {
		return nil
	}
	if more >= most {
		says += fmt.Sprintf("; and %d more", more-most+1)
	}
	return c.mistake(first, says)
}

// name returns the name of a block in errors.
func (c *carrier) name(k *agent) string {
	if c.several {
		return fmt.Sprintf("rank %d block %d", k.id, k.block.Number)
	}
	return fmt.Sprintf("rank %d", k.id)
}

// mistake returns an error at a block's statement. Statements of a file have a line.
func (c *carrier) mistake(k *agent, says string) error {
	if line := int(k.block.Stmts[k.at].Line); line > 0 {
		return &text.Error{File: c.file.Name, Line: line, Msg: says}
	}
	return errors.New(says)
}

// uses returns the last statement that uses each tensor.
func uses(b *text.Block) map[int32]int {
	last := map[int32]int{}
	for i := range b.Stmts {
		for _, in := range b.Stmts[i].In {
			if in.N > 0 {
				last[in.Tensor] = i
			}
		}
	}
	return last
}

func (c *carrier) fail(k *agent, format string, args ...any) bool {
	if c.err == nil {
		c.err = c.mistake(k, fmt.Sprintf("%s, statement %d: %s", c.name(k), k.at, fmt.Sprintf(format, args...)))
	}
	return true
}

func (k *agent) num(n text.Num) int { return k.block.At(n, k.index) }

// place returns the pieces of memory of a statement, and the rank that owns them.
func (c *carrier) place(k *agent, p *text.Place) (owner int, out []piece) {
	owner = k.id
	if p.Far {
		owner = k.num(p.Peer)
	}
	buf, base := bufIn, 0
	switch {
	case p.Buffer == text.Out:
		buf = bufOut
	case p.Buffer >= text.Window:
		w := int(p.Buffer - text.Window)
		if c.file.Windows[w].Parts[p.Part].Type != c.file.Type {
			c.fail(k, "it moves elements of another type than %v", c.file.Type)
		}
		buf, base = bufScratch, c.parts[[2]int{w, int(p.Part)}]
	case p.Buffer == text.Data && c.file.Collective == "all_gather":
		buf = bufOut
	}
	from := k.num(p.From)
	for row := range max(1, int(p.Rows)) {
		if p.N > 0 {
			out = append(out, piece{buf, base + from + row*int(p.Pitch), int(p.N)})
		}
	}
	return owner, out
}

// operand returns the pieces of a tensor.
func (c *carrier) operand(k *agent, o *text.Operand) []piece {
	if o.N == 0 || o.Tensor < 0 {
		return nil
	}
	return part(k.tensors[o.Tensor], k.num(o.From), int(o.N))
}

// temporary returns new scratch memory of a rank.
func (k *rank) temporary(n int) piece {
	p := piece{bufScratch, k.scratch, n}
	k.scratch += n
	return p
}

// before copies live tensors out of memory of a rank that is about to be written. It leaves out the
// tensor except of block by, because that is the value to be written.
func (c *carrier) before(k *rank, writes []piece, by *agent, except int32) {
	for _, a := range k.agents {
		var hit []int32
		for t, list := range a.tensors {
			if last, used := a.last[t]; a == by && t == except || !used || last < a.at {
				continue
			}
			for _, p := range list {
				if slices.ContainsFunc(writes, p.overlaps) {
					hit = append(hit, t)
					break
				}
			}
		}
		slices.Sort(hit)
		for _, t := range hit {
			to := k.temporary(total(a.tensors[t]))
			c.copy(k, a.block.Number, a.tensors[t], []piece{to})
			a.tensors[t] = []piece{to}
		}
	}
	for _, w := range writes {
		if w.buf == bufScratch && w.off < c.scratch {
			for i := range w.n {
				k.written[[2]int{w.buf, w.off + i}] = true
			}
		}
	}
}

// emit appends an operation of a block.
func (k *rank) emit(block int, o op) {
	o.block, o.seq = block, len(k.ops)
	for _, on := range slices.Sorted(maps.Keys(k.after[block])) {
		k.waits = append(k.waits, wait{block, o.seq, on, k.after[block][on]})
	}
	delete(k.after, block)
	k.ops = append(k.ops, o)
}

func (c *carrier) copy(k *rank, block int, src, dst []piece) {
	zip(src, dst, func(x, y piece) {
		if x != y {
			k.emit(block, op{kind: opCpy, to: none, from: none, src: x, dst: y})
		}
	})
}

// stream returns the number of a stream.
func (c *carrier) stream(s stream) int {
	i, ok := c.known[s]
	if !ok {
		i = len(c.streams)
		c.known[s] = i
		c.streams = append(c.streams, s)
	}
	return i
}

// passiveBlock returns the number of the block of a rank that does what a block of another rank
// asks of it. If ranks have one block each, it is that block.
func (c *carrier) passiveBlock(owner int, k *agent) int {
	if !c.several {
		return 0
	}
	o := &c.ranks[owner]
	n, ok := o.passive[[2]int{k.id, k.block.Number}]
	if !ok {
		n = len(o.agents) + len(o.passive)
		o.passive[[2]int{k.id, k.block.Number}] = n
	}
	return n
}

// transfer moves pieces of one rank into those of another, at once. Block k asks for it, which is
// of one of the two. Combine adds to the present contents.
func (c *carrier) transfer(k *agent, from int, src []piece, to int, dst []piece, combine bool) {
	if from == to {
		if combine {
			zip(src, dst, func(x, y piece) { k.emit(k.block.Number, op{kind: opRe, to: none, from: none, src: x, dst: y}) })
			return
		}
		c.copy(k.rank, k.block.Number, src, dst)
		return
	}
	s := stream{from: from, fromBlock: k.block.Number, to: to, toBlock: k.block.Number}
	if from == k.id {
		s.toBlock = c.passiveBlock(to, k)
	} else {
		s.fromBlock = c.passiveBlock(from, k)
	}
	zip(src, dst, func(x, y piece) {
		on := c.stream(s)
		c.ranks[from].emit(s.fromBlock, op{kind: opS, to: on, from: none, src: x, dst: x})
		o := op{kind: opR, to: none, from: on, src: y, dst: y}
		if combine {
			o.kind = opRrc
		}
		c.ranks[to].emit(s.toBlock, o)
	})
}

// step performs a rank's next statement. It returns false if the rank must wait.
func (c *carrier) step(k *agent) bool {
	s := &k.block.Stmts[k.at]
	if s.Op <= text.Binary && s.Type != c.file.Type && s.Shape.Elems() > 0 {
		return c.fail(k, "it moves elements of %v, and a file has one type, %v", s.Type, c.file.Type)
	}
	switch s.Op {
	case text.Load:
		owner, list := c.place(k, &s.Mem)
		if owner != k.id {
			to := k.temporary(total(list))
			c.transfer(k, owner, list, k.id, []piece{to}, false)
			list = []piece{to}
		}
		k.tensors[s.Dst] = list
	case text.Store:
		return c.write(k, c.operand(k, &s.In[0]), s.In[0].Tensor, &s.Mem, false)
	case text.Put:
		return c.write(k, c.operand(k, &s.In[0]), s.In[0].Tensor, &s.Mem, s.Atom) && c.signal(k, s)
	case text.PutRef:
		_, from := c.place(k, &s.From)
		return c.write(k, from, text.None, &s.Mem, s.Atom) && c.signal(k, s)
	case text.Get:
		owner, from := c.place(k, &s.From)
		_, to := c.place(k, &s.Mem)
		c.before(k.rank, to, nil, text.None)
		c.transfer(k, owner, from, k.id, to, false)
	case text.Send:
		return c.send(k, s.Dir, c.operand(k, &s.In[0]))
	case text.SendRef:
		_, list := c.place(k, &s.Mem)
		return c.send(k, s.Dir, list)
	case text.RecvAsync:
	case text.Recv, text.Wait, text.RecvTo:
		return c.recv(k, s)
	case text.Binary:
		return c.add(k, s)
	case text.Convert:
		if s.Type != c.file.Type {
			return c.fail(k, "it converts to %v, and a file has one type: set accumulate to same", s.Type)
		}
		from := c.operand(k, &s.In[0])
		if t := s.In[0].Tensor; k.last[t] > k.at && len(from) > 0 { // both may be added to
			to := k.temporary(total(from))
			c.copy(k.rank, k.block.Number, from, []piece{to})
			from = []piece{to}
		}
		k.tensors[s.Dst] = from
	case text.Notify:
		return c.signal(k, s)
	case text.WaitUntil:
		return c.satisfied(k, s.Words)
	case text.Fence, text.Quiet, text.PipeBarrier:
	case text.Sync:
		return c.meet(k, s.Words.Window)
	default:
		return c.fail(k, "found %s, but MSCCL has only copies, messages and %v", s.Op.Name(), c.file.Op)
	}
	return true
}

// write stores pieces in memory of any rank. It returns true, because a write never waits.
func (c *carrier) write(k *agent, from []piece, tensor int32, to *text.Place, combine bool) bool {
	owner, list := c.place(k, to)
	o := &c.ranks[owner]
	if combine && len(list) > 0 && list[0].buf == bufScratch && !o.written[[2]int{bufScratch, list[0].off}] {
		combine = false // windows hold zeros at first
	}
	if owner == k.id {
		c.before(o, list, k, tensor)
	} else {
		c.before(o, list, nil, text.None)
	}
	c.transfer(k, k.id, from, owner, list, combine)
	return true
}

func (c *carrier) send(k *agent, d tl.Dir, list []piece) bool {
	w := &c.file.Wiring[k.id]
	i := w.OutIndex(d)
	if i < 0 {
		return c.fail(k, "it sends to %v, where no rank is", d)
	}
	peer, in := int(w.Out[i].Peer), int(w.Out[i].PeerIn)
	if peer == k.id {
		return c.fail(k, "it sends to its own rank: MSCCL has no such message")
	}
	key := [2]int{peer, in}
	for _, p := range list {
		on := c.stream(stream{from: k.id, fromBlock: k.block.Number, to: peer, toBlock: c.takes[key], ring: i + 1})
		k.emit(k.block.Number, op{kind: opS, to: on, from: none, src: p, dst: p})
		c.queues[key] = append(c.queues[key], p.n)
	}
	c.queues[key] = append(c.queues[key], 0) // the end of the message
	return true
}

func (c *carrier) recv(k *agent, s *text.Stmt) bool {
	d := s.Dir
	w := &c.file.Wiring[k.id]
	i := w.InIndex(d)
	if i < 0 {
		return c.fail(k, "it receives from %v, where no rank is", d)
	}
	queue := c.queues[[2]int{k.id, i}]
	if len(queue) == 0 {
		return false
	}
	var sizes []int
	n := 0
	for queue[0] != 0 {
		sizes, n = append(sizes, queue[0]), n+queue[0]
		queue = queue[1:]
	}
	c.queues[[2]int{k.id, i}] = queue[1:]
	if want := s.Shape.Elems(); n != want {
		return c.fail(k, "it receives %d elements, and the message has %d", want, n)
	}
	var to []piece
	if s.Op == text.RecvTo {
		_, to = c.place(k, &s.Mem)
		c.before(k.rank, to, nil, text.None)
	} else if n > 0 {
		to = []piece{k.temporary(n)}
	}
	at := 0
	from, out := int(w.In[i].Peer), int(w.In[i].PeerOut)
	for _, size := range sizes {
		for _, p := range part(to, at, size) {
			if p.n != size {
				return c.fail(k, "it receives a message into several ranges")
			}
			on := c.stream(stream{from: from, fromBlock: c.sends[[2]int{from, out}], to: k.id, toBlock: k.block.Number, ring: out + 1})
			k.emit(k.block.Number, op{kind: opR, to: none, from: on, src: p, dst: p})
		}
		at += size
	}
	if s.Op != text.RecvTo {
		k.tensors[s.Dst] = to
	}
	return true
}

// add adds two tensors into the one that is scratch memory and is not used again, else into a copy.
func (c *carrier) add(k *agent, s *text.Stmt) bool {
	if dtype.BinaryOp(s.Sub) != c.file.Op.Binary() {
		return c.fail(k, "it calculates %v, and the collective's operation is %v", dtype.BinaryOp(s.Sub), c.file.Op)
	}
	a, b := c.operand(k, &s.In[0]), c.operand(k, &s.In[1])
	if len(a) == 0 || len(b) == 0 {
		k.tensors[s.Dst] = append(a, b...)
		return true
	}
	if n, m := total(a), total(b); n != m {
		return c.fail(k, "it adds %d elements to %d, and a step adds as many", n, m)
	}
	own := func(o *text.Operand, list []piece) bool {
		return k.last[o.Tensor] == k.at && len(list) == 1 && list[0].buf == bufScratch && list[0].off >= c.scratch &&
			total(k.tensors[o.Tensor]) == list[0].n
	}
	switch {
	case own(&s.In[1], b):
	case own(&s.In[0], a):
		a, b = b, a
	default:
		to := []piece{k.temporary(total(b))}
		c.copy(k.rank, k.block.Number, b, to)
		b = to
	}
	zip(a, b, func(x, y piece) { k.emit(k.block.Number, op{kind: opRe, to: none, from: none, src: x, dst: y}) })
	k.tensors[s.Dst] = b
	return true
}
