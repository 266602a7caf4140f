package launch

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/watch"
	"kernbench/unit"
)

// Batch is the pending work of the streams of some devices. The streams run in parallel until all
// are empty. Each performs its operations in order.
type Batch struct {
	Streams []Stream
	Addrs   *mem.Map
	Scratch unit.Bytes // per program
	Engine  *Engine    // communication engines of the PEs; nil: there are none to post tasks to

	// Poll, PollEvery and WakeCost are the costs of waiting for a word, as in tl.Ring. Protocol is
	// that of messages to windows.
	Poll      bool
	PollEvery unit.Time
	WakeCost  unit.Time
	Protocol  tl.Protocol

	Watch *watch.Watch // observer of its kernels; may be nil
}

// Engine describes the communication engine of each PE: one more core, which performs tasks in
// parallel to the programs that post them.
type Engine struct {
	Scratch unit.Bytes // of each task
}

// Stream is a queue of operations of one device, which is a PE.
type Stream struct {
	ID   int   // in the run
	PE   int32 // the device
	Rank int   // of the device
	Ops  []StreamOp
}

// Name returns the name of a stream in reports.
func (s *Stream) Name() string { return fmt.Sprintf("stream %d", s.ID) }

// ProgramName returns the name of a program of a launch on the stream, for reports.
func (s *Stream) ProgramName(l *GridLaunch, program int) string {
	return fmt.Sprintf("program %d of %d of %s on stream %d", program, l.Grid, l.Name, s.ID)
}

// StreamKind is the kind of a stream's operation.
type StreamKind uint8

// The operations.
const (
	StreamCopy   StreamKind = iota // the copy engine: uses links and memories, but no PE
	StreamLaunch                   // a kernel, as a grid of programs
	StreamRecord                   // Event has happened
	StreamAwait                    // waits until Event has happened
	StreamWait                     // waits until a word satisfies Cmp with Value
	StreamWrite                    // writes Value to a word
)

var streamNames = [...]string{"copy", "launch", "record", "wait_event", "wait_value", "write_value"}

func (k StreamKind) String() string {
	if int(k) < len(streamNames) {
		return streamNames[k]
	}
	return fmt.Sprintf("StreamKind(%d)", uint8(k))
}

// StreamOp is one operation of a stream.
type StreamOp struct {
	Kind StreamKind
	Line string // of the host program

	// Copy: Rows rows of Bytes each; addresses are physical.
	Dst, Src           mem.Addr
	Bytes              int64
	Rows               int
	DstPitch, SrcPitch int64
	Type               dtype.Type

	Launch *GridLaunch
	Event  *Event

	// Wait, write: a word in the copy of member Peer.
	Win      *mem.Window
	Peer     int
	Word     int32
	Cmp      tl.Cmp
	Value    int64
	HostName string // of the host's call, for reports
}

// Side returns the word of a wait or write as an instruction has it.
func (op *StreamOp) Side() tl.OneSided {
	return tl.OneSided{
		Win: op.Win, Peer: int32(op.Peer), Word: op.Word, Words: []int32{op.Word}, WordType: op.Win.PartOfWord(op.Word).Word,
		Op: tl.SignalSet, Cmp: op.Cmp, Value: op.Value,
	}
}

// CheckWord checks the word of a wait or write when its turn has come.
func (op *StreamOp) CheckWord(p fault.Place) error {
	w := op.Win
	switch {
	case w.Released:
		return &fault.Released{Place: p, Window: w.Name}
	case op.Peer < 0 || op.Peer >= w.Team.Size():
		return &fault.NotMember{Place: p, Team: w.Team.Name, Size: w.Team.Size(), Peer: op.Peer, ByRank: true}
	case w.PartOfWord(op.Word) == nil:
		return &fault.OutOfBounds{
			Place: p, Window: w.Name, Buffer: "words", Unit: "word",
			From: int64(op.Word), To: int64(op.Word) + 1, Size: int64(w.Layout.Words),
		}
	}
	return nil
}

// Traffic counts the accesses of a copy to the memory of PEs other than the stream's own.
func (op *StreamOp) Traffic(pe int32) tl.Traffic {
	var t tl.Traffic
	if op.Kind != StreamCopy {
		return t
	}
	bytes := op.Bytes * int64(op.Rows)
	if op.Src.Unit() != int(pe) {
		t.Read = bytes
	}
	if op.Dst.Unit() != int(pe) {
		t.Written = bytes
	}
	return t
}

// Traffic counts the accesses of the devices of a batch, by rank: their copies, and those of the
// programs of stream i, which programs returns.
func (b *Batch) Traffic(programs func(i int) tl.Traffic) []tl.Traffic {
	var all []tl.Traffic
	for i := range b.Streams {
		s := &b.Streams[i]
		k, found := slices.BinarySearchFunc(all, s.Rank, func(t tl.Traffic, rank int) int { return t.Rank - rank })
		if !found {
			all = slices.Insert(all, k, tl.Traffic{Rank: s.Rank})
		}
		all[k].Add(programs(i))
		for j := range s.Ops {
			all[k].Add(s.Ops[j].Traffic(s.PE))
		}
	}
	return all
}

// GridLaunch is a kernel to run on a device: Grid programs, of which Resident at most are on
// the device at the same time. A program that has started stays until it ends.
type GridLaunch struct {
	Name        string
	Kernel      tl.Kernel
	Args        tl.Args
	Rank, World int // results of tl.Context.Rank and WorldSize
	Grid        int
	Resident    int
	Cores       []tl.CoreType // by program; nil: of any type
	Gang        *Gang         // starts with all its members, or not at all; nil: alone
}

// CoreType returns the type of the core that runs a program.
func (l *GridLaunch) CoreType(program int) tl.CoreType {
	if l.Cores == nil {
		return tl.CoreAny
	}
	return l.Cores[program]
}

// Gang is a group of launches on several streams that start at the same time, when the last stream
// has reached its launch.
type Gang struct{ Members int }

// Waits describes the wait of a launch for its group, for reports.
func (g *Gang) Waits(arrived int) string {
	return fmt.Sprintf("the other launches of its group: %d of %d have arrived", arrived, g.Members)
}

// Event marks a place in a stream. It happens once.
type Event struct {
	Name     string
	Happened bool // set by executors
}

// Validate returns an error if no executor can run the batch.
func (b *Batch) Validate() error {
	gangs := map[*Gang]int{}
	recorded := map[*Event]bool{}
	for i := range b.Streams {
		s := &b.Streams[i]
		for k := range s.Ops {
			op := &s.Ops[k]
			if err := op.validate(); err != nil {
				return fmt.Errorf("stream %d of rank %d, operation %d (%v): %w", s.ID, s.Rank, k, op.Kind, err)
			}
			switch {
			case op.Kind == StreamLaunch && op.Launch.Gang != nil:
				gangs[op.Launch.Gang]++
			case op.Kind == StreamRecord && (op.Event.Happened || recorded[op.Event]):
				return fmt.Errorf("stream %d of rank %d, operation %d: event %q is recorded again: it happens once",
					s.ID, s.Rank, k, op.Event.Name)
			case op.Kind == StreamRecord:
				recorded[op.Event] = true
			}
		}
	}
	for g, n := range gangs {
		if n != g.Members {
			return fmt.Errorf("found %d launches of a group of %d members, want one for each", n, g.Members)
		}
	}
	return nil
}

func (op *StreamOp) validate() error {
	switch op.Kind {
	case StreamCopy:
		return op.validateCopy()
	case StreamLaunch:
		l := op.Launch
		switch {
		case l == nil || l.Kernel == nil:
			return errors.New("no kernel")
		case l.Grid < 1 || l.Resident < 1 || l.Grid > math.MaxInt32:
			return fmt.Errorf("a grid of %d programs, %d resident: both must be at least 1, and programs at most %d",
				l.Grid, l.Resident, math.MaxInt32)
		case l.Cores != nil && len(l.Cores) != l.Grid:
			return fmt.Errorf("found types of cores for %d programs, want them for %d", len(l.Cores), l.Grid)
		}
	case StreamRecord, StreamAwait:
		if op.Event == nil {
			return errors.New("no event")
		}
	case StreamWait, StreamWrite:
		switch {
		case op.Win == nil:
			return errors.New("no word")
		case op.Cmp > tl.LE:
			return fmt.Errorf("%v: want one of EQ, NE, GT, GE, LT, LE", op.Cmp)
		}
		if p := op.Win.PartOfWord(op.Word); p != nil && p.Word.Wrap(op.Value) != op.Value {
			return fmt.Errorf("%d does not fit in %v", op.Value, p)
		}
	default:
		return errors.New("there is no such operation")
	}
	return nil
}

// validateCopy checks that the rows of a copy are whole elements, do not overlap, and fit in a
// memory.
func (op *StreamOp) validateCopy() error {
	size := int64(op.Type.Size())
	switch {
	case !op.Type.Valid():
		return errors.New("no element type given")
	case op.Bytes < 1 || op.Rows < 1 || op.Bytes%size != 0:
		return fmt.Errorf("found %d rows of %d bytes, want at least one row of a positive multiple of %d bytes", op.Rows, op.Bytes, size)
	case op.Bytes > mem.MaxOffset:
		return fmt.Errorf("rows of %d bytes: more than a memory can have", op.Bytes)
	}
	for _, pitch := range []int64{op.DstPitch, op.SrcPitch} {
		if op.Rows > 1 && (pitch < op.Bytes || pitch%size != 0 || int64(op.Rows-1) > mem.MaxOffset/pitch) {
			return fmt.Errorf("found %d rows of %d bytes, %d bytes apart, want rows that do not overlap, at multiples of %d bytes within a memory", op.Rows, op.Bytes, pitch, size)
		}
	}
	if op.Dst.Offset()%size != 0 || op.Src.Offset()%size != 0 {
		return fmt.Errorf("%v elements must lie at multiples of %d bytes: not at %v and %v", op.Type, size, op.Dst, op.Src)
	}
	return nil
}
