package text

import (
	"errors"
	"fmt"
	"reflect"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/program"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// Recorded is the launch of a collective that has been recorded.
type Recorded struct {
	Program *program.Program // with places
	Launch  *launch.Launch   // of one group
	In      []mem.Addr       // physical, by rank: the contributions
	Out     []mem.Addr       // the results; nil: they replace the contributions
}

// Of makes the blocks of a file from a record, and fills in what the launch states of wiring,
// windows, slots and scratch. The rest of f is there. It fails if the program does what the format
// cannot say, with the rank that does it.
func (f *File) Of(r *Recorded) error {
	l := r.Launch
	if len(l.Groups) != 1 {
		return fmt.Errorf("the launch has %d groups of ranks: a program file has one", len(l.Groups))
	}
	if l.Ring.Mixed {
		return errors.New("the launch has rings with different numbers of slots (ring_slots): all rings of a program file have as many")
	}
	g := &l.Groups[0]
	f.World, f.Wiring, f.Slots, f.SlotBytes, f.Scratch = len(g.PEs), wiringOfRanks(g), l.Ring.Slots, l.Ring.SlotBytes, int64(l.Scratch)
	f.Windows, f.Groups = nil, nil
	for _, w := range g.Args.Windows {
		f.Windows = append(f.Windows, w.Layout)
	}
	if err := f.restorable(); err != nil {
		return err
	}
	rankOf := map[int]int32{}
	for r, pe := range g.PEs {
		rankOf[int(pe)] = int32(r)
	}
	f.Blocks = nil
	for i := range r.Program.Blocks {
		b := &r.Program.Blocks[i]
		m := &maker{
			f: f, r: r, g: g, wiring: &g.Wiring[i], rankOf: rankOf, rank: b.Rank, cells: map[int32]made{}, posts: map[tl.Dir][]int{},
		}
		for in := range r.Program.Instrs(b, int(g.PEs[b.Rank])) {
			if err := m.add(&in); err != nil {
				return fmt.Errorf("rank %d, operation %d (%v): %w", b.Rank, len(m.all), in.Op, err)
			}
		}
		m.countRendezvous(r.Program.Records[b.Record].Traffic.Syncs)
		f.Blocks = append(f.Blocks, &Block{Ranks: []int32{b.Rank}, Number: int(b.Number), Stmts: m.all})
	}
	return f.check()
}

// restorable reports what of windows and wiring a file cannot hold.
func (f *File) restorable() error {
	for i, l := range f.Windows {
		again, err := layout(l.Bytes, l.Parts)
		if err != nil || !reflect.DeepEqual(again, l) {
			return fmt.Errorf("window %d has a layout that a program file cannot describe: %v", i, l.Names())
		}
	}
	again, _, err := wire(ringsOf(f.Wiring))
	if err != nil || len(again) != len(f.Wiring) {
		return fmt.Errorf("the wiring is one that a program file cannot say: %w", err)
	}
	for r := range again {
		if !equalWiring(&again[r], &f.Wiring[r]) {
			return fmt.Errorf("the rings of rank %d are numbered in a way that a program file cannot say", r)
		}
	}
	return nil
}

// maker makes the statements of one rank.
type maker struct {
	f      *File
	r      *Recorded
	g      *launch.Group
	rankOf map[int]int32
	wiring *tl.Wiring // of the block
	rank   int32
	all    []Stmt
	next   int32          // number of the next tensor
	cells  map[int32]made // tensors by the kernel's number
	posts  map[tl.Dir][]int
	skip   int // operations of a rendezvous that are still to come
}

// made is a tensor.
type made struct {
	number int32
	typed
}

func (m *maker) add(in *tl.Instr) error {
	if m.skip > 0 {
		if in.Side == nil || m.meeting(in.Side.Win) < 0 {
			return fmt.Errorf("it is within a rendezvous")
		}
		m.skip--
		return nil
	}
	s := Stmt{Dst: None, Type: in.Type, Shape: in.Shape, said: true, Channels: in.Channels,
		In: [3]Operand{{Tensor: None}, {Tensor: None}, {Tensor: None}}}
	if err := m.fill(&s, in); err != nil {
		return err
	}
	if in.Dst != tl.None {
		s.Dst = m.next
		m.next++
		m.cells[in.Dst] = made{s.Dst, typed{s.Type, s.Shape}}
	}
	m.all = append(m.all, s)
	return nil
}

func (m *maker) fill(s *Stmt, in *tl.Instr) (err error) {
	w := m.wiring
	switch in.Op {
	case tl.OpLoad, tl.OpStore:
		if in.Pieces > 1 {
			return fmt.Errorf("found memory of %d ranges, want one contiguous range", in.Pieces)
		}
		s.Op = Load
		if in.Op == tl.OpStore {
			s.Op, s.In[0] = Store, m.operand(in.A, in.AOff, in.N)
		}
		s.Mem, err = m.place(in.Addr, in)
	case tl.OpSend:
		s.Dir = w.Out[in.Port].Dir
		if in.A == tl.None && in.N > 0 {
			s.Op = SendRef
			s.Mem, err = m.place(in.Addr, in)
			return err
		}
		s.Op, s.In[0] = Send, m.operand(in.A, in.AOff, in.N)
	case tl.OpRecvAsync:
		s.Op, s.Dir, s.Shape = RecvAsync, w.In[in.Port].Dir, tl.Dims(in.N)
		m.posts[s.Dir] = append(m.posts[s.Dir], len(m.all))
	case tl.OpRecv:
		s.Op, s.Dir = Recv, w.In[in.Port].Dir
		if p := m.posts[s.Dir]; len(p) > 0 {
			s.Op, m.posts[s.Dir], m.all[p[0]].Shape = Wait, p[1:], in.Shape
		} else if in.Dst == tl.None {
			s.Op = RecvTo
			s.Mem, err = m.place(in.Addr, in)
		}
	case tl.OpMath:
		return m.math(s, in)
	case tl.OpGemm:
		s.Op, s.Over = Dot, [3]int32{int32(in.Axis)}
		s.In[0], s.In[1] = m.operand(in.A, in.AOff, in.Outer*in.Axis), m.operand(in.B, in.BOff, in.Axis*in.Inner)
	default:
		return m.sided(s, in)
	}
	return err
}

func (m *maker) math(s *Stmt, in *tl.Instr) error {
	n := in.N
	s.Value = [2]float64{in.Scalar, in.Scalar2}
	switch in.Math {
	case tl.MathBinary:
		na, nb := n, n
		if in.Axis == 0 {
			na = 1
		}
		if in.Inner == 0 {
			nb = 1
		}
		s.Op, s.Sub = Binary, uint8(in.Binary)
		s.In[0], s.In[1] = m.operand(in.A, in.AOff, na), m.operand(in.B, in.BOff, nb)
		return nil
	case tl.MathBinaryScalar:
		s.Op, s.Sub = Scale, uint8(in.Binary)
	case tl.MathUnary:
		s.Op, s.Sub = Unary, uint8(in.Unary)
	case tl.MathFMA:
		s.Op, s.In[1], s.In[2] = FMA, m.operand(in.B, in.BOff, n), m.operand(in.C, in.COff, n)
	case tl.MathClamp:
		s.Op = Clamp
	case tl.MathConvert:
		s.Op = Convert
	case tl.MathFill:
		s.Op = Full
		return nil
	case tl.MathReduce, tl.MathSoftmax:
		s.Op, s.Sub = Reduce, uint8(in.Binary)
		if in.Math == tl.MathSoftmax {
			s.Op = Softmax
		}
		s.Over = [3]int32{int32(in.Outer), int32(in.Axis), int32(in.Inner)}
		n = in.Outer * in.Axis * in.Inner
	case tl.MathTranspose:
		s.Op = Transpose
	default:
		return fmt.Errorf("arithmetic %d has no statement", in.Math)
	}
	s.In[0] = m.operand(in.A, in.AOff, n)
	return nil
}

// sided makes statements of operations that concern windows, and of those that order them.
func (m *maker) sided(s *Stmt, in *tl.Instr) (err error) {
	switch in.Op {
	case tl.OpFence:
		s.Op = Fence
		return nil
	case tl.OpQuiet:
		s.Op = Quiet
		return nil
	case tl.OpDrain:
		s.Op = PipeBarrier
		return nil
	}
	x := in.Side
	if x == nil {
		return fmt.Errorf("there is no statement for it")
	}
	if w := m.meeting(x.Win); w >= 0 {
		if in.Op != tl.OpNotify {
			return fmt.Errorf("it is within a rendezvous")
		}
		s.Op, s.Words, m.skip = Sync, &Words{Window: int16(w)}, 2*x.Win.Team.Rounds()-1
		return nil
	}
	s.NBI, s.Atom, s.Lines, s.Span = x.NBI, x.Atomic, x.Lines, [2]int32{x.From, x.Count}
	switch in.Op {
	case tl.OpLoadReduce, tl.OpMulticast, tl.OpReduceMulticast:
		return m.switched(s, in)
	case tl.OpPut:
		s.Op, s.In[0] = Put, m.operand(in.A, in.AOff, in.N)
		if in.A == tl.None && in.N > 0 {
			s.Op, s.In[0].Tensor = PutRef, None
			if s.From, err = m.place(x.Local, in); err != nil {
				return err
			}
		}
		if x.Atomic {
			s.Sub = uint8(reduceOp(in.Binary))
		}
		if x.Signal {
			if s.Words, err = m.words(x); err != nil {
				return err
			}
		}
		s.Mem, err = m.place(x.Remote, in)
	case tl.OpGet:
		s.Op = Get
		if s.Mem, err = m.place(x.Local, in); err == nil {
			s.From, err = m.place(x.Remote, in)
		}
	case tl.OpNotify:
		s.Op = Notify
		s.Words, err = m.words(x)
	case tl.OpWaitWord:
		s.Op = WaitUntil
		s.Words, err = m.words(x)
	default:
		return fmt.Errorf("there is no statement for it")
	}
	return err
}

// reduceOp returns the first reduction that combines by an operation.
func reduceOp(op dtype.BinaryOp) tl.ReduceOp {
	for _, r := range tl.ReduceOps() {
		if r.Binary() == op {
			return r
		}
	}
	return tl.Sum
}

// countRendezvous adds rendezvous of a rank that is alone. They have no operations, but they are
// counted.
func (m *maker) countRendezvous(counted int64) {
	for i := range m.all {
		if m.all[i].Op == Sync {
			counted--
		}
	}
	for range counted {
		if len(m.f.Windows) > 0 {
			m.all = append(m.all, Stmt{Op: Sync, Dst: None,
				In: [3]Operand{{Tensor: None}, {Tensor: None}, {Tensor: None}}, Words: &Words{}, said: true})
		}
	}
}

// meeting returns the number of the window whose team has its barriers in w, or -1.
func (m *maker) meeting(w *mem.Window) int {
	for i, o := range m.g.Args.Windows {
		if o.Team.Meeting == w {
			return i
		}
	}
	return -1
}

// operand is n elements of a tensor.
func (m *maker) operand(cell, off int32, n int) Operand {
	if cell == tl.None {
		return Operand{Tensor: Empty, N: int32(n)}
	}
	return Operand{Tensor: m.cells[cell].number, N: int32(n), From: Num{N: off}}
}

// words returns the control words of an operation.
func (m *maker) words(x *tl.OneSided) (*Words, error) {
	for i, w := range m.g.Args.Windows {
		if w != x.Win {
			continue
		}
		for k := range w.Layout.Parts {
			p := &w.Layout.Parts[k]
			if p.Word == mem.NoWord || x.Word < p.First || x.Word >= p.First+int32(p.Count) {
				continue
			}
			s := &Words{Window: int16(i), Part: int16(k), Op: x.Op, Cmp: x.Cmp, Value: x.Value, First: Num{N: x.Word - p.First}}
			s.Far, s.Peer = m.far(w.Team.PEs[x.Peer])
			if len(x.Words) > 1 {
				s.Extent, s.Stride = grid(x.Words)
			}
			return s, nil
		}
	}
	return nil, fmt.Errorf("its window is none of the call's")
}

// grid finds extents and strides of words whose numbers are those of a tensor of signals.
func grid(words []int32) (extent, stride []int32) {
	n, step := len(words), 1 // words[0], words[step], ... are left
	for step < n {
		d := words[step] - words[0]
		k := 1
		for k*step < n && words[k*step]-words[(k-1)*step] == d {
			k++
		}
		extent, stride = append([]int32{int32(k)}, extent...), append([]int32{d}, stride...)
		step *= k
	}
	return extent, stride
}

// far reports whether memory of a PE is another rank's, and whose.
func (m *maker) far(pe int32) (bool, Num) {
	r := m.rankOf[int(pe)]
	if r == m.rank {
		return false, Num{}
	}
	return true, Num{N: r}
}

// place finds what an address belongs to.
func (m *maker) place(a mem.Addr, in *tl.Instr) (p Place, err error) {
	size := int64(in.Type.Size())
	p.N = int32(in.N)
	if in.Rows > 0 {
		p.N, p.Rows, p.Pitch = int32(in.N/in.Rows), int32(in.Rows), int32(in.Pitch/size)
	}
	own := Buffer(In)
	if m.r.Out == nil {
		own = Data
	}
	if in.Op == tl.OpRecv && in.N == 0 { // what is received there has no address
		p.Buffer = own
		return p, nil
	}
	r, ok := m.rankOf[a.Unit()]
	if !ok || a.Space() != mem.HBM {
		return p, fmt.Errorf("%v is not memory of a rank", a)
	}
	p.Far, p.Peer = m.far(m.g.PEs[r])
	within := func(from int64, length int, t dtype.Type) bool {
		off := a.Offset() - from
		if length := int64(length) * int64(t.Size()); off < 0 || off > length || off == length && in.N > 0 || off%size != 0 ||
			t.Size() != int(size) {
			return false
		}
		p.From = Num{N: int32(off / size)}
		return true
	}
	p.Buffer = own
	if within(m.r.In[r].Offset(), m.f.Elems, m.f.Type) {
		return p, nil
	}
	if p.Buffer = Out; m.r.Out != nil && within(m.r.Out[r].Offset(), m.f.Results, m.f.Type) {
		return p, nil
	}
	for i, w := range m.g.Args.Windows {
		for k := range w.Layout.Parts {
			part := &w.Layout.Parts[k]
			if p.Buffer, p.Part = Window+Buffer(i), int16(k); part.Word == mem.NoWord && within(w.Base+part.Off, part.Count, part.Type) {
				return p, nil
			}
		}
	}
	return p, fmt.Errorf("%v is no memory of the call that holds %v", a, in.Type)
}
