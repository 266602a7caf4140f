package sim

import (
	"kernbench/mem"
	"kernbench/oplog"
	"kernbench/tl"
	"kernbench/trace"
	"kernbench/unit"
)

// This file is what following leaves in the log and in the trace.

// by is who does the op at hand.
func (f *follower) by(at unit.Time) oplog.By { return oplog.By{Who: f.detail[f.at].who, Time: at} }

func (d *detail) bytes() int64 { return int64(d.n) * int64(d.typ.Size()) }

// release drops a tensor's value.
func (w *follow) release(v *token) {
	w.log.Release(v.value)
	v.value = 0
}

// loaded: a load is complete.
func (w *follow) loaded(f *follower, done unit.Time) {
	if w.log != nil {
		d, v := &f.detail[f.at], &f.values[f.ops[f.at].dst]
		if d.whole == 0 {
			*v = token{value: w.log.LoadBy(f.by(done), d.n, d.typ, d.addr)}
		} else {
			in := &f.whole[d.whole]
			if in.Piece == 0 {
				*v = token{value: w.log.NewValue()}
			}
			o := w.log.Origin(f.by(done))
			eachRow(in, in.DstOff, func(off, n int32, a mem.Addr) { w.log.Load(o, v.value, int(off), int(n), in.Shape.Elems(), in.Type, a) })
		}
	}
	w.span(f, trace.Load, f.clock, done)
}

// stored: a store is complete.
func (w *follow) stored(f *follower, o *op, done unit.Time) {
	if w.log != nil {
		d, v, by := &f.detail[f.at], w.valueOf(f, o.a), f.by(done)
		if d.whole == 0 {
			w.log.StoreBy(by, d.addr, v.Value, v.Off+d.aOff, d.n, d.typ)
		} else {
			in := &f.whole[d.whole]
			eachRow(in, v.Off+in.AOff, func(off, n int32, a mem.Addr) { w.log.StoreBy(by, a, v.Value, off, n, in.Type) })
		}
	}
	w.span(f, trace.Store, f.clock, done)
}

// computed: an engine works from start to end.
func (w *follow) computed(f *follower, o *op, start, end unit.Time, k trace.Kind) {
	if w.log != nil {
		d, by, a, b := &f.detail[f.at], f.by(f.clock), w.valueOf(f, o.a), w.valueOf(f, o.b)
		var v tl.Value
		if d.whole == 0 {
			v = w.log.BinaryBy(by, d.by, d.typ, d.n, a.Value, a.Off+d.aOff, b.Value, b.Off+d.bOff)
		} else {
			v = w.log.MathOf(w.log.Origin(by), &f.whole[d.whole], a, b, w.valueOf(f, o.c))
		}
		f.values[o.dst] = token{value: v}
	}
	w.span(f, k, start, end)
}

// valueOf is the contents of a tensor.
func (w *follow) valueOf(f *follower, cell int32) oplog.Operand {
	if cell == tl.None {
		return oplog.Operand{}
	}
	return oplog.Operand{Value: f.values[cell].value, Off: f.values[cell].off}
}

func (w *follow) span(f *follower, k trace.Kind, start, end unit.Time) {
	if w.e.opts.Trace != nil {
		w.emit(f, trace.Event{Kind: k, Peer: -1, Start: start, End: end, Bytes: f.detail[f.at].bytes()})
	}
}

// stagedAt: the source of a send from memory is in the PE.
func (w *follow) stagedAt(f *follower, done unit.Time) {
	d := &f.detail[f.at]
	f.staged = w.log.LoadBy(f.by(done), d.n, d.typ, d.addr)
}

// sourceValue gives what is sent its contents, and each of its tokens a reference to them.
func (w *follow) sourceValue(f *follower, o *op, t *token) {
	more := w.forms[o.form].parts
	if o.kind == opSendRef {
		t.value = f.staged
		more--
	} else {
		v := w.valueOf(f, o.a)
		t.value, t.off = v.Value, v.Off+f.detail[f.at].aOff
	}
	for range more {
		w.log.Retain(t.value)
	}
}

// assembled: a part of a payload has been copied. All parts are of one value, which the result
// shares.
func (w *follow) assembled(f *follower, o *op, t token, part int32) {
	if part > 0 {
		w.log.Release(t.value)
	} else {
		f.values[o.dst] = t
	}
	if part+1 == w.forms[t.form].parts {
		f.values[o.dst] = w.as(f, f.values[o.dst], o.form)
	}
}

// as is what a payload holds as elements of the type of a form, which without strict validation
// may be another than was sent.
func (w *follow) as(f *follower, t token, id uint32) token {
	from, to := &w.forms[t.form], &w.forms[id]
	if from.typ == to.typ || from.n == 0 {
		return t
	}
	v := w.log.Cast(w.log.Origin(f.by(f.clock)), t.value, t.off, from.typ, int(to.n), to.typ)
	w.log.Release(t.value)
	return token{value: v}
}

// received: a payload has been taken whole.
func (w *follow) received(f *follower, o *op, r *ring) {
	seq := r.taken - uint32(max(1, f.part))
	in := &w.launch.Groups[f.group].Wiring[f.index].In[o.port]
	w.emit(f, trace.Event{
		Kind: trace.Recv, Peer: w.ranks[r.from].pe, Dir: uint8(in.Dir), Start: f.from, End: f.clock,
		Bytes: f.detail[f.at].bytes(), Seq: int64(seq), Stalled: f.waited - w.e.spec.Recv - f.from,
	})
}

// eachRow calls g with the elements of each stretch of memory of a load or store, of which off is
// the first.
func eachRow(in *tl.Instr, off int32, g func(off, n int32, a mem.Addr)) {
	t := transfer{addr: in.Addr, off: off, n: int32(in.N), rows: int32(in.Rows), pitch: in.Pitch}
	t.eachRow(g)
}
