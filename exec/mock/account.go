package mock

import (
	"kernbench/history"
	"kernbench/mem"
	"kernbench/tl"
)

// tell adds a record of what a rank does, now, in the instruction that it is in.
func (r *rank) tell(rec history.Record) {
	rec.Agent = r.agent
	if r.at != nil {
		rec.Call, rec.Line = r.at.Call(), r.kernel.Line()
	}
	r.run.history.Add(rec)
}

// accountStart says that all ranks of a launch begin, and numbers their rings.
func (x *run) accountStart() {
	for _, r := range x.ranks {
		r.agent = x.history.Agent(history.Who{Rank: r.index, PE: int(r.pe), Stream: -1, Program: -1})
		x.history.Add(history.Record{Kind: history.Start, Agent: r.agent, Other: history.Host})
	}
	first := x.history.NextRings(len(x.rings))
	for i, q := range x.rings {
		q.number = first + uint32(i)
	}
}

// accountEnd says that a rank or program has ended, with all that it started.
func (r *rank) accountEnd() {
	begetter := history.Host
	if r.stream != nil {
		begetter = r.stream.agent
	}
	r.run.history.Add(history.Record{Kind: history.Join, Agent: begetter, Other: r.agent})
}

// accountOperands says which tensors an instruction waits for and which slots it reads.
func (r *rank) accountOperands(in *tl.Instr) {
	for _, i := range [...]int32{in.A, in.B, in.C} {
		r.accountUse(i)
	}
	if in.Op == tl.OpComposite {
		for _, i := range in.Pipe.BiasCell {
			r.accountUse(i)
		}
	}
	if in.Op == tl.OpAwait {
		r.accountUse(in.Dst) // completes the memory of the composite
	}
}

func (r *rank) accountUse(i int32) {
	if i == tl.None {
		return
	}
	c := r.kernel.Cell(i)
	if c.Access != 0 {
		r.tell(history.Record{Kind: history.Complete, Op: c.Access})
		c.Access = 0
	}
	if c.InSlot {
		q := r.in[c.In]
		r.tell(history.Record{Kind: history.Use, Ring: q.number, Seq: uint32(q.taken - 1)})
	}
}

// accountAccess says what memory a load, store or composite accesses.
func (r *rank) accountAccess(in *tl.Instr) {
	h := r.run.history
	rows := max(1, in.Rows)
	where := history.Range{Addr: in.Addr, Bytes: in.Bytes() / int64(rows), Rows: int32(in.Rows), Pitch: in.Pitch}
	switch in.Op {
	case tl.OpLoad:
		c := r.kernel.Cell(in.Dst)
		if in.Piece == 0 {
			c.Access = h.NextOp()
		}
		r.tell(history.Record{Kind: history.Load, Op: c.Access, Range: where})
	case tl.OpStore:
		if in.Piece == 0 {
			r.op = h.NextOp()
		}
		r.tell(history.Record{Kind: history.Store, Op: r.op, Range: where})
	case tl.OpComposite:
		c, p := r.kernel.Cell(in.Dst), in.Pipe
		c.Access = h.NextOp()
		r.tell(history.Record{Kind: history.Load, Op: c.Access, Range: history.Range{Addr: p.A.Addr, Bytes: p.A.Bytes()}})
		if p.Gemm {
			r.tell(history.Record{Kind: history.Load, Op: c.Access, Range: history.Range{Addr: p.B.Addr, Bytes: p.B.Bytes()}})
		}
		r.tell(history.Record{Kind: history.Store, Op: c.Access, Range: history.Range{Addr: p.Out.Addr, Bytes: p.Out.Bytes()}})
	}
}

// accountMemory says that an instruction has read or written memory and has waited for it.
func (r *rank) accountMemory(k history.Kind, a mem.Addr, bytes int64) {
	op := r.run.history.NextOp()
	r.tell(history.Record{Kind: k, Op: op, Range: history.Range{Addr: a, Bytes: bytes}})
	r.tell(history.Record{Kind: history.Complete, Op: op})
}

// accountSend says that the next part of a payload has its slot.
func (q *ring) accountSend(p *payload) {
	q.from.run.history.Add(history.Record{
		Kind: history.Send, Agent: q.from.agent, Op: p.op, Ring: q.number, Seq: uint32(q.head), Slots: uint32(q.cfg.Slots),
		Call: tl.OpSend.String(), Line: p.line,
	})
}

// accountRecv says that the message at the head is taken.
func (q *ring) accountRecv() {
	q.to.tell(history.Record{Kind: history.Recv, Ring: q.number, Seq: uint32(q.taken)})
}

// accountCredit says that the oldest slot is given back.
func (q *ring) accountCredit() {
	q.to.tell(history.Record{Kind: history.Credit, Ring: q.number, Seq: uint32(q.tail)})
}

// accountOneSided says what a put, get or notification does, and numbers it.
func (r *rank) accountOneSided(in *tl.Instr) (op uint64) {
	x := in.Side
	pe, bytes := x.Win.Team.PEs[x.Peer], in.Bytes()
	remote := history.Range{Addr: x.Remote, Bytes: bytes}
	local := history.Range{Addr: x.Local, Bytes: bytes}
	switch in.Op {
	case tl.OpPut:
		if in.A != tl.None {
			local = history.Range{}
		}
		op = r.run.history.NextOp()
		r.tell(history.Record{
			Kind: history.Put, Op: op, Peer: pe, Range: remote, Source: local,
			NBI: x.NBI, Atomic: x.Atomic, Float: x.Atomic && in.Type.IsFloat(),
		})
	case tl.OpGet:
		op = r.run.history.NextOp()
		r.tell(history.Record{Kind: history.Get, Op: op, Peer: pe, Range: remote, Source: local, NBI: x.NBI})
	}
	if in.Op == tl.OpNotify || in.Op == tl.OpPut && x.Signal {
		r.tell(history.Record{
			Kind: history.Notify, Op: op, Carry: in.Op == tl.OpPut, Peer: pe,
			Word: x.Win.WordAddr(int(x.Peer), x.Word), Type: x.WordType, Update: x.Op, Value: x.Value,
		})
	}
	return op
}

// accountSeen says which words a wait or test has seen satisfy it.
func (r *rank) accountSeen(x *tl.OneSided) {
	for _, w := range x.Words {
		r.accountWord(history.Wait, x, w)
	}
}

// accountWord says what a rank has seen in a word of its own.
func (r *rank) accountWord(k history.Kind, x *tl.OneSided, word int32) {
	rec := history.Record{
		Kind: k, Word: x.Win.WordAddr(int(x.Peer), word), Type: x.WordType, Seen: x.Win.Words(int(x.Peer))[word],
	}
	if k != history.Read {
		rec.Cmp, rec.Value = x.Cmp, x.Value
	}
	r.tell(rec)
}
