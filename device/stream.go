package device

import (
	"errors"
	"fmt"
	"slices"

	"kernbench/exec"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// Errors that concern streams.
var (
	// ErrStream is wrapped by errors about a stream or a request to it.
	ErrStream = errors.New("stream refused")
	// ErrQueued is wrapped by errors about objects that queued work may use.
	ErrQueued = errors.New("work is queued on streams: Synchronize first")
)

// Stream is a queue of work for one PE. Its methods check their arguments and return. Synchronize
// performs the work, in the order of each stream, with all streams in parallel.
type Stream struct {
	ctx   *Context
	id    int
	dev   *streamDevice
	ops   []queued
	freed bool
}

// streamDevice is a PE that has streams. The rank of a device is its place among them.
type streamDevice struct{ rank, pe int }

// queued is an operation that waits for Synchronize.
type queued struct {
	launch.StreamOp
	args   *arguments // of a launch without a team
	engine bool       // a launch whose programs post tasks
}

// streamWork holds the streams of a context, and the work that is queued on them.
type streamWork struct {
	streams     []*Stream
	streamsMade int
	devices     []*streamDevice // PEs that have had streams, by rank
	events      []*Event        // of queued work
	busy        map[any]bool    // tensors, windows and teams that queued work uses
}

// NewStream makes a stream of a PE, by its number in the machine. A PE may have several. PEs
// are ranked as devices in the order of their first streams.
func (c *Context) NewStream(pe int) (*Stream, error) {
	if err := c.can(exec.Streams); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStream, err)
	}
	if pe < 0 || pe >= c.cfg.Machine.NumPEs() {
		return nil, fmt.Errorf("%w: there is no PE %d: the machine has %d", ErrStream, pe, c.cfg.Machine.NumPEs())
	}
	i := slices.IndexFunc(c.devices, func(d *streamDevice) bool { return d.pe == pe })
	if i < 0 {
		i = len(c.devices)
		c.devices = append(c.devices, &streamDevice{i, pe})
	}
	s := &Stream{ctx: c, id: c.streamsMade, dev: c.devices[i]}
	c.streamsMade++
	c.streams = append(c.streams, s)
	return s, nil
}

// Free frees a stream. It is an error if the stream still has work.
func (s *Stream) Free() error {
	if err := s.usable(nil); err != nil {
		return err
	}
	if len(s.ops) > 0 {
		return fmt.Errorf("free of %v: %w", s, ErrQueued)
	}
	s.freed = true
	s.ctx.streams = slices.DeleteFunc(s.ctx.streams, func(x *Stream) bool { return x == s })
	return nil
}

// ID returns the number of the stream in reports.
func (s *Stream) ID() int { return s.id }

func (s *Stream) String() string {
	return fmt.Sprintf("stream %d on %s", s.id, s.ctx.cfg.Machine.PEName(s.dev.pe))
}

// usable reports whether a stream can be used, on a context if one is given.
func (s *Stream) usable(c *Context) error {
	switch {
	case s == nil:
		return fmt.Errorf("%w: no stream", ErrStream)
	case s.freed:
		return fmt.Errorf("%w: %v was freed before", ErrStream, s)
	case c != nil && s.ctx != c:
		return fmt.Errorf("%w: %v: %w", ErrStream, s, ErrForeign)
	}
	return nil
}

// push queues an operation that uses some tensors, windows and teams.
func (s *Stream) push(op queued, uses ...any) {
	op.Line = hostLine()
	s.ops = append(s.ops, op)
	if s.ctx.busy == nil {
		s.ctx.busy = map[any]bool{}
	}
	for _, u := range uses {
		s.ctx.busy[u] = true
	}
}

// idle returns an error if queued work uses an object.
func (c *Context) idle(what any, name string) error {
	if c.busy[what] {
		return fmt.Errorf("%s: %w", name, ErrQueued)
	}
	return nil
}

// idleAll returns an error if there is queued work.
func (c *Context) idleAll() error {
	for _, s := range c.streams {
		if len(s.ops) > 0 {
			return fmt.Errorf("%v has %d operations: %w", s, len(s.ops), ErrQueued)
		}
	}
	return nil
}

// Copy lets the copy engine move as many elements of the same type from src to dst, which
// share none. Rows of a matrix go to rows of a matrix of the same shape; memory that is
// contiguous has any shape. A copy of no elements does nothing.
func (s *Stream) Copy(dst, src Memory) error {
	if err := s.usable(nil); err != nil {
		return err
	}
	if err := errors.Join(dst.usable(s.ctx), src.usable(s.ctx)); err != nil {
		return err
	}
	if dst.typ != src.typ || dst.elems() != src.elems() {
		return fmt.Errorf("copy: %w: %v from %v", ErrShape, dst, src)
	}
	if dst.elems() == 0 {
		return nil
	}
	if dst.contiguous() && src.contiguous() {
		dst, src = dst.Slice(0, dst.elems()), src.Slice(0, src.elems())
	}
	from := src
	src.as(&dst)
	dst.as(&from)
	if dst.rows != src.rows || dst.cols != src.cols {
		return fmt.Errorf("copy: %w: %v from %v: neither is contiguous, so their shapes must agree", ErrShape, dst, src)
	}
	if dst.overlaps(&src) {
		return fmt.Errorf("copy: %w: %v and %v share elements", ErrShape, dst, src)
	}
	size := int64(dst.typ.Size())
	op := launch.StreamOp{
		Kind: launch.StreamCopy, HostName: fmt.Sprintf("%s.%s to %s.%s", src.whole, src.part, dst.whole, dst.part),
		Dst: dst.addr, Src: src.addr, Type: dst.typ, Bytes: int64(dst.cols) * size, Rows: dst.rows,
		DstPitch: int64(dst.pitch) * size, SrcPitch: int64(src.pitch) * size,
	}
	s.push(queued{StreamOp: op}, dst.owner, src.owner)
	return nil
}

// Event marks a place in a stream.
type Event struct {
	ctx    *Context
	mark   launch.Event
	queued bool // it may still happen
}

// Record makes an event that happens when all that was queued on the stream before is done.
func (s *Stream) Record(name string) (*Event, error) {
	if err := s.usable(nil); err != nil {
		return nil, err
	}
	e := &Event{ctx: s.ctx, mark: launch.Event{Name: name}, queued: true}
	s.push(queued{StreamOp: launch.StreamOp{Kind: launch.StreamRecord, Event: &e.mark, HostName: name}})
	s.ctx.events = append(s.ctx.events, e)
	return e, nil
}

// WaitEvent lets what is queued on the stream later wait until an event has happened.
func (s *Stream) WaitEvent(e *Event) error {
	if err := s.usable(nil); err != nil {
		return err
	}
	switch {
	case e == nil:
		return fmt.Errorf("wait_event: %w: no event", ErrStream)
	case e.ctx != s.ctx:
		return fmt.Errorf("wait_event: %w: %q: %w", ErrStream, e.mark.Name, ErrForeign)
	case e.mark.Happened:
		return nil
	case !e.queued:
		return fmt.Errorf("wait_event: %w: %q will not happen: the work before it failed", ErrStream, e.mark.Name)
	}
	s.push(queued{StreamOp: launch.StreamOp{Kind: launch.StreamAwait, Event: &e.mark, HostName: e.mark.Name}})
	return nil
}

// Join lets what is queued on the stream later wait for all that is queued on another one now.
func (s *Stream) Join(other *Stream) error {
	if err := errors.Join(s.usable(nil), other.usable(nil)); err != nil {
		return err
	}
	if err := other.usable(s.ctx); err != nil || other == s || len(other.ops) == 0 {
		return err
	}
	e, err := other.Record(fmt.Sprintf("all of stream %d", other.id))
	if err != nil {
		return err
	}
	return s.WaitEvent(e)
}

// WaitValue lets what is queued later wait until a control word, in the copy of any member,
// satisfies cmp with v.
func (s *Stream) WaitValue(w *mem.Window, rank int, part string, i int, cmp tl.Cmp, v int64) error {
	if cmp > tl.LE {
		return fmt.Errorf("wait_value: %w: %v: want one of EQ, NE, GT, GE, LT, LE", ErrStream, cmp)
	}
	return s.onWord(launch.StreamOp{Kind: launch.StreamWait, Cmp: cmp, Value: v}, w, rank, part, i)
}

// WriteValue sets a control word, in the copy of any member, after all that was queued before.
func (s *Stream) WriteValue(w *mem.Window, rank int, part string, i int, v int64) error {
	return s.onWord(launch.StreamOp{Kind: launch.StreamWrite, Value: v}, w, rank, part, i)
}

func (s *Stream) onWord(op launch.StreamOp, w *mem.Window, rank int, part string, i int) error {
	if err := s.usable(nil); err != nil {
		return err
	}
	name := op.Kind.String()
	if err := s.ctx.usableWindow(name, w); err != nil {
		return err
	}
	p, err := findWords(name, w, rank, part, i, 1)
	if err == nil {
		err = fitsWord(name, p, op.Value)
	}
	if err != nil {
		return err
	}
	op.Win, op.Peer, op.Word = w, rank, p.First+int32(i)
	op.HostName = w.WordName(op.Word)
	s.push(queued{StreamOp: op}, w)
	return nil
}

// findWords finds control words [first, first+n) of a part.
func findWords(op string, w *mem.Window, rank int, part string, first, n int) (*mem.Part, error) {
	p, err := findPart(op, w, rank, part)
	if err != nil {
		return nil, err
	}
	if p.Word == mem.NoWord {
		return nil, fmt.Errorf("%s: %w: %s.%v holds data, not control words", op, ErrWindow, w.Name, p)
	}
	return p, inPart(op, "word", w, p, first, n)
}

func fitsWord(op string, p *mem.Part, v int64) error {
	if p.Word.Wrap(v) != v {
		return fmt.Errorf("%s: %w: %d does not fit in %v", op, ErrWindow, v, p)
	}
	return nil
}
