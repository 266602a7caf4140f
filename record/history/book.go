package history

import (
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// Teller is the interface between a kernel's core and its book.
type Teller interface {
	// Record adds a record of the kernel's current instruction, which the caller then completes.
	// It is valid until the next one is added.
	Record(Kind) *Record
	// Slot is the ring of an incoming port, and the message of it that was taken last.
	Slot(in uint8) (ring, seq uint32)
}

// Book records the accesses of a kernel, instruction by instruction, and keeps those that are not
// complete. A nil Book records nothing.
type Book struct {
	log    *Log
	kernel *tl.Context
	teller Teller
	loads  []load // by cell
	store  uint64 // the store whose pieces are being issued
}

// load is a load into a cell that no wait has covered.
type load struct {
	op  uint64
	gen uint32 // of the cell
}

// Book opens the book of a kernel. It returns nil for a nil log.
func (l *Log) Book(c *tl.Context, t Teller) *Book {
	if l == nil {
		return nil
	}
	return &Book{log: l, kernel: c, teller: t}
}

// Operands records which tensors an instruction waits for, and which slots it reads.
func (b *Book) Operands(in *tl.Instr) {
	if b == nil {
		return
	}
	for _, i := range [...]int32{in.A, in.B, in.C} {
		b.use(i)
	}
	switch in.Op {
	case tl.OpComposite:
		for _, i := range in.Pipe.BiasCell {
			b.use(i)
		}
	case tl.OpAwait:
		b.use(in.Dst) // completes the memory of the composite
	}
}

func (b *Book) use(i int32) {
	if i == tl.None {
		return
	}
	c := tl.DriverOf(b.kernel).Cell(i)
	if int(i) < len(b.loads) {
		if l := &b.loads[i]; l.op != 0 && l.gen == c.Gen() {
			b.teller.Record(Complete).Op = l.op
			l.op = 0
		}
	}
	if c.InSlot {
		ring, seq := b.teller.Slot(c.In)
		rec := b.teller.Record(Use)
		rec.Ring, rec.Seq = ring, seq
	}
}

// fills returns the load into a cell: a new one for its first piece.
func (b *Book) fills(i int32, first bool) uint64 {
	for int(i) >= len(b.loads) {
		b.loads = append(b.loads, load{})
	}
	if first {
		b.loads[i] = load{b.log.NextOp(), tl.DriverOf(b.kernel).Cell(i).Gen()}
	}
	return b.loads[i].op
}

// Accesses records the memory that a load, store or composite begins to access.
func (b *Book) Accesses(in *tl.Instr) {
	if b == nil {
		return
	}
	switch in.Op {
	case tl.OpLoad:
		b.access(Load, b.fills(in.Dst, in.Piece == 0), rows(in))
	case tl.OpStore:
		if in.Piece == 0 {
			b.store = b.log.NextOp()
		}
		b.access(Store, b.store, rows(in))
	case tl.OpLoadReduce:
		op := b.fills(in.Dst, true)
		b.copies(in, Load, op, in.Side.Remote)
	case tl.OpMulticast:
		b.store = b.log.NextOp()
		b.copies(in, Store, b.store, in.Side.Remote)
	case tl.OpReduceMulticast:
		b.copies(in, Load, b.log.NextOp(), in.Side.Local)
		b.store = b.log.NextOp()
		b.copies(in, Store, b.store, in.Side.Remote)
	case tl.OpComposite:
		op, p := b.fills(in.Dst, true), in.Pipe
		if in.A == tl.None {
			b.access(Load, op, Range{Addr: p.A.Addr, Bytes: p.A.Bytes()})
		}
		if p.Gemm && in.B == tl.None {
			b.access(Load, op, Range{Addr: p.B.Addr, Bytes: p.B.Bytes()})
		}
		b.access(Store, op, Range{Addr: p.Out.Addr, Bytes: p.Out.Bytes()})
	}
}

// copies records the accesses of an operation on the copies of several members.
func (b *Book) copies(in *tl.Instr, k Kind, op uint64, at mem.Addr) {
	for i := range in.Side.PEs() {
		b.access(k, op, Range{Addr: in.Side.Of(at, i), Bytes: in.Bytes()})
	}
}

// access records that an access begins.
func (b *Book) access(k Kind, op uint64, r Range) {
	rec := b.teller.Record(k)
	rec.Op, rec.Range = op, r
}

// rows returns the memory of a load or store.
func rows(in *tl.Instr) Range {
	return Range{Addr: in.Addr, Bytes: in.Bytes() / int64(max(1, in.Rows)), Rows: int32(in.Rows), Pitch: in.Pitch}
}

// Accessed records that an instruction has read or written memory, and has waited for it.
func (b *Book) Accessed(k Kind, a mem.Addr, bytes int64) {
	if b == nil || bytes == 0 {
		return
	}
	op := b.log.NextOp()
	b.access(k, op, Range{Addr: a, Bytes: bytes})
	b.teller.Record(Complete).Op = op
}

// Sided records the issue of a put, get or notification, and numbers it.
func (b *Book) Sided(in *tl.Instr) (op uint64) {
	if b == nil {
		return 0
	}
	s := in.Side
	switch in.Op {
	case tl.OpPut:
		op = b.log.NextOp()
		rec := b.sided(Put, op, in)
		rec.Atomic, rec.Float = s.Atomic, s.Atomic && in.Type.IsFloat()
		if s.Signal {
			rec.SetNotification(s)
			rec.Carry, rec.Lines = true, s.Lines
		}
		if in.A != tl.None {
			rec.Source = Range{}
		}
	case tl.OpGet:
		op = b.log.NextOp()
		b.sided(Get, op, in)
	}
	if in.Op == tl.OpNotify || in.Op == tl.OpPut && s.Signal {
		rec := b.teller.Record(Notify)
		rec.SetNotification(s)
		rec.Op, rec.Carry, rec.Lines = op, in.Op == tl.OpPut, s.Lines
	}
	return op
}

// sided records that a put or get begins.
func (b *Book) sided(k Kind, op uint64, in *tl.Instr) *Record {
	s, bytes := in.Side, in.Bytes()
	rec := b.teller.Record(k)
	rec.Op, rec.Peer, rec.NBI = op, s.Win.Team.PEs[s.Peer], s.NBI
	rec.Range, rec.Source = Range{Addr: s.Remote, Bytes: bytes}, Range{Addr: s.Local, Bytes: bytes}
	return rec
}

// Done records that a kernel has waited for its side of a put or get.
func (b *Book) Done(op uint64, d Done) {
	if b != nil {
		rec := b.teller.Record(Complete)
		rec.Op, rec.Done = op, d
	}
}

// Plain records an operation that is described by its kind alone.
func (b *Book) Plain(k Kind) {
	if b != nil {
		b.teller.Record(k)
	}
}

// Seen records which words a wait or test found satisfied.
func (b *Book) Seen(s *tl.OneSided) {
	if b == nil {
		return
	}
	for _, w := range s.Words {
		rec := b.teller.Record(Wait)
		rec.SetLook(s, w)
		if rec.Lines = s.Lines; s.Count > 0 {
			rec.From, rec.Count, rec.Seen = s.From, s.Count, s.Value
		}
	}
}

// Looked records the values that a test or read returned. failing is the number of a word that does
// not satisfy a failed test.
func (b *Book) Looked(in *tl.Instr, failing int) {
	switch s := in.Side; {
	case b == nil:
	case in.Op == tl.OpReadWord:
		rec := b.teller.Record(Read)
		rec.NBI = s.NBI
		rec.SetLook(s, s.Word)
	case s.Hit:
		b.Seen(s)
	default:
		b.teller.Record(Poll).SetLook(s, s.Words[failing])
	}
}

// SetLook enters the current value of a word, as a wait, test or read sees it.
func (r *Record) SetLook(s *tl.OneSided, word int32) {
	r.Word, r.Type, r.Seen = s.Win.WordAddr(int(s.Peer), word), s.WordType, s.Win.Words(int(s.Peer))[word]
	if r.Kind != Read {
		r.Cmp, r.Value = s.Cmp, s.Value
	}
}

// SetNotification enters the update of a word by a notification or a put.
func (r *Record) SetNotification(s *tl.OneSided) {
	r.Peer, r.Word, r.Type = s.Win.Team.PEs[s.Peer], s.Win.WordAddr(int(s.Peer), s.Word), s.WordType
	r.Update, r.Value = s.Op, s.Value
}

// SetAtomic enters the effect of an atomic on a word with a value.
func (r *Record) SetAtomic(op tl.Op, s *tl.OneSided, held int64) {
	r.SetNotification(s)
	r.Update, r.Seen, r.Wrote = tl.SignalAdd, held, true
	if op == tl.OpCompareSwap {
		r.Update, r.Wrote = tl.SignalSet, held == s.Expect
	}
}

// SetCopied enters the reads and writes of a copy engine.
func (r *Record) SetCopied(op *launch.StreamOp, number uint64) {
	r.Op = number
	r.Source = Range{Addr: op.Src, Bytes: op.Bytes, Rows: int32(op.Rows), Pitch: op.SrcPitch}
	r.Range = Range{Addr: op.Dst, Bytes: op.Bytes, Rows: int32(op.Rows), Pitch: op.DstPitch}
}
