package text

import (
	"fmt"
	"sync"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// Kernel returns the kernel that performs the file, which must be Runnable: each block of each rank
// carries out its statements.
func (f *File) Kernel() tl.Kernel {
	type member struct {
		block *Block
		index int
	}
	members := make([]map[int]member, f.World) // by rank and number of the block
	for r := range members {
		members[r] = map[int]member{}
	}
	lines := map[*Block]func() []*tl.Line{}
	for _, b := range f.Blocks {
		for i, r := range b.Ranks {
			members[r][b.Number] = member{b, i}
		}
		lines[b] = sync.OnceValue(func() []*tl.Line {
			all := make([]*tl.Line, len(b.Stmts))
			for i := range all {
				all[i] = tl.NewLine(fmt.Sprintf("%s:%d", f.Name, b.Stmts[i].Line))
			}
			return all
		})
	}
	return func(c *tl.Context, a tl.Args) {
		s := members[c.Rank()][tl.DriverOf(c).Block()]
		x := &interpreter{
			f: f, b: s.block, index: s.index, c: c, a: &a, lines: lines[s.block],
			tensors: make([]tl.Tensor, s.block.cells), futures: map[tl.Dir][]tl.Future{},
		}
		tl.DriverOf(c).Interpret(x)
		for x.at = range s.block.Stmts {
			x.do(&s.block.Stmts[x.at])
		}
	}
}

// interpreter carries out the statements of one block of a rank.
type interpreter struct {
	f       *File
	b       *Block
	index   int // of the rank among those of the block
	c       *tl.Context
	a       *tl.Args
	at      int
	lines   func() []*tl.Line
	tensors []tl.Tensor
	futures map[tl.Dir][]tl.Future
	groups  map[groupOf]*mem.Group
	empty   []tl.Tensor // empty operands of the current statement
}

// Line returns the line of the statement at hand.
func (x *interpreter) Line() *tl.Line { return x.lines()[x.at] }

// do carries out a statement. A result is pinned, so that its memory is not reused, and is freed
// after its last use.
func (x *interpreter) do(s *Stmt) {
	c := x.c
	if s.Dst >= 0 {
		t := x.result(s)
		x.tensors[s.cell] = t
		if s.ends&deadDst == 0 {
			c.Pin(t)
		}
	} else {
		x.effect(s)
	}
	for _, t := range x.empty {
		c.Free(t)
	}
	x.empty = x.empty[:0]
	for i := range s.In {
		if s.ends&(1<<i) != 0 {
			c.Free(x.tensors[s.cells[i]])
		}
	}
	if s.ends&deadDst != 0 {
		c.Free(x.tensors[s.cell])
	}
}

// result returns the tensor that a statement makes.
func (x *interpreter) result(s *Stmt) tl.Tensor {
	c := x.c
	switch s.Op {
	case Load:
		if s.Mem.Rows > 0 {
			return c.LoadTile(x.tiles(&s.Mem, s.Type), 0, 0)
		}
		return c.Load(x.ref(&s.Mem, s.Type, s.Shape))
	case Recv:
		return c.Recv(s.Dir, s.Shape, s.Type)
	case Wait:
		q := x.futures[s.Dir]
		x.futures[s.Dir] = q[1:]
		return c.Wait(q[0])
	case Full:
		return c.Full(s.Shape, s.Type, s.Value[0])
	case Binary:
		return x.binary(s)
	case FMA:
		return c.FMA(x.view(s, 0, s.Shape), x.view(s, 1, s.Shape), x.view(s, 2, s.Shape))
	case Dot:
		m, k, n := s.Shape.Dim(0), int(s.Over[0]), s.Shape.Dim(1)
		return c.Dot(x.view(s, 0, tl.Dims(m, k)), x.view(s, 1, tl.Dims(k, n)))
	case Reduce, Softmax:
		return x.along(s)
	case LoadReduce:
		return c.LoadReduce(x.copies(s, &s.Mem), tl.ReduceOp(s.Sub))
	case Transpose:
		return c.Transpose(x.view(s, 0, tl.Dims(s.Shape.Dim(1), s.Shape.Dim(0))))
	}
	a := x.view(s, 0, s.Shape)
	var r tl.Tensor
	switch s.Op {
	case Scale:
		r = c.Scale(dtype.BinaryOp(s.Sub), a, s.Value[0])
	case Clamp:
		r = c.Clamp(a, s.Value[0], s.Value[1])
	case Convert:
		r = c.Convert(a, s.Type)
	case Unary:
		r = x.unary(dtype.UnaryOp(s.Sub), a)
	}
	return r
}

func (x *interpreter) unary(op dtype.UnaryOp, a tl.Tensor) tl.Tensor {
	switch c := x.c; op {
	case dtype.Exp:
		return c.Exp(a)
	case dtype.Log:
		return c.Log(a)
	case dtype.Sqrt:
		return c.Sqrt(a)
	case dtype.Abs:
		return c.Abs(a)
	default:
		return c.Neg(a)
	}
}

func (x *interpreter) binary(s *Stmt) tl.Tensor {
	shapes := [2]tl.Shape{s.Shape, s.Shape}
	if n := [2]int32{s.In[0].N, s.In[1].N}; n[0] != n[1] {
		for i := range n {
			if n[i] == 1 {
				shapes[i] = tl.Dims(1)
			}
		}
	}
	a, b := x.view(s, 0, shapes[0]), x.view(s, 1, shapes[1])
	var r tl.Tensor
	switch c := x.c; dtype.BinaryOp(s.Sub) {
	case dtype.Add:
		r = c.Add(a, b)
	case dtype.Sub:
		r = c.Sub(a, b)
	case dtype.Mul:
		r = c.Mul(a, b)
	case dtype.Div:
		r = c.Div(a, b)
	case dtype.Max:
		r = c.Maximum(a, b)
	default:
		r = c.Minimum(a, b)
	}
	return r
}

// along performs what goes along an axis.
func (x *interpreter) along(s *Stmt) tl.Tensor {
	shape, axis, _ := axisOf(s)
	a := x.view(s, 0, shape)
	switch {
	case s.Op == Softmax:
		return x.c.Softmax(a, axis)
	case dtype.BinaryOp(s.Sub) == dtype.Max:
		return x.c.Max(a, axis)
	}
	return x.c.Sum(a, axis)
}

// axisOf returns the shape of the operand of a reduce or softmax, and the axis. ok is false if the
// shape of the result does not fit them.
func axisOf(s *Stmt) (shape tl.Shape, axis int, ok bool) {
	dims := dimsOf(s.Shape)
	outer, n, inner := int(s.Over[0]), int(s.Over[1]), int(s.Over[2])
	for axis = range len(dims) + 1 {
		rest := dims[axis:]
		if s.Op == Softmax {
			if len(rest) == 0 || rest[0] != n {
				continue
			}
			rest = rest[1:]
		}
		if tl.Dims(dims[:axis]...).Elems() != outer || tl.Dims(rest...).Elems() != inner {
			continue
		}
		if s.Op == Softmax {
			return s.Shape, axis, true
		}
		if len(dims) == tl.MaxDims {
			return s.Shape, 0, false
		}
		full := append(append(append(make([]int, 0, tl.MaxDims), dims[:axis]...), n), rest...)
		return tl.Dims(full...), axis, true
	}
	return s.Shape, 0, false
}

func dimsOf(s tl.Shape) []int {
	d := make([]int, s.Len())
	for i := range d {
		d[i] = s.Dim(i)
	}
	return d
}

// view is operand i of a statement with a shape.
func (x *interpreter) view(s *Stmt, i int, shape tl.Shape) tl.Tensor {
	o := s.In[i]
	if o.Tensor == Empty {
		t := x.c.Load(tl.Ref{Shape: shape, DType: s.Type}) // moves nothing
		x.empty = append(x.empty, t)
		return t
	}
	t := x.tensors[s.cells[i]]
	if lo := x.b.At(o.From, x.index); lo != 0 || int(o.N) != t.Len() {
		t = t.Slice(lo, int(o.N))
	}
	if t.Shape() != shape {
		t = t.Reshape(dimsOf(shape)...)
	}
	return t
}

// effect carries out a statement that makes no tensor.
func (x *interpreter) effect(s *Stmt) {
	c := x.c
	c.UseChannels(int(s.Channels))
	switch s.Op {
	case Store:
		if s.Mem.Rows > 0 {
			c.StoreTile(x.tiles(&s.Mem, s.Type), 0, 0, x.view(s, 0, s.Shape))
			return
		}
		c.Store(x.ref(&s.Mem, s.Type, s.Shape), x.view(s, 0, s.Shape))
	case Send:
		if s.In[0].Tensor == Empty {
			c.SendRef(s.Dir, tl.Ref{Shape: s.Shape, DType: s.Type})
			return
		}
		c.Send(s.Dir, x.view(s, 0, s.Shape))
	case SendRef:
		c.SendRef(s.Dir, x.ref(&s.Mem, s.Type, s.Shape))
	case RecvTo:
		c.RecvTo(s.Dir, x.ref(&s.Mem, s.Type, s.Shape))
	case RecvAsync:
		x.futures[s.Dir] = append(x.futures[s.Dir], c.RecvAsync(s.Dir, s.Shape, s.Type))
	case Put, PutRef:
		x.put(s)
	case Get:
		sym, peer := x.sym(&s.From, s.Type), x.peer(s.From.Far, s.From.Peer)
		if dst := x.ref(&s.Mem, s.Type, s.Shape); s.NBI {
			c.GetNBI(dst, sym, peer)
		} else {
			c.Get(dst, sym, peer)
		}
	case StoreMulticast:
		c.StoreMulticast(x.copies(s, &s.Mem), x.view(s, 0, s.Shape))
	case ReduceMulticast:
		c.ReduceMulticast(x.copies(s, &s.Mem), x.copies(s, &s.From), tl.ReduceOp(s.Sub))
	case Notify:
		c.Notify(x.signal(s.Words), x.peer(s.Words.Far, s.Words.Peer), s.Words.Op, s.Words.Value)
	case WaitUntil:
		switch {
		case s.Span[1] > 0:
			c.WaitLines(x.signal(s.Words), s.Words.Value, int(s.Span[0]), int(s.Span[1]))
		case s.Lines != tl.NoLine:
			c.WaitLL(x.signal(s.Words), s.Words.Value)
		default:
			c.WaitUntil(x.signal(s.Words), s.Words.Cmp, s.Words.Value)
		}
	case Fence:
		c.Fence()
	case Quiet:
		c.Quiet()
	case PipeBarrier:
		c.PipeBarrier()
	case Sync:
		c.Sync(x.a.Window(int(s.Words.Window)).Team)
	}
}

func (x *interpreter) put(s *Stmt) {
	c, dst, peer := x.c, x.sym(&s.Mem, s.Type), x.peer(s.Mem.Far, s.Mem.Peer)
	if s.Op == Put && s.In[0].Tensor != Empty {
		switch t := x.view(s, 0, s.Shape); {
		case s.Lines == tl.LineLL128:
			c.PutLL128(dst, peer, t, x.signal(s.Words), s.Words.Value)
		case s.Lines == tl.LineLL:
			c.PutLL(dst, peer, t, x.signal(s.Words), s.Words.Value)
		case s.Words != nil:
			c.PutTensorSignal(dst, peer, t, x.signal(s.Words), s.Words.Op, s.Words.Value)
		case s.Atom:
			c.PutTensorCombine(dst, peer, t, tl.ReduceOp(s.Sub))
		default:
			c.PutTensor(dst, peer, t)
		}
		return
	}
	src := tl.Ref{Shape: s.Shape, DType: s.Type}
	if s.Op == PutRef {
		src = x.ref(&s.From, s.Type, s.Shape)
	}
	switch {
	case s.Words != nil && s.NBI:
		c.PutSignalNBI(dst, peer, src, x.signal(s.Words), s.Words.Op, s.Words.Value)
	case s.Words != nil:
		c.PutSignal(dst, peer, src, x.signal(s.Words), s.Words.Op, s.Words.Value)
	case s.Atom:
		c.PutCombine(dst, peer, src, tl.ReduceOp(s.Sub))
	case s.NBI:
		c.PutNBI(dst, peer, src)
	default:
		c.Put(dst, peer, src)
	}
}

// peer returns the rank whose memory is meant.
func (x *interpreter) peer(far bool, n Num) int {
	if !far {
		return x.c.Rank()
	}
	return x.b.At(n, x.index)
}

// sym returns a place in a window.
func (x *interpreter) sym(p *Place, t dtype.Type) tl.Sym {
	s := x.c.Data(x.a.Window(int(p.Buffer-Window)), x.f.part(p).FullName()).As(t)
	return s.Slice(x.b.At(p.From, x.index), int(p.N))
}

// ref returns a place as an address.
func (x *interpreter) ref(p *Place, t dtype.Type, shape tl.Shape) tl.Ref {
	peer := x.peer(p.Far, p.Peer)
	r := tl.Ref{Shape: shape, DType: t}
	switch off := mem.Addr(x.b.At(p.From, x.index) * t.Size()); p.Buffer {
	case In, Data:
		r.Addr = x.a.Shards[peer] + off
	case Out:
		r.Addr = x.a.Outs[peer] + off
	default:
		if p.Far {
			r.Addr = x.c.At(x.sym(p, t), peer).Addr
		} else {
			r.Addr = x.c.Local(x.sym(p, t)).Addr
		}
	}
	return r
}

// tiles returns a place of several rows, as one block.
func (x *interpreter) tiles(p *Place, t dtype.Type) tl.Desc {
	rows, cols := int(p.Rows), int(p.N)
	return tl.Desc{Addr: x.ref(p, t, tl.Dims(cols)).Addr, DType: t, Rows: rows, Cols: cols, Stride: int(p.Pitch),
		BlockRows: rows, BlockCols: cols}
}

// signal returns the control words of a statement.
func (x *interpreter) signal(w *Words) tl.Signal {
	win := x.a.Window(int(w.Window))
	s := x.c.Signals(win, win.Layout.Parts[w.Part].FullName()).At(x.b.At(w.First, x.index))
	if w.Extent == nil {
		return s
	}
	extent, stride := make([]int, len(w.Extent)), make([]int, len(w.Extent))
	for i := range extent {
		extent[i], stride[i] = int(w.Extent[i]), int(w.Stride[i])
	}
	return s.Grid(extent, stride)
}
