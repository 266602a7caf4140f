package values

import (
	"kernbench/mem"
	"kernbench/program"
	"kernbench/record/oplog"
	"kernbench/tl"
)

// turn is a rank that takes turns with others: it runs until it needs a message that has not been
// sent.
type turn struct {
	rank    int
	record  *program.Record
	ends    []program.Uses
	at      int // in record.Ops
	addrs   program.Reader
	offs    program.Reader
	access  int
	operand int
	tensors []oplog.Operand
	rings   []queue // by port that it receives from
	waits   int     // port, or none
	origin  oplog.Origin
}

const none = -1

// queue holds the messages in flight in a ring, each with a reference.
type queue struct {
	first    int
	payloads []payload
}

type payload struct {
	oplog.Operand
	typ uint32
}

// ranks is a group whose ranks take turns.
type ranks struct {
	*group
	all   []turn
	ready []*turn // turns that can continue, in the order in which they became ready
	in    tl.Instr
}

// turns performs the operations of the ranks, each as far as possible. Queues of messages are
// unbounded, because their limits matter for time only.
func (g *group) turns() error {
	x := &ranks{group: g, all: make([]turn, len(g.blocks))}
	defer x.drop()
	ends := map[int32][]program.Uses{}
	for r := range x.all {
		b := &g.blocks[r]
		t := &x.all[r]
		*t = turn{
			rank: r, record: &g.p.Records[b.Record], addrs: program.Read(b.Places.Addrs), offs: program.Read(b.Places.Offs),
			waits: none, rings: make([]queue, len(g.g.Wiring[r].In)), origin: oplog.Origin{Rank: int32(r), PE: g.g.PEs[r]},
		}
		t.tensors = make([]oplog.Operand, t.record.Tensors)
		if ends[b.Record] == nil {
			ends[b.Record] = t.record.LastUses()
		}
		t.ends = ends[b.Record]
		x.ready = append(x.ready, t)
	}
	for done, first := 0, 0; first < len(x.ready); {
		t := x.ready[first]
		if first++; first > len(x.all) { // as many turns are behind as there are ranks
			x.ready, first = x.ready[:copy(x.ready, x.ready[first:])], 0
		}
		for t.waits = none; t.at < len(t.record.Ops) && x.do(t); t.at++ {
			if done++; done%checkEvery == 0 {
				if err := g.stopped(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// drop releases the references of tensors and queues.
func (x *ranks) drop() {
	for i := range x.all {
		t := &x.all[i]
		for k := range t.tensors {
			x.log.Release(t.tensors[k].Value)
		}
		for k := range t.rings {
			for _, p := range t.rings[k].payloads[t.rings[k].first:] {
				x.log.Release(p.Value)
			}
		}
	}
}

// do performs the current operation of a rank. It returns false if the rank waits for a message.
func (x *ranks) do(t *turn) bool {
	o := &t.record.Ops[t.at]
	switch o.Code {
	case tl.OpRecv:
		q := &t.rings[o.Port]
		if q.first == len(q.payloads) {
			t.waits = int(o.Port)
			return false
		}
		p := q.payloads[q.first]
		if q.first++; q.first == len(q.payloads) {
			q.first, q.payloads = 0, q.payloads[:0]
		}
		x.fill(t, o, x.as(t, p, o))
	case tl.OpSend:
		var p payload
		if o.Accesses() {
			p = payload{oplog.Operand{Value: x.load(t, o)}, o.TensorType}
		} else {
			p = payload{x.operand(t, o.A), o.TensorType}
			x.log.Retain(p.Value)
		}
		x.send(t, int(o.Port), p)
	case tl.OpLoad:
		if o.More == 0 {
			x.fill(t, o, oplog.Operand{Value: x.load(t, o)})
		} else {
			x.loadRows(t, o)
		}
	case tl.OpStore:
		x.store(t, o)
	case tl.OpMath, tl.OpGemm:
		x.in = x.p.Instr(o)
		a, b := x.operand(t, o.A), x.operand(t, o.B)
		var c oplog.Operand
		if o.C != tl.None {
			c = t.tensors[o.C]
		}
		x.fill(t, o, oplog.Operand{Value: x.log.MathOf(t.origin, &x.in, a, b, c)})
	}
	for k, n := range [...]int32{o.A, o.B, o.C, o.Dst} {
		if t.ends[t.at]&(program.LastA<<k) != 0 {
			x.log.Release(t.tensors[n].Value)
			t.tensors[n] = oplog.Operand{}
		}
	}
	return true
}

// send hands a payload to its receiver, which may have waited for it.
func (x *ranks) send(t *turn, port int, p payload) {
	to := &x.g.Wiring[t.rank].Out[port]
	r := &x.all[to.Peer]
	q := &r.rings[to.PeerIn]
	q.payloads = append(q.payloads, p)
	if r.waits == int(to.PeerIn) {
		r.waits = none
		x.ready = append(x.ready, r)
	}
}

// as returns a payload as elements of the receive's type, which without strict validation may
// differ from the sender's.
func (x *ranks) as(t *turn, p payload, o *program.Op) oplog.Operand {
	from, to := x.p.TensorTypes[p.typ].Type, x.p.TensorTypes[o.TensorType].Type
	if from == to || o.N == 0 {
		return p.Operand
	}
	v := x.log.Cast(t.origin, p.Value, p.Off, from, int(o.N), to)
	x.log.Release(p.Value)
	return oplog.Operand{Value: v}
}

func (x *ranks) fill(t *turn, o *program.Op, v oplog.Operand) { t.tensors[o.Dst] = v }

// operand returns a tensor from where the operand begins.
func (x *ranks) operand(t *turn, tensor int32) oplog.Operand {
	if tensor == tl.None {
		return oplog.Operand{}
	}
	v := t.tensors[tensor]
	v.Off += t.record.Offs[t.operand] + int32(t.offs.Next())
	t.operand++
	return v
}

// where returns the address of the access at hand.
func (x *ranks) where(t *turn) mem.Addr {
	a := x.slice(t.rank) + t.record.Base[t.access] + mem.Addr(t.addrs.Next())
	t.access++
	return a
}

// load loads a whole value.
func (x *ranks) load(t *turn, o *program.Op) tl.Value {
	v := x.log.NewValue()
	x.log.Load(t.origin, v, 0, int(o.N), int(o.N), x.p.TensorTypes[o.TensorType].Type, x.where(t))
	return v
}

// loadRows loads a piece of a value, or one that lies in several ranges.
func (x *ranks) loadRows(t *turn, o *program.Op) {
	f, m, at := &x.p.TensorTypes[o.TensorType], &x.p.More[o.More], x.where(t)
	if !o.Continues() {
		x.fill(t, o, oplog.Operand{Value: x.log.NewValue()})
	}
	rows := max(1, m.Rows)
	n := int(o.N) / rows
	for k := range rows {
		x.log.Load(t.origin, t.tensors[o.Dst].Value, int(m.DstOff)+k*n, n, f.Shape.Elems(), f.Type, at+mem.Addr(int64(k)*m.Pitch))
	}
}

func (x *ranks) store(t *turn, o *program.Op) {
	f, m, v, at := &x.p.TensorTypes[o.TensorType], &x.p.More[o.More], x.operand(t, o.A), x.where(t)
	rows := max(1, m.Rows)
	n := int(o.N) / rows
	for k := range rows {
		x.log.Store(t.origin, at+mem.Addr(int64(k)*m.Pitch), v.Value, v.Off+int32(k*n), n, f.Type)
	}
}
