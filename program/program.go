package program

import (
	"math"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// Program holds the operations of the ranks of one launch. Ranks with the same operations share a
// Record.
type Program struct {
	Records     []Record
	Blocks      []Block      // of all ranks, those of one rank side by side
	TensorTypes []TensorType // by Op.TensorType; number 0 stands for no tensor
	More        []More       // by Op.More; number 0 stands for nothing

	// Long reports whether records and blocks are missing, because they would exceed the memory
	// budget. All kernels have been run and can be recorded, part by part: see Parts.
	Long  bool
	Sends [][]Sends // of a long program, by rank and ring
}

// Sends summarises the payloads that a rank sends into one of its rings.
type Sends struct {
	Payloads int64
	Longest  int64 // bytes
}

// Block is a sequence of operations of one rank. Blocks of a rank share its memory.
type Block struct {
	Rank   int32   // of all groups of the launch, one after the other
	Number int32   // among the blocks of the rank
	Record int32   // in Program.Records
	Places *Places // nil unless asked for
}

// Record is the operations of a class of ranks. They issue the same operations in the same
// order, of the same lengths and types, on the same tensors and rings. Addresses, and where
// operands begin in their tensors, are each rank's own: see Places.
type Record struct {
	Ops     []Op // the last one is End
	Tensors int  // one more than the largest number of a tensor
	First   int32
	Traffic tl.Traffic // of each rank; without Rank
	Lines   []string   // source line of each operation; nil unless asked for

	// Base and Offs are the places of the recorded rank. They have an address for each operation
	// that accesses memory, and an offset for each tensor operand A and B.
	Base []mem.Addr // distance from the first byte of the rank's HBM slice
	Offs []int32    // elements
}

// End is the code of the operation after the last one of a block.
const End tl.Op = 1<<8 - 1

// Op is one operation: an instruction of tl without its addresses. Tensors are numbered as the
// kernel's Context does; a number is used again when its tensor has ended.
type Op struct {
	Code       tl.Op
	Math       tl.MathOp // of OpMath
	Sub        uint8     // OpMath: the dtype.BinaryOp or UnaryOp; OpRecv: assembled; OpLoad, OpStore: a further piece
	Port       uint8     // ring of OpSend, OpRecv and OpRecvAsync
	TensorType uint32    // type and shape
	N          int32     // elements
	Dst        int32     // tensors; tl.None where there is none, or where an operand is empty
	A          int32
	B          int32
	C          int32
	More       uint32
}

// Values of Op.Sub.
const (
	Assembled    = 1 // OpRecv: the payload is copied into scratch
	FurtherPiece = 1 // OpLoad, OpStore: not the first piece of its tensor
)

// TensorType is the element type and shape of a tensor or payload.
type TensorType struct {
	Type  dtype.Type
	Shape tl.Shape
}

// More holds the fields that only few operations have.
type More struct {
	Outer, Axis, Inner int
	Scalar, Scalar2    uint64 // bits of a float64: -0 is not 0, and NaN is NaN
	Rows               int    // of a load or store: ranges of memory, Pitch bytes apart; 0: one
	Pitch              int64  //
	Pieces             int
	DstOff, COff       int32
	Channels           int32        // of a message
	Side               *tl.OneSided // of one-sided operations
}

// Scalar returns the number that an arithmetic operation has in place of an operand.
func (p *Program) Scalar(o *Op) float64 { return math.Float64frombits(p.More[o.More].Scalar) }

// Accesses reports whether the operation loads from or stores to memory at an address of the
// rank's own: it has an entry in Base.
func (o *Op) Accesses() bool {
	switch o.Code {
	case tl.OpLoad, tl.OpStore:
		return true
	case tl.OpSend:
		return o.A == tl.None && o.N > 0
	case tl.OpRecv:
		return o.Sub == Assembled && o.Dst == tl.None
	}
	return false
}

// AllSends is, by rank, what it sends into each of its rings.
func (p *Program) AllSends(l *launch.Launch) [][]Sends {
	if p.Long {
		return p.Sends
	}
	all, known := make([][]Sends, 0, len(p.Blocks)), make([][]Sends, len(p.Records))
	for g := range l.Groups {
		for i := range l.Groups[g].NumBlocks() {
			k := p.Blocks[len(all)].Record
			if known[k] == nil {
				known[k] = p.Records[k].sends(len(l.Groups[g].Wiring[i].Out), p.TensorTypes)
			}
			all = append(all, known[k])
		}
	}
	return all
}

// Places holds the addresses of the accesses of a block and of its operands, as differences from
// the record. Each Run holds from its position on to that of the next.
type Places struct {
	Addrs []Run // positions in Record.Base, differences in bytes
	Offs  []Run // positions in Record.Offs, differences in elements
}

// Run is a difference that holds from a position on.
type Run struct {
	From  int32
	Delta int64
}

// Reader walks along the values of a block: those of its record plus its own differences.
type Reader struct {
	runs []Run
	next int32 // position at which the next run begins
	at   int32
	now  int64
}

const never = 1<<31 - 1

// Read begins at the first position.
func Read(runs []Run) Reader {
	r := Reader{runs: runs, next: never}
	if len(runs) > 0 {
		r.next = runs[0].From
	}
	return r
}

// Next returns the difference at the next position.
func (r *Reader) Next() int64 {
	if r.at == r.next {
		r.now, r.runs = r.runs[0].Delta, r.runs[1:]
		if r.next = never; len(r.runs) > 0 {
			r.next = r.runs[0].From
		}
	}
	r.at++
	return r.now
}

// writer collects differences.
type writer struct {
	runs []Run
	at   int32
	now  int64
}

func (w *writer) put(delta int64) {
	if delta != w.now {
		w.runs = append(w.runs, Run{w.at, delta})
		w.now = delta
	}
	w.at++
}
