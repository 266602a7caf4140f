package oplog

import (
	"bytes"
	"fmt"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/unit"
)

// Options choose how a log is replayed.
type Options struct {
	Seed    uint64              // of the provenance hashes
	Explain bool                // keep explicit contributor sets and places, to explain a failure
	Timed   bool                // the executor has a clock: places carry times
	PEName  func(pe int) string // for places; may be nil
	Inline  bool                // replay in the caller's goroutine, for short runs
	Memory  unit.Bytes          // estimated host memory that data may take: see Map; 0: no limit
	Races   bool                // a judge of races reports accesses to the results of running turns
	Audit   bool                // keep the tree of additions of every element, and the effects of rounding
}

// Log is the operation log of one run and the memory that its replay works on. The
// methods of an executor (Load, Store, Math, ...) and of a host (Map, Write, Read, ...)
// must be called from one goroutine.
type Log struct {
	opts Options
	refs []uint32 // reference counts by value; 0 is not a value
	free []tl.Value
	gone [2]tl.Value // values that the next record releases
	cur  segment

	lines       []string
	lineIndex   func(string) int32
	performers  []performer
	originIndex map[performer]OriginID
	lately      []OriginID // by rank: its last

	work    chan segment
	recycle chan segment
	done    chan struct{}
	rep     *replay

	names func(mem.Addr) string // of memory, for faults; nil: addresses only
}

// New starts a log. Close must be called at the end.
func New(o Options) *Log {
	l := &Log{
		opts: o, refs: make([]uint32, 1, 64), cur: newSegment(),
		lines: []string{""}, performers: make([]performer, 1), originIndex: map[performer]OriginID{{}: 0},
	}
	index := map[string]int32{}
	l.lineIndex = func(s string) int32 {
		i, ok := index[s]
		if !ok {
			i = int32(len(l.lines))
			index[s] = i
			l.lines = append(l.lines, s)
		}
		return i
	}
	l.rep = newReplay(o)
	l.rep.memory.budget = o.Memory
	if !o.Inline {
		const depth = 8
		l.work, l.recycle, l.done = make(chan segment, depth), make(chan segment, depth+2), make(chan struct{})
		go l.replayAll()
	}
	return l
}

func (l *Log) replayAll() {
	defer close(l.done)
	for s := range l.work {
		l.rep.run(&s)
		select {
		case l.recycle <- s.again():
		default:
		}
		if s.flush != nil {
			close(s.flush)
		}
	}
}

// handOver passes the current segment to the replay.
func (l *Log) handOver(flush chan struct{}) {
	if l.work == nil {
		l.rep.run(&l.cur)
		l.cur = l.cur.again()
		return
	}
	l.cur.flush = flush
	l.work <- l.cur
	select {
	case l.cur = <-l.recycle:
	default:
		l.cur = newSegment()
	}
}

// Flush waits until everything recorded has been replayed. It returns the first fault that the
// replay found, such as a read of memory that was never written.
func (l *Log) Flush() error {
	switch {
	case len(l.cur.recs) == 0: // a segment is handed over when there is more to record
	case l.work == nil:
		l.handOver(nil)
	default:
		done := make(chan struct{})
		l.handOver(done)
		<-done
	}
	return l.fault()
}

// Names sets the function that names memory in faults, such as device.Context.Region.
func (l *Log) Names(name func(mem.Addr) string) { l.names = name }

func (l *Log) nameOf(a mem.Addr) string {
	if l.names == nil {
		return ""
	}
	return l.names(a)
}

// Untimed sets whether later records have no times, so that faults name none.
func (l *Log) Untimed(on bool) {
	l.settle()
	l.rep.untimed = on
}

// Close ends the replay. The log must not be used afterwards.
func (l *Log) Close() {
	if l.work != nil {
		close(l.work)
		<-l.done
		l.work = nil
	}
}

// Map allocates n elements of type t at a. They count as never written.
func (l *Log) Map(a mem.Addr, t dtype.Type, n int) error {
	l.settle()
	return l.rep.memory.insert(a, t, n)
}

// Unmap frees the memory that Map allocated at a.
func (l *Log) Unmap(a mem.Addr) error {
	l.settle()
	return l.rep.memory.remove(a)
}

// at returns memory for the host, with an error that names the address.
func (l *Log) at(a mem.Addr, t dtype.Type, n int) (*piece, int, error) {
	p, off, err := l.rep.memory.at(a, t, n)
	if err != nil {
		err = hostAccess(a, t, n, err)
	}
	return p, off, err
}

func hostAccess(a mem.Addr, t dtype.Type, n int, err error) error {
	return fmt.Errorf("%d elements of %v at %v: %w", n, t, a, err)
}

// Write puts host data into memory.
func (l *Log) Write(a mem.Addr, t dtype.Type, data []byte) error {
	to, err := l.Memory(a, t, len(data)/t.Size())
	copy(to, data)
	return err
}

// Memory returns n elements at a for the host to write. They are valid until the next launch.
func (l *Log) Memory(a mem.Addr, t dtype.Type, n int) ([]byte, error) {
	l.settle()
	s, off, err := l.at(a, t, n)
	if err != nil {
		return nil, err
	}
	s.prov = collective.Overwrite(s.prov, off, collective.MakeConstant(nil, n))
	s.untouched(off, n)
	l.rep.mark(s, off, n, Tree{})
	return s.bytes(off, n), nil
}

// Read returns a copy of n elements of memory. It is a fault to read memory that was never written.
func (l *Log) Read(a mem.Addr, t dtype.Type, n int) ([]byte, error) {
	data, err := l.Look(a, t, n)
	return bytes.Clone(data), err
}

// Look is Read without a copy; the result is valid until the next write there.
func (l *Log) Look(a mem.Addr, t dtype.Type, n int) ([]byte, error) {
	if err := l.Flush(); err != nil {
		return nil, err
	}
	s, off, err := l.at(a, t, n)
	if err != nil {
		return nil, err
	}
	if i := firstUnwritten(s.prov, off, n); i >= 0 {
		return nil, &fault.Unwritten{Place: fault.Place{Rank: fault.Host, Op: "host read"}, Addr: a.String(), Name: l.nameOf(a), First: i}
	}
	return s.bytes(off, n), nil
}

// View returns the memory without a copy, and its provenance, for judges. It is valid until the
// next launch.
func (l *Log) View(a mem.Addr, t dtype.Type, n int) ([]byte, collective.Prov, error) {
	if err := l.Flush(); err != nil {
		return nil, nil, err
	}
	s, off, err := l.at(a, t, n)
	if err != nil {
		return nil, nil, err
	}
	return s.data[off*t.Size() : (off+n)*t.Size()], collective.Slice(nil, s.prov, off, n), nil
}

// Label marks n elements at a as the contribution of a rank, from index base on.
func (l *Log) Label(rank int, base int64, a mem.Addr, t dtype.Type, n int) error {
	l.settle()
	s, off, err := l.at(a, t, n)
	if err != nil {
		return err
	}
	if i := firstUnwritten(s.prov, off, n); i >= 0 {
		return &fault.Unwritten{Place: fault.Place{Rank: rank, Op: "contribution"}, Addr: a.String(), Name: l.nameOf(a), First: i}
	}
	s.prov = collective.Overwrite(s.prov, off, l.rep.hasher.Own(nil, rank, base, n))
	s.untouched(off, n)
	l.rep.mark(s, off, n, Tree{Terms: 1})
	return nil
}

// Begin sets the reduction that merges contributions from now on, and its number of ranks.
func (l *Log) Begin(op tl.ReduceOp, world int) {
	x := l.next(By{})
	x.kind, x.sub, x.n = recBegin, uint8(op), int32(world)
}

// End ends the reduction: later operations merge no contributions.
func (l *Log) End() { l.next(By{}).kind = recEnd }

// Hasher returns the hasher of the provenance of this log.
func (l *Log) Hasher() *collective.Hasher { return l.rep.hasher }

// settle applies all records so far, and keeps a fault for the next Flush.
func (l *Log) settle() { _ = l.Flush() }
