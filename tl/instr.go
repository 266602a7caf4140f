package tl

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/unit"
)

// Op is the kind of an instruction.
type Op uint8

// The instruction set.
const (
	OpLoad      Op = iota // memory Addr -> tensor Dst (a piece of it, from DstOff)
	OpStore               // tensor A (N elements from AOff) -> memory Addr
	OpMath                // Dst = Math(A, B, C)
	OpGemm                // Dst = A × B
	OpSend                // tensor A, or memory at Addr when A is None, into ring Port
	OpRecv                // next message of ring Port (AnyPort: of any ring) -> Dst
	OpRecvAsync           // announces a receive from ring Port; nothing is taken yet
	OpComposite           // starts a tiled pipeline, described by Pipe
	OpAwait               // waits until Dst, the handle of a pipeline or task, is complete
	OpDrop                // tensor A will not be used again

	// These have a OneSided in Side, but for the last four of this group.
	OpPut             // tensor A, or memory at Side.Local when A is None -> memory at Side.Remote
	OpGet             // memory at Side.Remote -> memory at Side.Local
	OpNotify          // updates a word
	OpWaitWord        // waits until all words satisfy a comparison
	OpTestWord        // reports whether they do, in Side.Hit
	OpReadWord        // Side.Got = the word
	OpFetchAdd        // Side.Got = the word, which grows by Side.Value
	OpCompareSwap     // Side.Got = the word, which becomes Side.Value if it was Side.Expect
	OpLoadReduce      // memory at Side.Remote in the copies of all members, combined by Binary -> Dst
	OpMulticast       // tensor A (N elements from AOff) -> memory at Side.Remote in the copies of all members
	OpReduceMulticast // memory at Side.Local in the copies of all members, combined by Binary -> memory at Side.Remote there
	OpFence           // order at each destination
	OpQuiet           // completion everywhere
	OpDrain           // completion of this PE's loads, stores and arithmetic
	OpMeet            // a program of a grid comes to a rendezvous: takes no time

	OpTask      // hands Task to the communication engine of this PE; Dst is its handle
	OpBeginTurn // Turn begins: takes no time
	OpEndTurn   // Turn ends: takes no time
)

var opNames = [...]string{
	"load", "store", "math", "gemm", "send", "recv", "recv_async", "composite", "wait", "free",
	"put", "get", "notify", "wait_until", "test", "load_scalar", "fetch_add", "compare_swap", "load_reduce",
	"store_multicast", "reduce_multicast", "fence", "quiet", "pipe_barrier", "sync",
	"post", "begin_turn", "end_turn",
}

func (o Op) String() string { return opNames[o] }

// None marks an operand that an instruction does not have.
const None int32 = -1

// AnyPort is the port of a receive that takes from whichever ring has a message.
const AnyPort = -1

// MathOp is the arithmetic of an OpMath.
type MathOp uint8

// Arithmetic. The first group is elementwise on A and B; Scale-like forms take Scalar in
// place of B; the rest is described with the method of Context that emits it.
const (
	MathBinary       MathOp = iota // Binary(A, B)
	MathBinaryScalar               // Binary(A, Scalar)
	MathUnary                      // Unary(A)
	MathFMA                        // A*B + C
	MathClamp                      // A limited to [Scalar, Scalar2]
	MathReduce                     // Binary over the middle of (Outer, Axis, Inner)
	MathSoftmax                    // over the middle of (Outer, Axis, Inner)
	MathConvert                    // A as type Type
	MathFill                       // Scalar everywhere
	MathRowAdd                     // A + B, B being one row of Inner elements
	MathTranspose                  // A as Outer×Axis, turned
)

// Instr is one instruction. Fields that its Op does not use are zero (None for
// operands). The Context owns it and reuses it: a Core must not keep the pointer.
type Instr struct {
	Op     Op
	Math   MathOp
	Binary dtype.BinaryOp
	Unary  dtype.UnaryOp
	Type   dtype.Type // of Dst, or of what is stored or sent
	Copy   bool       // receive: assemble in scratch rather than lend the slot
	Port   int        // index in Wiring.Out or Wiring.In

	Channels int32 // of a send, or a put with a signal: see UseChannels

	Dst, A, B, C             int32 // cells
	DstOff, AOff, BOff, COff int32 // elements
	N                        int   // elements moved or produced
	Shape                    Shape // of Dst, or of what is stored or sent: all of it, of a transfer in pieces
	Outer, Axis, Inner       int   // reductions; gemm: m, k, n
	Scalar, Scalar2          float64
	Addr                     mem.Addr // physical
	Piece, Pieces            int      // of a load or store that spans several shards
	Rows                     int      // of a load or store of several ranges of memory; 0: one
	Pitch                    int64    // bytes from one to the next
	Pipe                     *Pipe
	Side                     *OneSided
	Task                     *Task
	Turn                     *Turn

	// Filled in by the Core for receives. Other instructions have what the last one left.
	GotPort  int
	GotShape Shape
	GotType  dtype.Type
	GotN     int
}

// Bytes returns the size of the data that the instruction moves or makes.
func (in *Instr) Bytes() int64 { return int64(in.N) * int64(in.Type.Size()) }

// Value names the contents of tensors in the data pass; 0 when there is none. Several
// cells may share one Value: contents never change once made.
type Value uint32

// Cell holds what is known of one tensor while it lives. The Core owns the exported fields.
type Cell struct {
	Ready   unit.Time // when it can be read; what Core counts while Waiting is 0
	Value   Value
	Off     int32  // first element within Value
	Waiting uint16 // pieces that have not arrived
	Slot    uint16 // ring slot that it lies in, when InSlot
	In      uint8  // ring that slot belongs to, when InSlot
	InSlot  bool
	Filled  bool // of a slot outside TCM: its bytes are in the PE; while recorded: an operation has written it

	state  cellState // up to here all is zero where there is no tensor
	used   bool      // since the reclaiming hand last passed
	pinned bool
	// reclaimed is true if the reclaiming hand ended the previous tensor of this cell, false if the
	// kernel freed it.
	reclaimed bool
	gen       uint32
	call      uint32 // instruction that last used it, as Context.calls counts
	lo, n     int64  // scratch bytes
	prev      int32  // neighbours in scratch by address; next is also the free list
	next      int32
}

type cellState uint8

const (
	cellFree cellState = iota
	cellScratch
	cellSlot
	cellHandle // of a pipeline or task
)

// Gen distinguishes uses of one cell: it changes whenever the cell gets a new tensor.
func (c *Cell) Gen() uint32 { return c.gen }

// Core carries out the instructions of one rank. Do returns when the call may return to
// the kernel; a fault stops the kernel by Context.Fail. A Core that is asked to give up
// (deadlock, cancellation) stops it by Context.Abandon.
type Core interface {
	Do(in *Instr)
}
