package export

import (
	"fmt"

	"kernbench/dtype"
	"kernbench/program/text"
	"kernbench/tl"
)

// carrier executes the statements of all ranks on places in memory, and lists the operations of
// each rank.
type carrier struct {
	file    *text.File
	ranks   []rank
	parts   map[[2]int]int // of a window: first element of scratch
	scratch int            // elements of windows
	queues  map[[2]int][]int
	err     error
}

// rank is the state of a rank.
type rank struct {
	block   *text.Block
	index   int // in the block
	at      int
	last    map[int32]int // statement of the last use of a tensor
	tensors map[int32][]piece
	asked   []tl.Dir // announced receives
	words   map[[3]int]int64
	written map[[2]int]bool // written elements of windows
	syncs   int
	ops     []op
	scratch int
}

// carry returns the operations of each rank, and the first element of temporaries in scratch
// memory.
func carry(f *text.File) (_ []rank, temporaries int, _ error) {
	c := &carrier{file: f, ranks: make([]rank, f.World), parts: map[[2]int]int{}, queues: map[[2]int][]int{}}
	for w, layout := range f.Windows {
		for p := range layout.Parts {
			c.parts[[2]int{w, p}] = c.scratch
			if layout.Parts[p].Type == f.Type {
				c.scratch += layout.Parts[p].Count
			}
		}
	}
	for _, b := range f.Blocks {
		if b.Number > 0 {
			return nil, 0, fmt.Errorf("%s has several blocks for a rank: a recorded algorithm has one", f.Name)
		}
		for i, r := range b.Ranks {
			c.ranks[r] = rank{block: b, index: i, last: uses(b), tensors: map[int32][]piece{},
				words: map[[3]int]int64{}, written: map[[2]int]bool{}, scratch: c.scratch}
		}
	}
	for moved := true; moved && c.err == nil; {
		moved = false
		for r := range c.ranks {
			for c.ranks[r].block != nil && c.ranks[r].at < len(c.ranks[r].block.Stmts) && c.step(r) && c.err == nil {
				c.ranks[r].at++
				moved = true
			}
		}
	}
	if c.err != nil {
		return nil, 0, c.err
	}
	for r := range c.ranks {
		if k := &c.ranks[r]; k.block != nil && k.at < len(k.block.Stmts) {
			return nil, 0, fmt.Errorf("rank %d waits for ever at statement %d of the recorded program", r, k.at)
		}
	}
	return c.ranks, c.scratch, nil
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

func (c *carrier) fail(r int, format string, args ...any) bool {
	if c.err == nil {
		c.err = fmt.Errorf("rank %d, statement %d: %s", r, c.ranks[r].at, fmt.Sprintf(format, args...))
	}
	return true
}

func (k *rank) num(n text.Num) int {
	if n.Col > 0 {
		return int(k.block.Columns[n.Col-1][k.index])
	}
	return int(n.N)
}

// place returns the pieces of memory of a statement, and the rank that owns them.
func (c *carrier) place(r int, p *text.Place) (owner int, out []piece) {
	k := &c.ranks[r]
	owner = r
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
			c.fail(r, "it moves elements of another type than %v", c.file.Type)
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
func (c *carrier) operand(r int, o *text.Operand) []piece {
	if o.N == 0 || o.Tensor < 0 {
		return nil
	}
	k := &c.ranks[r]
	return part(k.tensors[o.Tensor], k.num(o.From), int(o.N))
}

// temporary returns new scratch memory of a rank.
func (k *rank) temporary(n int) piece {
	p := piece{bufScratch, k.scratch, n}
	k.scratch += n
	return p
}

// before copies live tensors out of memory that is about to be written.
func (c *carrier) before(r int, writes []piece, except int32) {
	k := &c.ranks[r]
	for t, list := range k.tensors {
		if last, used := k.last[t]; t == except || !used || last < k.at {
			continue
		}
		hit := false
		for _, p := range list {
			for _, w := range writes {
				hit = hit || p.overlaps(w)
			}
		}
		if !hit {
			continue
		}
		to := k.temporary(total(list))
		c.copy(r, list, []piece{to})
		k.tensors[t] = []piece{to}
	}
	for _, w := range writes {
		if w.buf == bufScratch && w.off < c.scratch {
			for i := range w.n {
				k.written[[2]int{w.buf, w.off + i}] = true
			}
		}
	}
}

func (c *carrier) emit(r int, o op) {
	c.ranks[r].ops = append(c.ranks[r].ops, o)
}

func (c *carrier) copy(r int, src, dst []piece) {
	zip(src, dst, func(x, y piece) {
		if x != y {
			c.emit(r, op{kind: opCpy, to: -1, from: -1, src: x, dst: y})
		}
	})
}

// transfer moves pieces of one rank into those of another, at once; combine adds them to the
// present contents.
func (c *carrier) transfer(from int, src []piece, to int, dst []piece, combine bool) {
	if from == to {
		if combine {
			zip(src, dst, func(x, y piece) { c.emit(to, op{kind: opRe, to: -1, from: -1, src: x, dst: y}) })
			return
		}
		c.copy(from, src, dst)
		return
	}
	zip(src, dst, func(x, y piece) {
		c.emit(from, op{kind: opS, to: to, from: -1, src: x, dst: x})
		o := op{kind: opR, to: -1, from: from, src: y, dst: y}
		if combine {
			o.kind = opRrc
		}
		c.emit(to, o)
	})
}

// step performs a rank's next statement. It returns false if the rank must wait.
func (c *carrier) step(r int) bool {
	k := &c.ranks[r]
	s := &k.block.Stmts[k.at]
	switch s.Op {
	case text.Load:
		owner, list := c.place(r, &s.Mem)
		if owner != r {
			to := k.temporary(total(list))
			c.transfer(owner, list, r, []piece{to}, false)
			list = []piece{to}
		}
		k.tensors[s.Dst] = list
	case text.Store:
		return c.write(r, c.operand(r, &s.In[0]), s.In[0].Tensor, &s.Mem, false)
	case text.Put:
		return c.write(r, c.operand(r, &s.In[0]), s.In[0].Tensor, &s.Mem, s.Atom) && c.signal(r, s)
	case text.PutRef:
		_, from := c.place(r, &s.From)
		return c.write(r, from, text.None, &s.Mem, s.Atom) && c.signal(r, s)
	case text.Get:
		owner, from := c.place(r, &s.From)
		_, to := c.place(r, &s.Mem)
		c.before(r, to, text.None)
		c.transfer(owner, from, r, to, false)
	case text.Send:
		return c.send(r, s.Dir, c.operand(r, &s.In[0]))
	case text.SendRef:
		_, list := c.place(r, &s.Mem)
		return c.send(r, s.Dir, list)
	case text.RecvAsync:
		k.asked = append(k.asked, s.Dir)
	case text.Recv, text.Wait, text.RecvTo:
		return c.recv(r, s)
	case text.Binary:
		return c.add(r, s)
	case text.Convert:
		if s.Type != c.file.Type {
			return c.fail(r, "it converts to %v, and a file has one type: set accumulate to same", s.Type)
		}
		k.tensors[s.Dst] = c.operand(r, &s.In[0])
	case text.Notify:
		return c.signal(r, s)
	case text.WaitUntil:
		return c.satisfied(r, s.Words)
	case text.Fence, text.Quiet, text.PipeBarrier:
	case text.Sync:
		return c.meet(r)
	default:
		return c.fail(r, "no step of MSCCL does what it does; copies, messages and %v are all that there is", c.file.Op)
	}
	return true
}

// write stores pieces in memory of any rank. It returns true, because a write never waits.
func (c *carrier) write(r int, from []piece, tensor int32, to *text.Place, combine bool) bool {
	owner, list := c.place(r, to)
	if combine && len(list) > 0 && list[0].buf == bufScratch && !c.ranks[owner].written[[2]int{bufScratch, list[0].off}] {
		combine = false // windows hold zeros at first
	}
	if owner == r {
		c.before(r, list, tensor)
	} else {
		c.before(owner, list, text.None)
	}
	c.transfer(r, from, owner, list, combine)
	return true
}

func (c *carrier) send(r int, d tl.Dir, list []piece) bool {
	w := &c.file.Wiring[r]
	i := w.OutIndex(d)
	if i < 0 {
		return c.fail(r, "it sends to %v, where no rank is", d)
	}
	peer, in := int(w.Out[i].Peer), int(w.Out[i].PeerIn)
	if peer == r {
		return c.fail(r, "it sends to itself, which no block can")
	}
	key := [2]int{peer, in}
	for _, p := range list {
		c.emit(r, op{kind: opS, to: peer, from: -1, src: p, dst: p})
		c.queues[key] = append(c.queues[key], p.n)
	}
	c.queues[key] = append(c.queues[key], 0) // the end of the message
	return true
}

func (c *carrier) recv(r int, s *text.Stmt) bool {
	k := &c.ranks[r]
	d := s.Dir
	w := &c.file.Wiring[r]
	i := -1
	for j := range w.In {
		if w.In[j].Dir == d {
			i = j
		}
	}
	if i < 0 {
		return c.fail(r, "it receives from %v, where no rank is", d)
	}
	queue := c.queues[[2]int{r, i}]
	if len(queue) == 0 {
		return false
	}
	var sizes []int
	n := 0
	for queue[0] != 0 {
		sizes, n = append(sizes, queue[0]), n+queue[0]
		queue = queue[1:]
	}
	c.queues[[2]int{r, i}] = queue[1:]
	var to []piece
	if s.Op == text.RecvTo {
		_, to = c.place(r, &s.Mem)
		c.before(r, to, text.None)
	} else if n > 0 {
		to = []piece{k.temporary(n)}
	}
	at := 0
	for _, size := range sizes {
		for _, p := range part(to, at, size) {
			if p.n != size {
				return c.fail(r, "it receives a message into several stretches")
			}
			c.emit(r, op{kind: opR, to: -1, from: int(w.In[i].Peer), src: p, dst: p})
		}
		at += size
	}
	if s.Op != text.RecvTo {
		k.tensors[s.Dst] = to
	}
	return true
}

// add adds two tensors into the one that is scratch memory and is not used again, else into a copy.
func (c *carrier) add(r int, s *text.Stmt) bool {
	k := &c.ranks[r]
	if dtype.BinaryOp(s.Sub) != c.file.Op.Binary() {
		return c.fail(r, "it calculates %v, and the collective's operation is %v", dtype.BinaryOp(s.Sub), c.file.Op)
	}
	a, b := c.operand(r, &s.In[0]), c.operand(r, &s.In[1])
	if len(a) == 0 || len(b) == 0 {
		k.tensors[s.Dst] = append(a, b...)
		return true
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
		c.copy(r, b, to)
		b = to
	}
	zip(a, b, func(x, y piece) { c.emit(r, op{kind: opRe, to: -1, from: -1, src: x, dst: y}) })
	k.tensors[s.Dst] = b
	return true
}
