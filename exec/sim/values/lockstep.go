package values

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/program"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// lockstepFrom is the number of ranks from which on lockstep pays.
const lockstepFrom = 8

// uniform reports whether all ranks of the group share a record that can run in lockstep. Then
// oplog.Lockstep supports its operations, and ring i leads to a ring of the same number on all
// ranks. Each message is sent before it is received.
func (g *group) uniform() bool {
	if len(g.blocks) < lockstepFrom {
		return false
	}
	for i := range g.blocks {
		if g.blocks[i].Record != g.blocks[0].Record {
			return false
		}
	}
	feeds, ok := g.feeds()
	if !ok {
		return false
	}
	sent, taken := map[uint8][]uint32{}, map[uint8]int{} // types of tensors, by ring
	k := &g.p.Records[g.blocks[0].Record]
	for i := range k.Ops {
		o := &k.Ops[i]
		empty := func(t int32) bool { return t == tl.None && o.N > 0 }
		switch o.Code {
		case tl.OpLoad:
			ok = o.More == 0
		case tl.OpStore:
			ok = o.More == 0 && !empty(o.A)
		case tl.OpMath:
			switch {
			case o.More == 0:
				ok = !empty(o.A) && !empty(o.B)
			case o.Math == tl.MathBinaryScalar:
				ok = oplog.Shrinks(dtype.BinaryOp(o.Sub), g.p.Scalar(o)) && !empty(o.A)
			default:
				ok = false
			}
		case tl.OpSend:
			sent[o.Port] = append(sent[o.Port], o.TensorType)
		case tl.OpRecv:
			from, n := feeds[o.Port], taken[o.Port]
			ok = n < len(sent[from]) && sent[from][n] == o.TensorType
			taken[o.Port]++
		case tl.OpRecvAsync, program.End:
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
	return true
}

// feeds returns the sender's ring for each ring that ranks receive from; ok is false if that
// differs between ranks.
func (g *group) feeds() (feeds []uint8, ok bool) {
	all := g.g.Wiring
	for i, in := range all[0].In {
		for r := range all {
			if len(all[r].In) != len(all[0].In) || all[r].In[i].PeerOut != in.PeerOut {
				return nil, false
			}
		}
		feeds = append(feeds, in.PeerOut)
	}
	return feeds, true
}

// vectors is the state of a group in lockstep: each tensor holds a vector of every rank.
type vectors struct {
	*group
	u       *oplog.Lockstep
	record  *program.Record
	addrs   []program.Reader // by rank
	offs    []program.Reader // nil if operands begin in the same place on all ranks
	at      []mem.Addr       // of the access at hand, by rank
	from    []int32          // where an operand begins, by rank
	access  int              // in Record.Base
	operand int              // in Record.Offs
	tensors []oplog.Vector
	sent    [][]oplog.Vector // messages in flight, by ring
	senders []*oplog.Senders // by ring that ranks receive from
	feeds   []uint8
}

// lockstep carries out the operations of all ranks, one at a time.
func (g *group) lockstep() error {
	u := g.log.Lockstep(g.g.PEs)
	if u == nil {
		return g.turns()
	}
	n := len(g.blocks)
	v := &vectors{
		group: g, u: u, record: &g.p.Records[g.blocks[0].Record],
		addrs: make([]program.Reader, n), at: make([]mem.Addr, n), from: make([]int32, n),
	}
	v.feeds, _ = g.feeds()
	v.tensors = make([]oplog.Vector, v.record.Tensors)
	v.sent = make([][]oplog.Vector, 1<<8)
	for i := range g.g.Wiring[0].In {
		from := make([]int32, n)
		for r := range from {
			from[r] = g.g.Wiring[r].In[i].Peer
		}
		v.senders = append(v.senders, oplog.NewSenders(from))
	}
	offs := make([]program.Reader, n)
	for r := range g.blocks {
		b := &g.blocks[r]
		v.addrs[r], offs[r] = program.Read(b.Places.Addrs), program.Read(b.Places.Offs)
		if len(b.Places.Offs) > 0 {
			v.offs = offs
		}
	}
	ends := v.record.LastUses()
	for i := range v.record.Ops {
		if i%checkEvery == checkEvery-1 {
			if err := g.stopped(); err != nil {
				return err
			}
		}
		o := &v.record.Ops[i]
		v.do(o)
		if u.Failed() {
			return u.Fault()
		}
		v.end(o, ends[i])
	}
	return nil
}

// do carries out an operation.
func (v *vectors) do(o *program.Op) {
	f, u := &v.p.TensorTypes[o.TensorType], v.u
	n := int(o.N)
	switch o.Code {
	case tl.OpLoad:
		v.fill(o, u.Load(v.where(), f.Type, n))
	case tl.OpStore:
		a := v.read(o.A, f.Type, o.N)
		u.Store(v.where(), f.Type, a, n)
		u.Release(a)
	case tl.OpMath:
		a := v.read(o.A, f.Type, o.N)
		if o.More == 0 {
			b := v.read(o.B, f.Type, o.N)
			v.fill(o, u.Binary(dtype.BinaryOp(o.Sub), f.Type, o.N, a, b))
			u.Release(b)
		} else {
			v.fill(o, u.Scale(dtype.BinaryOp(o.Sub), f.Type, o.N, a, v.p.Scalar(o)))
		}
		u.Release(a)
	case tl.OpSend:
		if o.Accesses() {
			v.sent[o.Port] = append(v.sent[o.Port], u.Load(v.where(), f.Type, n))
		} else {
			v.sent[o.Port] = append(v.sent[o.Port], v.read(o.A, f.Type, o.N))
		}
	case tl.OpRecv:
		q := &v.sent[v.feeds[o.Port]]
		came := (*q)[0]
		*q = (*q)[:copy(*q, (*q)[1:])]
		v.fill(o, u.Came(came, v.senders[o.Port]))
	}
}

// fill gives a tensor its contents.
func (v *vectors) fill(o *program.Op, c oplog.Vector) { v.tensors[o.Dst] = c }

// end drops the tensors that no later operation reads.
func (v *vectors) end(o *program.Op, ends program.Uses) {
	for k, t := range [...]int32{o.A, o.B, o.C, o.Dst} {
		if ends&(program.LastA<<k) != 0 {
			v.u.Release(v.tensors[t])
			v.tensors[t] = oplog.Vector{}
		}
	}
}

// read returns n elements of a tensor, from the start of the operand on each rank.
func (v *vectors) read(tensor int32, t dtype.Type, n int32) oplog.Vector {
	if tensor == tl.None {
		return oplog.Vector{}
	}
	off := v.record.Offs[v.operand]
	v.operand++
	same := true
	if v.offs != nil {
		for r := range v.offs {
			v.from[r] = off + int32(v.offs[r].Next())
			same = same && v.from[r] == v.from[0]
		}
		off = v.from[0]
	}
	switch {
	case n == 0:
		return oplog.Vector{}
	case same:
		return v.tensors[tensor].From(off)
	}
	return v.u.Cut(v.tensors[tensor], v.from, t, n)
}

// where returns the addresses of all ranks in the current access.
func (v *vectors) where() []mem.Addr {
	base := v.record.Base[v.access]
	v.access++
	for r := range v.at {
		v.at[r] = v.slice(r) + base + mem.Addr(v.addrs[r].Next())
	}
	return v.at
}
