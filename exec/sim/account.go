package sim

import (
	"kernbench/history"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/unit"
)

// The account of memory is told in the order in which kernels are carried out here, which
// agrees with every order that the protocol makes, though not with time: kernels run ahead.

// told is what a rank has for the account.
type told struct {
	agent history.Agent
	store uint64 // the store whose pieces are being issued
}

// tell adds a record of what a rank does in the instruction that it is in.
func (r *rank) tell(rec history.Record) { r.tellAt(rec, r.Clock) }

func (r *rank) tellAt(rec history.Record, at unit.Time) {
	rec.Agent, rec.Time = r.agent, at
	switch {
	case r.stream != nil && r.stream.op != nil:
		rec.Call, rec.Line = r.stream.op.Kind.String(), r.stream.op.Line
	case rec.Call == "" && r.instr != nil:
		rec.Call, rec.Line = r.instr.Call(), r.ctx.Line()
	}
	r.run.history.Add(rec)
}

// accountBegin says that the ranks of a launch begin, and numbers their rings.
func (x *run) accountBegin() {
	if x.history == nil || x.batch != nil {
		return
	}
	rings := 0
	for i := range x.ranks {
		r := &x.ranks[i]
		r.agent = x.history.Agent(history.Who{Rank: int(r.index), PE: int(r.pe), Stream: -1, Program: -1})
		x.history.Add(history.Record{Kind: history.Start, Agent: r.agent, Other: history.Host, Time: x.start})
		rings += len(r.tx)
	}
	number := x.history.NextRings(rings)
	for i := range x.ranks {
		for p := range x.ranks[i].tx {
			q := &x.ranks[i].tx[p]
			q.number = number
			x.ranks[q.peer].rx[q.peerIn].number = number
			number++
		}
	}
}

// accountJoin says that a rank has ended, with all that it started.
func (r *rank) accountJoin() {
	switch x := r.run; {
	case x.history == nil:
	case x.batch == nil:
		x.history.Add(history.Record{Kind: history.Join, Agent: history.Host, Other: r.agent, Time: r.Clock})
	case r.stream != nil:
		r.accountEnd()
	}
}

// accountInstr says which tensors an instruction waits for, which slots it reads, and what
// memory a load, store or composite accesses.
func (r *rank) accountInstr(in *tl.Instr) {
	h := r.run.history
	for _, i := range [...]int32{in.A, in.B, in.C} {
		r.accountUse(i)
	}
	bytes := in.Bytes()
	if in.Rows > 0 {
		bytes /= int64(in.Rows)
	}
	where := history.Range{Addr: in.Addr, Bytes: bytes, Rows: int32(in.Rows), Pitch: in.Pitch}
	switch in.Op {
	case tl.OpLoad:
		c := r.ctx.Cell(in.Dst)
		if in.Piece == 0 {
			c.Access = h.NextOp()
		}
		r.tell(history.Record{Kind: history.Load, Op: c.Access, Range: where})
	case tl.OpStore:
		if in.Piece == 0 {
			r.told.store = h.NextOp()
		}
		r.tell(history.Record{Kind: history.Store, Op: r.told.store, Range: where})
	case tl.OpComposite:
		c, p := r.ctx.Cell(in.Dst), in.Pipe
		for _, b := range p.BiasCell {
			r.accountUse(b)
		}
		c.Access = h.NextOp()
		r.tell(history.Record{Kind: history.Load, Op: c.Access, Range: history.Range{Addr: p.A.Addr, Bytes: p.A.Bytes()}})
		if p.Gemm {
			r.tell(history.Record{Kind: history.Load, Op: c.Access, Range: history.Range{Addr: p.B.Addr, Bytes: p.B.Bytes()}})
		}
		r.tell(history.Record{Kind: history.Store, Op: c.Access, Range: history.Range{Addr: p.Out.Addr, Bytes: p.Out.Bytes()}})
	case tl.OpAwait:
		r.accountUse(in.Dst)
	}
}

// accountUse says that an instruction waits for a tensor, and reads the slot that it lies in.
func (r *rank) accountUse(i int32) {
	if i == tl.None {
		return
	}
	c := r.ctx.Cell(i)
	if c.Access != 0 {
		r.tell(history.Record{Kind: history.Complete, Op: c.Access})
		c.Access = 0
	}
	if c.InSlot {
		q := &r.rx[c.In]
		r.tell(history.Record{Kind: history.Use, Ring: q.number, Seq: q.Taken - 1})
	}
}

// accountMemory says that an instruction has read or written memory and has waited for it.
func (r *rank) accountMemory(k history.Kind, a mem.Addr, bytes int64) {
	if r.run.history == nil || bytes == 0 {
		return
	}
	op := r.run.history.NextOp()
	r.tell(history.Record{Kind: k, Op: op, Range: history.Range{Addr: a, Bytes: bytes}})
	r.tell(history.Record{Kind: history.Complete, Op: op})
}

// accountSend says that the next part of the payload in a ring has its slot.
func (r *rank) accountSend(q *txPort, at unit.Time) {
	if r.run.history != nil {
		r.tellAt(history.Record{
			Kind: history.Send, Op: q.op, Ring: q.number, Seq: q.MyHead, Slots: q.Slots, Call: tl.OpSend.String(), Line: q.line,
		}, at)
	}
}

// accountRecv says that the message at the head of a ring is taken.
func (r *rank) accountRecv(q *rxPort) {
	if r.run.history != nil {
		r.tell(history.Record{Kind: history.Recv, Ring: q.number, Seq: q.Taken})
	}
}

// accountCredit says that the oldest slot of a ring is given back.
func (r *rank) accountCredit(q *rxPort, at unit.Time) {
	if r.run.history != nil {
		r.tellAt(history.Record{Kind: history.Credit, Ring: q.number, Seq: q.MyTail - 1, Call: "credit"}, at)
	}
}

// accountPlain says what needs no more than its kind.
func (r *rank) accountPlain(k history.Kind) {
	if r.run.history != nil {
		r.tell(history.Record{Kind: k})
	}
}

// accountSided says what a put, get or notification does, and numbers it.
func (r *rank) accountSided(in *tl.Instr) (op uint64) {
	h, s := r.run.history, in.Side
	if h == nil {
		return 0
	}
	pe, bytes := s.Win.Team.PEs[s.Peer], in.Bytes()
	remote, local := history.Range{Addr: s.Remote, Bytes: bytes}, history.Range{Addr: s.Local, Bytes: bytes}
	switch in.Op {
	case tl.OpPut:
		if in.A != tl.None {
			local = history.Range{}
		}
		op = h.NextOp()
		r.tell(history.Record{
			Kind: history.Put, Op: op, Peer: pe, Range: remote, Source: local,
			NBI: s.NBI, Atomic: s.Atomic, Float: s.Atomic && in.Type.IsFloat(),
		})
	case tl.OpGet:
		op = h.NextOp()
		r.tell(history.Record{Kind: history.Get, Op: op, Peer: pe, Range: remote, Source: local, NBI: s.NBI})
	}
	if in.Op == tl.OpNotify || in.Op == tl.OpPut && s.Signal {
		r.tell(history.Record{
			Kind: history.Notify, Op: op, Carry: in.Op == tl.OpPut, Peer: pe,
			Word: s.Win.WordAddr(int(s.Peer), s.Word), Type: s.WordType, Update: s.Op, Value: s.Value,
		})
	}
	return op
}

// accountDone says that a kernel has waited for its side of a put or get.
func (r *rank) accountDone(op uint64, d history.Done) {
	if r.run.history != nil {
		r.tell(history.Record{Kind: history.Complete, Op: op, Done: d})
	}
}

// accountSeen says which words a rank has seen satisfy a comparison.
func (r *rank) accountSeen(s *tl.OneSided) {
	if r.run.history == nil {
		return
	}
	for _, w := range s.Words {
		r.accountWord(history.Wait, s, w)
	}
}

// accountPoll says what a rank has seen in words that it looked at.
func (r *rank) accountPoll(in *tl.Instr) {
	s := in.Side
	switch {
	case r.run.history == nil:
	case in.Op == tl.OpReadWord:
		r.accountWord(history.Read, s, s.Word)
	case s.Hit:
		r.accountSeen(s)
	default:
		r.accountWord(history.Poll, s, s.Words[r.watch.at])
	}
}

func (r *rank) accountWord(k history.Kind, s *tl.OneSided, word int32) {
	rec := history.Record{Kind: k, Word: s.Win.WordAddr(int(s.Peer), word), Type: s.WordType, Seen: s.Win.Words(int(s.Peer))[word]}
	if k != history.Read {
		rec.Cmp, rec.Value = s.Cmp, s.Value
	}
	r.tell(rec)
}

// accountAtomic says what an atomic has done to a word, when it has.
func (r *rank) accountAtomic(f *effect, now unit.Time) {
	if r.run.history == nil {
		return
	}
	rec := history.Record{
		Kind: history.RMW, Peer: f.win.Team.PEs[f.member], Word: f.win.WordAddr(int(f.member), f.word), Type: f.typ,
		Update: tl.SignalAdd, Value: f.value, Seen: f.got, Wrote: true,
	}
	if f.op == swapWord {
		rec.Update, rec.Wrote = tl.SignalSet, f.got == f.expect
	}
	r.tellAt(rec, now)
}
