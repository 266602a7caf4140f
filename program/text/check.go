package text

import (
	"fmt"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// deadDst is the bit of Stmt.ends of a result that is never read. Bit i is that of the last use of
// operand i.
const deadDst = 1 << 3

// check completes the statements of all blocks, and finds what is wrong with them.
func (f *File) check() error {
	type key struct{ rank, number int32 }
	lines := map[key]int{} // of declarations
	for _, b := range f.Blocks {
		for _, r := range b.Ranks {
			at := key{r, int32(b.Number)}
			if line, twice := lines[at]; twice {
				return f.errorf(b.line, "found block %d of rank %d again, want it once: it is in line %d", b.Number, r, line)
			}
			lines[at] = b.line
		}
		if err := f.checkBlock(b); err != nil {
			return err
		}
		b.allot()
	}
	return f.checkSharing()
}

// checker checks the statements of a block.
type checker struct {
	*scope
	b     *Block
	spans map[int32][2]int // of columns
	out   map[tl.Dir]bool  // directions that all ranks have
	in    map[tl.Dir]bool
}

func (f *File) checkBlock(b *Block) error {
	k := &checker{scope: f.newScope(), b: b, spans: map[int32][2]int{}, out: map[tl.Dir]bool{}, in: map[tl.Dir]bool{}}
	for i := range b.Stmts {
		s := &b.Stmts[i]
		if err := k.stmt(s); err != nil {
			return f.errorf(int(s.Line), "%v", err)
		}
		k.apply(s)
	}
	return nil
}

// span returns the least and the largest value of a number.
func (k *checker) span(n Num) (lo, hi int) {
	if n.Col == 0 {
		return int(n.N), int(n.N)
	}
	s, ok := k.spans[n.Col]
	if !ok {
		s[0], s[1] = k.b.span(n)
		k.spans[n.Col] = s
	}
	return s[0], s[1]
}

func (k *checker) stmt(s *Stmt) error {
	for i := range s.In {
		if err := k.operand(&s.In[i]); err != nil {
			return err
		}
	}
	if err := k.dir(s); err != nil {
		return err
	}
	if err := k.types(s); err != nil {
		return err
	}
	for _, p := range []*Place{&s.Mem, &s.From} {
		if p.Buffer != NoBuffer {
			if err := k.place(p, s); err != nil {
				return err
			}
		}
	}
	if s.Words != nil {
		if err := k.words(s); err != nil {
			return err
		}
	}
	if s.Dst >= 0 {
		if _, twice := k.tensors[s.Dst]; twice {
			return fmt.Errorf("found t%d again, want a new number: a tensor is made once", s.Dst)
		}
	}
	return k.agree(s)
}

// operand completes an operand.
func (k *checker) operand(o *Operand) error {
	if o.Tensor < 0 {
		return nil
	}
	t, ok := k.tensors[o.Tensor]
	if !ok {
		return fmt.Errorf("found t%d, want a tensor that an earlier statement defines", o.Tensor)
	}
	n := t.shape.Elems()
	if o.N == wholeTensor {
		o.N = int32(n)
		return nil
	}
	if _, hi := k.span(o.From); int(o.N) > n || hi > n-int(o.N) {
		return fmt.Errorf("found elements %d:%d of t%d, want them within its 0:%d", hi, hi+int(o.N), o.Tensor, n)
	}
	return nil
}

// dir checks that all ranks have the direction of a statement, and that announced receives are
// waited for in their order.
func (k *checker) dir(s *Stmt) error {
	sends := s.Op == Send || s.Op == SendRef
	if s.Op < Send || s.Op > Wait {
		return nil
	}
	known, verb := k.in, "receives from"
	if sends {
		known, verb = k.out, "sends to"
	}
	if !known[s.Dir] {
		for _, r := range k.b.Ranks {
			w := &k.f.Wiring[r]
			if at := w.InIndex(s.Dir); sends && w.OutIndex(s.Dir) < 0 || !sends && at < 0 {
				return fmt.Errorf("found direction %v, want one that rank %d %s: %s", s.Dir, r, verb, dirs(w, sends))
			}
		}
		known[s.Dir] = true
	}
	switch waiting := len(k.posts[s.Dir]); {
	case s.Op == Wait && waiting == 0:
		return fmt.Errorf("found wait %v, want a recv_async %[1]v before it", s.Dir)
	case (s.Op == Recv || s.Op == RecvTo) && waiting > 0:
		return fmt.Errorf("found recv %v, want wait %[1]v: %d announced receives are before it", s.Dir, waiting)
	}
	return nil
}

// dirs lists the directions that a rank has.
func dirs(w *tl.Wiring, out bool) string {
	var all []tl.Dir
	for i := range w.Out {
		if out {
			all = append(all, w.Out[i].Dir)
		}
	}
	for i := range w.In {
		if !out {
			all = append(all, w.In[i].Dir)
		}
	}
	if all == nil {
		return "no direction"
	}
	text := ""
	for i, d := range all {
		if i > 0 {
			text += ", "
		}
		text += d.String()
	}
	return text
}

// types completes the type and shape of a statement that does not say them.
func (k *checker) types(s *Stmt) error {
	usual, ok := k.implied(s)
	switch s.Op {
	case Recv, RecvAsync, Full:
		return nil
	case Convert:
		if s.said || !ok {
			break
		}
		if s.Shape == (tl.Shape{}) {
			s.Shape = usual.shape
		}
		return nil
	case Wait:
		if !ok || s.Type != dtype.Invalid && usual != (typed{s.Type, s.Shape}) {
			return fmt.Errorf("found wait as %s, want as it was announced: %s", typedText(s.Type, s.Shape),
				typedText(usual.typ, usual.shape))
		}
	}
	if s.Type != dtype.Invalid && (s.Op != Convert || s.said) {
		return nil
	}
	if !ok {
		return fmt.Errorf("found no type and shape, want \"as\" and both, such as as f16[8]")
	}
	s.Type, s.Shape = usual.typ, usual.shape
	return nil
}

// place checks that elements of memory lie within it.
func (k *checker) place(p *Place, s *Stmt) error {
	if p.Buffer >= Window && k.f.part(p).Word != mem.NoWord {
		return fmt.Errorf("found control words, want data")
	}
	if have := k.f.elemType(p); have.Size() != s.Type.Size() {
		return fmt.Errorf("found elements of %v in memory of %v, want a type of the same size", s.Type, have)
	}
	last := int64(p.N)
	if p.Rows > 0 {
		last += int64(p.Rows-1) * int64(p.Pitch)
	}
	if _, hi := k.span(p.From); int64(hi)+last > int64(k.f.capacity(p)) {
		return fmt.Errorf("found elements %d:%d of %s, want them within its 0:%d", hi, int64(hi)+last, k.f.bufferName(p), k.f.capacity(p))
	}
	return k.peer(p.Far, p.Peer)
}

// bufferName returns the name of a place's buffer in the text form.
func (f *File) bufferName(p *Place) string {
	switch p.Buffer {
	case In:
		return "in"
	case Out:
		return "out"
	case Data:
		return "data"
	}
	return fmt.Sprintf("w%d.%s", p.Buffer-Window, f.part(p).FullName())
}

func (k *checker) peer(far bool, n Num) error {
	if _, hi := k.span(n); far && hi >= k.f.World {
		return fmt.Errorf("found rank %d, want one from 0 to %d", hi, k.f.World-1)
	}
	return nil
}

// words checks the control words of a statement.
func (k *checker) words(s *Stmt) error {
	w := s.Words
	if s.Op == Sync {
		return nil
	}
	p := &k.f.Windows[w.Window].Parts[w.Part]
	from, to := k.span(w.First)
	n := int64(1)
	for i, e := range w.Extent {
		if n *= int64(e); n > int64(p.Count) {
			return fmt.Errorf("found more words than the %d of the part", p.Count)
		}
		if d := int(e-1) * int(w.Stride[i]); d < 0 {
			from += d
		} else {
			to += d
		}
	}
	if from < 0 || to >= p.Count {
		return fmt.Errorf("found words %d:%d of the part, want them within its 0:%d", from, to+1, p.Count)
	}
	if s.Lines != tl.NoLine && w.Value == 0 {
		return fmt.Errorf("found flag 0, want another value: unwritten memory has flag 0")
	}
	if s.Op != WaitUntil && n != 1 {
		return fmt.Errorf("found %d words, want one", n)
	}
	if p.Word.Wrap(w.Value) != w.Value {
		return fmt.Errorf("found value %d, want one that fits in %v", w.Value, p.Word)
	}
	if s.Op == WaitUntil && w.Far {
		return fmt.Errorf("found words of another rank, want the rank's own: it waits for no others")
	}
	return k.peer(w.Far, w.Peer)
}

// agree checks that types and numbers of elements go together.
func (k *checker) agree(s *Stmt) error {
	n := s.Shape.Elems()
	want := func(i, elems int, t dtype.Type) error {
		o := &s.In[i]
		if int(o.N) != elems {
			return fmt.Errorf("found %d elements in operand %d, want %d", o.N, i+1, elems)
		}
		if o.Tensor >= 0 && k.tensors[o.Tensor].typ != t {
			return fmt.Errorf("found type %v of operand %d, want %v: convert it", k.tensors[o.Tensor].typ, i+1, t)
		}
		return nil
	}
	switch s.Op {
	case Load, Store, SendRef, RecvTo:
		if s.Mem.elems() != n {
			return fmt.Errorf("found %s for %d elements of memory", typedText(s.Type, s.Shape), s.Mem.elems())
		}
		if s.Mem.Rows > 0 && (s.Shape != s.Mem.shape() || s.Op > Store) {
			return fmt.Errorf("found rows of memory, want load or store with a shape of %v", s.Mem.shape())
		}
		if s.Op == Store {
			return want(0, n, s.Type)
		}
	case Send:
		return want(0, n, s.Type)
	case Binary:
		return k.binary(s, want)
	case Scale, Unary, Clamp:
		return want(0, n, s.Type)
	case Convert:
		if o := &s.In[0]; int(o.N) != n {
			return fmt.Errorf("found %d elements in the operand, want %d", o.N, n)
		} else if o.Tensor == Empty {
			return fmt.Errorf("found empty, want a tensor: convert needs its type")
		}
	case FMA:
		for i := range 3 {
			if err := want(i, n, s.Type); err != nil {
				return err
			}
		}
	case Transpose:
		if s.Shape.Len() != 2 {
			return fmt.Errorf("found shape %v, want a matrix", s.Shape)
		}
		return want(0, n, s.Type)
	case Reduce, Softmax:
		return k.along(s, want)
	case Dot:
		if s.Shape.Len() != 2 {
			return fmt.Errorf("found shape %v, want a matrix", s.Shape)
		}
		inner := int(s.Over[0])
		if err := want(0, s.Shape.Dim(0)*inner, s.Type); err != nil {
			return err
		}
		return want(1, inner*s.Shape.Dim(1), s.Type)
	case Put, PutRef, Get:
		return k.sided(s, n, want)
	case LoadReduce, StoreMulticast, ReduceMulticast:
		if err := k.multimem(s); err != nil || s.Op != StoreMulticast {
			return err
		}
		return want(0, n, s.Type)
	}
	return nil
}

func (k *checker) binary(s *Stmt, want func(int, int, dtype.Type) error) error {
	a, b := int(s.In[0].N), int(s.In[1].N)
	n := a
	switch {
	case a == b || b == 1:
	case a == 1:
		n = b
	default:
		return fmt.Errorf("found operands of %d and %d elements, want equal lengths, or one operand with 1 element", a, b)
	}
	if s.Shape.Elems() != n {
		return fmt.Errorf("found a result of %v, want %d elements", s.Shape, n)
	}
	if err := want(0, a, s.Type); err != nil {
		return err
	}
	return want(1, b, s.Type)
}

func (k *checker) along(s *Stmt, want func(int, int, dtype.Type) error) error {
	if s.Over[1] == 0 && s.Op == Reduce {
		return fmt.Errorf("found an axis of no elements, want at least one")
	}
	elems := int64(1)
	for _, n := range s.Over {
		if elems *= int64(n); elems > mostElems {
			return fmt.Errorf("found more than %d elements", int64(mostElems))
		}
	}
	if _, _, ok := axisOf(s); !ok {
		return fmt.Errorf("found a result of %v, want one that %d, %d and %d elements before, along and after the axis make",
			s.Shape, s.Over[0], s.Over[1], s.Over[2])
	}
	if s.Op == Softmax && !s.Type.IsFloat() {
		return fmt.Errorf("found %v, want a floating type", s.Type)
	}
	return want(0, int(elems), s.Type)
}

// sided checks puts and gets.
func (k *checker) sided(s *Stmt, n int, want func(int, int, dtype.Type) error) error {
	remote := &s.Mem
	if s.Op == Get {
		remote = &s.From
	}
	if remote.Buffer < Window {
		return fmt.Errorf("found memory outside windows, want a part of a window: that is what ranks reach of each other")
	}
	for _, p := range []*Place{&s.Mem, &s.From} {
		if p.Buffer != NoBuffer && (p.elems() != n || p.Rows > 0) {
			return fmt.Errorf("found %d elements of memory, want %d in one range", p.elems(), n)
		}
	}
	switch {
	case s.Lines != tl.NoLine && (s.Op != Put || s.In[0].Tensor == Empty || s.Words == nil || s.Words.Op != tl.SignalSet):
		return fmt.Errorf("found %s of memory, or without a flag, want a tensor and signal WORD set FLAG", printer{k.scope}.op(s))
	case s.Atom && (s.NBI || s.Words != nil):
		return fmt.Errorf("found put_combine with a signal, want one of both")
	case s.NBI && s.Op == Put && s.In[0].Tensor != Empty:
		return fmt.Errorf("found put_nbi of a tensor, want put: a tensor never changes")
	case s.Op == Put:
		return want(0, n, s.Type)
	}
	return nil
}

// allot gives each tensor of a block a place among those that live at a time, and finds the last
// use of each.
func (b *Block) allot() {
	used := map[int32]bool{}
	for i := len(b.Stmts) - 1; i >= 0; i-- {
		s := &b.Stmts[i]
		s.ends = 0
		if s.Dst >= 0 && !used[s.Dst] {
			s.ends = deadDst
		}
		for k, o := range s.In {
			if o.Tensor >= 0 && !used[o.Tensor] {
				used[o.Tensor] = true
				s.ends |= 1 << k
			}
		}
	}
	places := map[int32]int32{}
	var free []int32
	b.cells = 0
	for i := range b.Stmts {
		s := &b.Stmts[i]
		for k, o := range s.In {
			if o.Tensor >= 0 {
				s.cells[k] = places[o.Tensor]
			}
		}
		if s.Dst >= 0 { // a cell of its own: operands are read after it is written
			if n := len(free); n > 0 {
				s.cell, free = free[n-1], free[:n-1]
			} else {
				s.cell = int32(b.cells)
				b.cells++
			}
			places[s.Dst] = s.cell
			if s.ends&deadDst != 0 {
				free = append(free, s.cell)
				delete(places, s.Dst)
			}
		}
		for k, o := range s.In {
			if s.ends&(1<<k) != 0 {
				free = append(free, s.cells[k])
				delete(places, o.Tensor)
			}
		}
	}
}
