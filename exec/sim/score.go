package sim

import (
	"kernbench/dtype"
	"kernbench/oplog"
	"kernbench/tl"
)

// beat is an instruction that all ranks of a group issue, as far as data goes.
type beat struct {
	kind       beatKind
	typ        dtype.Type
	by         dtype.BinaryOp
	port       uint8
	n          int32
	dst, a, b  int32 // cells, or tl.None
	aOff, bOff int32
	factor     float64
}

type beatKind uint8

const (
	beatLoad beatKind = iota
	beatStore
	beatBinary
	beatScale
	beatSend
	beatSendRef // from memory
	beatRecv
	beatPost  // of a receive that is announced: nothing
	beatDrop  // of the tensor in cell a
	beatOther // what there is none for
)

// accesses tells whether each rank has an address for it.
func (b *beat) accesses() bool {
	return b.kind == beatLoad || b.kind == beatStore || b.kind == beatSendRef
}

// score is what all ranks of a group do, as one of them has it.
type score struct {
	beats  []beat
	lines  []*beat      // those that are no drops
	script tl.Script    // of these
	from   []*oplog.Way // by ring that is received from: whose messages each rank gets
	feeds  []uint8      // by such a ring: the ring that they are sent into
}

// longestScore is the most beats that are kept.
const longestScore = 1 << 22

// writer is the Core of the rank that a score is of.
type writer struct {
	score
	ctx   *tl.Context
	known []uint32   // generation of the cell's tensor that a beat fills, by cell
	sent  [][]parcel // by ring
	taken []int      // of those sent, by ring that is received from
	other bool       // there is something that this is not for
}

// parcel is what a message holds.
type parcel struct {
	typ   dtype.Type
	shape tl.Shape
}

// write finds the score of a group. There is none where ranks do what is not carried out in
// unison, or what has no end.
func (e *Executor) write(l *tl.Launch, g *tl.Group) (score, bool) {
	w := &writer{}
	if !w.wired(g.Wiring) {
		return w.score, false
	}
	w.ctx = tl.NewContext(e.setup(l, g, 0, w))
	abandoned, err := w.ctx.Run(l.Kernel, g.Args)
	for n := len(w.beats); n > 0 && w.beats[n-1].kind == beatDrop; n-- {
		w.beats = w.beats[:n-1] // a kernel ends with what it does last
	}
	for i := range w.beats {
		if w.beats[i].kind != beatDrop {
			w.lines = append(w.lines, &w.beats[i])
		}
	}
	return w.score, err == nil && !abandoned && !w.other
}

// setup is what a kernel is run with whose data is carried out in unison.
func (e *Executor) setup(l *tl.Launch, g *tl.Group, rank int, core tl.Core) tl.Setup {
	return tl.Setup{
		Core: core, Rank: rank, World: len(g.PEs), PE: int(g.PEs[rank]), PEsPerCube: g.PEsPerCube, Wiring: &g.Wiring[rank],
		Ring: &l.Ring, Addrs: l.Addrs, Scratch: l.Scratch, Local: true, Sends: l.Sends,
		PEName: func() string { return e.m.PEName(int(g.PEs[rank])) },
	}
}

// wired tells whether rings of a number lead from and to rings of a number, on all ranks.
func (w *writer) wired(all []tl.Wiring) bool {
	w.sent, w.taken = make([][]parcel, len(all[0].Out)), make([]int, len(all[0].In))
	for i, in := range all[0].In {
		from := make([]int32, len(all))
		for r := range all {
			if len(all[r].In) != len(all[0].In) || len(all[r].Out) != len(all[0].Out) || all[r].In[i].PeerOut != in.PeerOut {
				return false
			}
			from[r] = all[r].In[i].Peer
		}
		w.from, w.feeds = append(w.from, oplog.NewWay(from)), append(w.feeds, in.PeerOut)
	}
	return true
}

// Do writes an instruction down.
func (w *writer) Do(in *tl.Instr) {
	b := beatOf(in)
	switch b.kind {
	case beatLoad:
		w.other = w.other || in.Rows != 0 || in.N != in.Shape.Elems()
	case beatStore:
		w.other = w.other || in.Rows != 0 || w.empty(in.A)
	case beatBinary:
		w.other = w.other || in.N > 0 && (w.empty(in.A) || w.empty(in.B))
	case beatScale:
		w.other = w.other || in.N > 0 && w.empty(in.A)
	case beatSend, beatSendRef:
		w.other = w.other || b.kind == beatSend && in.N > 0 && w.empty(in.A)
		w.sent[in.Port] = append(w.sent[in.Port], parcel{in.Type, in.Shape})
	case beatRecv:
		i, sent := &w.taken[in.Port], w.sent[w.feeds[in.Port]]
		// Nobody has sent it by then, or something else?
		w.other = w.other || *i >= len(sent) || sent[*i] != parcel{in.Type, in.Shape}
		*i++
		got(in)
	case beatOther:
		w.other = true
	}
	w.fills(in.Dst)
	w.beats = append(w.beats, b)
	if b.kind != beatDrop {
		w.script.Write(w.ctx, in)
	}
	if w.other = w.other || len(w.beats) > longestScore; w.other && b.kind != beatDrop {
		w.ctx.Abandon()
	}
}

// got says that a receive gets what it names.
func got(in *tl.Instr) {
	in.GotPort, in.GotShape, in.GotType, in.GotN = in.Port, in.Shape, in.Type, in.N
}

// beatOf is an instruction, with operands as it names them.
func beatOf(in *tl.Instr) beat {
	return beat{
		kind: kindOf(in), typ: in.Type, by: in.Binary, port: uint8(in.Port), n: int32(in.N),
		dst: in.Dst, a: in.A, b: in.B, aOff: in.AOff, bOff: in.BOff, factor: in.Scalar,
	}
}

// is tells whether an instruction is the beat of another rank, but for where.
func (b *beat) is(in *tl.Instr) bool {
	return b.kind == kindOf(in) && b.n == int32(in.N) && b.typ == in.Type && b.by == in.Binary && b.port == uint8(in.Port) &&
		b.dst == in.Dst && b.a == in.A && b.b == in.B && (b.kind != beatScale || b.factor == in.Scalar)
}

func kindOf(in *tl.Instr) beatKind {
	switch in.Op {
	case tl.OpLoad:
		return beatLoad
	case tl.OpStore:
		return beatStore
	case tl.OpMath:
		switch {
		case in.Math == tl.MathBinary && in.Axis == 1 && in.Inner == 1:
			return beatBinary
		case in.Math == tl.MathBinaryScalar && oplog.Shrinks(in.Binary, in.Scalar):
			return beatScale
		}
	case tl.OpSend:
		if in.A == tl.None && in.N > 0 {
			return beatSendRef
		}
		return beatSend
	case tl.OpRecv:
		return beatRecv
	case tl.OpPost:
		return beatPost
	case tl.OpDrop:
		return beatDrop
	}
	return beatOther
}

// fills notes that an instruction makes the tensor of a cell, and has the core told of its end.
func (w *writer) fills(i int32) {
	if i == tl.None {
		return
	}
	for int(i) >= len(w.known) {
		w.known = append(w.known, 0)
	}
	c := w.ctx.Cell(i)
	w.known[i], c.Value = c.Gen(), 1
}

// empty tells whether nothing has filled the tensor of a cell.
func (w *writer) empty(i int32) bool {
	return i == tl.None || int(i) >= len(w.known) || w.known[i] != w.ctx.Cell(i).Gen()
}
