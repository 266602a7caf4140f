package replay

import (
	"kernbench/program"
	"kernbench/tl"
	"kernbench/unit"
)

// step is an operation of a program with the values that determine its time.
type step struct {
	kind    stepKind
	port    uint8
	unit    uint8 // of stepCompute: of the PE
	more    bool  // stepRecv: the payload is assembled
	payload uint32
	dst     int32
	a       int32 // tensors, or tl.None
	b       int32
	c       int32
	time    unit.Time // that the port of the memory or the engine is busy
}

type stepKind uint8

const (
	stepLoad stepKind = iota
	stepStore
	stepCompute
	stepSend
	stepSendRef // from memory
	stepRecv
	stepPost // costs its issue only
	stepMore // the steps that follow are not known yet
	stepEnd
)

// common holds what the steps of all ranks have in common.
type common struct {
	payloads    []payload
	firstOfSize map[size]uint32      // first type of a size
	types       []program.TensorType // of payloads
	more        []program.More
	instr       tl.Instr // instruction whose unit is looked up
}

// payload holds the properties of payloads of one type and shape.
type payload struct {
	n     int32 // elements
	size  int32 // bytes of an element
	parts int32 // slot messages
	wire  [2]int64
	bytes [2]int64     // of a part; of the last one
	tcm   [2]unit.Time // to copy them within TCM
	late  [2]unit.Time // delays of a part, by channel
	same  uint32       // the first type with as many elements of the same size
}

// last is 1 for the last part of a payload, 0 for others.
func (f *payload) last(part int32) int {
	if part+1 == f.parts {
		return 1
	}
	return 0
}

// size holds what a receive without strict validation compares.
type size struct{ n, bytes int32 }

// lowerTypes finds the sizes and times of payloads of new types.
func (x *Replay) lowerTypes(types []program.TensorType) {
	ring, spec := &x.in.Launch.Ring, x.in.Spec
	x.types = types
	for i := len(x.payloads); i < len(types); i++ {
		x.payloads = append(x.payloads, payload{})
		f, of := &types[i], &x.payloads[i]
		if !f.Type.Valid() {
			continue
		}
		n, bytes := f.Shape.Elems(), f.Type.Size()
		per := ring.SlotElems(f.Type)
		of.n, of.size, of.parts = int32(n), int32(bytes), int32(ring.Parts(n, f.Type))
		of.bytes = [2]int64{int64(per * bytes), int64(n-per*(int(of.parts)-1)) * int64(bytes)}
		for k, b := range of.bytes {
			of.wire[k], of.tcm[k], of.late[k] = ring.Protocol.Wire(b), spec.TCM.Time(b), ring.Protocol.Copied(b)
		}
		key := size{of.n, of.size}
		if _, ok := x.firstOfSize[key]; !ok {
			x.firstOfSize[key] = uint32(i)
		}
		of.same = x.firstOfSize[key]
	}
}

// lowered is a record as steps.
type lowered struct {
	steps   []step
	tensors int // at a time
}

func (x *Replay) lowerRecords() []lowered {
	all := make([]lowered, len(x.in.Program.Records))
	for i := range all {
		k := &x.in.Program.Records[i]
		steps := make([]step, len(k.Ops))
		tensors := k.Renumber(func(j int, dst, a, b, c int32) {
			steps[j] = x.lower(&k.Ops[j])
			steps[j].dst, steps[j].a, steps[j].b, steps[j].c = dst, a, b, c
		})
		all[i] = lowered{steps, tensors}
	}
	return all
}

// lower makes a step of an operation, without its tensors.
func (x *Replay) lower(o *program.Op) step {
	s := step{port: o.Port, payload: o.TensorType}
	switch o.Code {
	case tl.OpLoad:
		s.kind, s.time = stepLoad, x.accessTime(x.bytes(o))
	case tl.OpStore:
		s.kind, s.time = stepStore, x.accessTime(x.bytes(o))
	case tl.OpMath, tl.OpGemm:
		s.kind = stepCompute
		s.unit, s.time = x.work(o)
	case tl.OpSend:
		if s.kind = stepSend; o.Accesses() {
			s.kind, s.time = stepSendRef, x.accessTime(x.bytes(o))
		}
	case tl.OpRecv:
		s.kind, s.more = stepRecv, o.Sub == program.Assembled
	case tl.OpRecvAsync:
		s.kind = stepPost
	case program.End:
		s.kind = stepEnd
	default:
		panic("replay: an operation that is not of rings and own memory: " + o.Code.String())
	}
	return s
}

// bytes returns the bytes that an operation moves.
func (x *Replay) bytes(o *program.Op) int64 { return int64(o.N) * int64(x.payloads[o.TensorType].size) }

// work returns the unit of the PE that performs an arithmetic operation, and its time.
func (x *Replay) work(o *program.Op) (n uint8, takes unit.Time) {
	in, m := &x.instr, &x.more[o.More]
	in.Op, in.Math, in.N, in.Outer, in.Axis, in.Inner = o.Code, o.Math, int(o.N), m.Outer, m.Axis, m.Inner
	in.Type, in.Shape = x.types[o.TensorType].Type, x.types[o.TensorType].Shape
	u, takes := x.in.Spec.Unit(in)
	return uint8(u), takes
}

// accessTime returns the time of an HBM slice's port for n bytes, message by message.
func (x *Replay) accessTime(bytes int64) unit.Time {
	serial, most := &x.in.HBM.Serial, int64(x.in.Message)
	if bytes <= most || x.in.Ideal {
		return serial.Time(bytes)
	}
	return serial.Time(bytes%most) + unit.Time(bytes/most)*serial.Time(most)
}

// noSteps are those of a rank of which none is known yet.
var noSteps = []step{{kind: stepMore}}

// record gets the next part of a long program.
func (x *Replay) record(f *rank) {
	ops, err := x.in.Parts.Next(int(f.id))
	if err != nil {
		x.irregular = true
		return
	}
	x.lowerTypes(x.in.Parts.TensorTypes())
	x.more = x.in.Parts.More()
	if cap(f.steps) > 2*len(ops)+2 || cap(f.steps) < len(ops)+1 { // there are many ranks
		f.steps = make([]step, 0, len(ops)+1)
	}
	f.at, f.steps = 0, f.steps[:0]
	for i := range ops {
		o := &ops[i]
		s := x.lower(o)
		s.dst, s.a, s.b, s.c = o.Dst, o.A, o.B, o.C
		f.steps = append(f.steps, s)
		for most := max(o.Dst, o.A, o.B, o.C); int(most) >= len(f.tensors); {
			f.tensors = append(f.tensors, tensor{slot: none})
		}
	}
	if ops[len(ops)-1].Code != program.End {
		f.steps = append(f.steps, step{kind: stepMore})
	}
	if x.traced {
		n := &x.notes[f.id]
		n.ops = append(n.ops[:0], ops...)
	}
}
