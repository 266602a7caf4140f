package text

import (
	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// Version is the version of the format.
const Version = 1

// File is a program: a collective, what it runs on, and the blocks of all ranks.
type File struct {
	Name string // in errors and faults

	Algorithm  string // a name for reports; an entry of ccl.yaml of that name has its settings
	Collective string
	Op         tl.ReduceOp // if the collective reduces
	Root       int         // if it has a root
	Type       dtype.Type
	Elems      int  // elements of each rank
	Results    int  // elements of the memory of each result; 0: results replace the contributions
	Idempotent bool // contributions may count more than once, as max and min permit

	World     int
	Slots     int // of each ring
	SlotBytes int64
	Scratch   int64 // bytes of scratch memory that a rank may use
	Windows   []*mem.Layout
	Groups    [][]int32   // of ranks, ascending, whose copies a switch combines or stores to
	Wiring    []tl.Wiring // by rank

	Blocks []*Block
}

// Block is a sequence of statements that several ranks perform, each with its own value of every
// column. Blocks of one rank share its memory.
type Block struct {
	Ranks   []int32
	Number  int       // among the blocks of a rank, from 0 on
	Columns [][]int32 // each has a value for each of Ranks
	Stmts   []Stmt

	line  int
	cells int // tensors that live at a time
}

// Num is a number, or a column of numbers.
type Num struct {
	N   int32
	Col int32 // 0: N; else column Col-1
}

// Op is the operation of a statement: a method of tl.Context.
type Op uint8

// The operations.
const (
	Load Op = iota
	Store
	Send    // a tensor
	SendRef // from memory
	Recv
	RecvTo
	RecvAsync
	Wait
	Binary
	Scale
	Unary
	FMA
	Clamp
	Convert
	Full
	Reduce
	Softmax
	Transpose
	Dot
	Put    // a tensor
	PutRef // from memory
	Get
	LoadReduce
	StoreMulticast
	ReduceMulticast
	Notify
	WaitUntil
	Fence
	Quiet
	PipeBarrier
	Sync
)

// Stmt is one statement.
type Stmt struct {
	Op      Op
	Sub     uint8 // Binary, Scale, Reduce: a dtype.BinaryOp; Unary: a dtype.UnaryOp; Put, LoadReduce, ReduceMulticast: a tl.ReduceOp
	Type    dtype.Type
	Dir     tl.Dir
	NBI     bool // put, get: the caller does not wait
	Atom    bool // put: combine by Sub
	Grouped bool
	Lines   tl.PacketLine // put: a packet, whose lines have the word as flag; wait: for such a flag
	ends    uint8
	said    bool // the text states type and shape
	Line    int32
	Dst     int32 // number of a tensor; None: there is no result
	In      [3]Operand
	Shape   tl.Shape // of the result, or of what is moved
	Mem     Place    // load, store, send, recv; destination of a put or get
	From    Place    // source of a put or get
	Over    [3]int32 // reduce, softmax: elements before, along and after the axis; dot: the inner extent
	Value   [2]float64
	Span    [2]int32 // wait for flags: the first line and the number of lines; 0: all
	Group   Num      // of operations of a switch, if Grouped: in File.Groups; else they are on all ranks
	Words   *Words   // of notify, wait_until, and put with a signal; window of sync

	Channels int32 // of a message; 0: none are named

	cell  int32
	cells [3]int32
}

// Numbers of tensors that are none.
const (
	None  int32 = -1
	Empty int32 = -2 // a tensor without elements
)

// Operand is elements of a tensor.
type Operand struct {
	Tensor int32
	N      int32
	From   Num
}

// Place is elements of memory.
type Place struct {
	Buffer Buffer
	Part   int16 // of a window
	Far    bool  // it is that of rank Peer; else the rank's own
	Peer   Num
	From   Num   // first element
	N      int32 // elements; of one row
	Rows   int32 // 0: one contiguous range; else the number of ranges, Pitch elements apart
	Pitch  int32
}

// Buffer is a memory that each rank has.
type Buffer int16

// The buffers. Those from Window on are windows.
const (
	NoBuffer Buffer = iota
	In              // contributions
	Out             // results, if they do not replace the contributions
	Data            // contributions and results
	Window
)

// Words are control words of a window.
type Words struct {
	Window, Part int16
	Far          bool // those of rank Peer; else the rank's own
	Peer         Num
	First        Num
	Extent       []int32 // nil: one word
	Stride       []int32
	Op           tl.SignalOp
	Cmp          tl.Cmp
	Value        int64
}

// typed is a type and shape.
type typed struct {
	typ   dtype.Type
	shape tl.Shape
}

// elems returns how many elements there are.
func (p *Place) elems() int { return int(p.N) * max(1, int(p.Rows)) }

// shape returns the shape of a load without an explicit shape.
func (p *Place) shape() tl.Shape {
	if p.Rows > 0 {
		return tl.Dims(int(p.Rows), int(p.N))
	}
	return tl.Dims(int(p.N))
}

// elemType returns the element type of a buffer's memory; Invalid: it holds control words.
func (f *File) elemType(p *Place) dtype.Type {
	if p.Buffer < Window {
		return f.Type
	}
	return f.part(p).Type
}

func (f *File) part(p *Place) *mem.Part { return &f.Windows[p.Buffer-Window].Parts[p.Part] }

// capacity returns the number of elements of a place's buffer.
func (f *File) capacity(p *Place) int {
	switch p.Buffer {
	case In, Data:
		return f.Elems
	case Out:
		return f.Results
	}
	return f.part(p).Count
}

// At returns a number for the rank with an index in the block.
func (b *Block) At(n Num, index int) int {
	if n.Col > 0 {
		return int(b.Columns[n.Col-1][index])
	}
	return int(n.N)
}

// Each calls do for the number of each control word, for the rank with an index in the block.
func (b *Block) Each(w *Words, index int, do func(i int)) {
	var walk func(dim, at int)
	walk = func(dim, at int) {
		if dim == len(w.Extent) {
			do(at)
			return
		}
		for i := range int(w.Extent[dim]) {
			walk(dim+1, at+i*int(w.Stride[dim]))
		}
	}
	walk(0, b.At(w.First, index))
}

// span returns the least and the largest value of a number.
func (b *Block) span(n Num) (lo, hi int) {
	if n.Col == 0 {
		return int(n.N), int(n.N)
	}
	c := b.Columns[n.Col-1]
	lo, hi = int(c[0]), int(c[0])
	for _, v := range c {
		lo, hi = min(lo, int(v)), max(hi, int(v))
	}
	return lo, hi
}
