package oplog

import (
	"errors"
	"fmt"
	"maps"

	"kernbench/collective"
	"kernbench/dtype"
	"kernbench/tl"
)

// CapturedTurn holds the contents of memory when a rank began a collective and when it ended it.
type CapturedTurn struct {
	Turn  *tl.Turn
	Type  dtype.Type // of all elements; not valid where there are none
	In    []byte     // the contribution
	Out   []byte     // the result, with its provenance; only of turns that ended
	Prov  collective.Prov
	Wrote []int32 // of each element of Out: see Log.Writers
	Ended bool
}

// scope merges the contributions of one collective.
type scope struct {
	combining bool // there is one
	op        tl.ReduceOp
	world     int
}

// turns are the collectives that are performed at the same time, since they were last taken.
type turns struct {
	scopes   map[int32]scope // by number
	open     map[*tl.Turn]*opened
	hidden   int             // turns of which memory shows other labels
	captured []*CapturedTurn // in order of beginning
	early    *early          // the first access to the result of a running turn
}

// BeginTurn records that a collective begins for a rank. From now on the contents of its input are
// its contribution, which others may share. The contents of its output are forgotten. Records whose
// Origin names the turn merge contributions by its operation.
func (l *Log) BeginTurn(o Origin, t *tl.Turn) { l.turn(o, recBeginTurn, t) }

// EndTurn records that the result of a turn that has begun is in memory.
func (l *Log) EndTurn(o Origin, t *tl.Turn) { l.turn(o, recEndTurn, t) }

func (l *Log) turn(o Origin, k kind, t *tl.Turn) {
	x := l.next(l.by(o))
	x.kind, x.n = k, int32(len(l.cur.turns))
	l.cur.turns = append(l.cur.turns, t)
}

// TakeTurns returns the turns that were captured since its last call, in the order in which they
// began. It also returns the first fault of the replay, or else the first access to memory that a
// running turn was to write. It is for the time after a launch: turns that have not ended by then
// never will.
func (l *Log) TakeTurns() ([]*CapturedTurn, error) {
	err := l.Flush()
	k := l.rep.turns
	l.rep.turns = turns{}
	for _, o := range k.open {
		l.rep.remember(o) // no other one is open any more
	}
	if err == nil && k.early != nil {
		err = k.early.fault(l)
	}
	return k.captured, err
}

// scope returns the scope that merges the contributions of a record.
func (r *replay) scope(x *record) scope {
	if x.turn == 0 {
		return r.whole
	}
	return r.turns.scopes[x.turn]
}

var (
	errTwice    = errors.New("the turn has begun already")
	errNotBegun = errors.New("the turn has not begun")
)

// beginTurn copies the contribution and forgets the old contents of the result. Then it labels the
// contribution, so that the labels stay where the two overlap.
func (r *replay) beginTurn(x *record, t *tl.Turn) {
	k := &r.turns
	if k.open == nil {
		k.scopes, k.open = map[int32]scope{}, map[*tl.Turn]*opened{}
		maps.DeleteFunc(r.overflows, func(turn int32, _ *overflow) bool { return turn != 0 }) // of turns that were taken
	}
	if k.open[t] != nil {
		r.fail(x, errTwice)
		return
	}
	c := &CapturedTurn{Turn: t}
	r.share(t)
	o := &opened{CapturedTurn: c}
	k.scopes[t.ID] = scope{true, t.Op, t.World}
	k.captured = append(k.captured, c)
	for _, ref := range t.In {
		p, off, ok := r.turnMemory(x, c, ref)
		if !ok {
			return
		}
		if !r.written(x, p, off, ref.Len()) {
			return
		}
		c.In = append(c.In, p.bytes(off, ref.Len())...)
	}
	for _, ref := range t.Out {
		p, off, ok := r.turnMemory(x, c, ref)
		if !ok {
			return
		}
		o.forget(p, off, ref.Len())
		r.pa = collective.MakeUnwritten(r.pa[:0], ref.Len())
		p.prov = collective.Overwrite(p.prov, off, r.pa)
		p.untouched(off, ref.Len())
	}
	base := 0
	for _, ref := range t.In {
		p, off, _ := r.turnMemory(x, c, ref)
		r.pa = r.own(r.pa[:0], t, base, ref.Len())
		p.prov = collective.Overwrite(p.prov, off, r.pa)
		p.untouched(off, ref.Len())
		r.mark(p, off, ref.Len(), Tree{Terms: 1})
		base += ref.Len()
	}
	k.open[t] = o
}

func (r *replay) endTurn(x *record, t *tl.Turn) {
	o := r.turns.open[t]
	if o == nil {
		r.fail(x, errNotBegun)
		return
	}
	delete(r.turns.open, t)
	if o.shown != nil {
		r.turns.hidden--
	}
	c := o.CapturedTurn
	for _, ref := range t.Out {
		p, off, ok := r.turnMemory(x, c, ref)
		if !ok {
			return
		}
		c.Out = append(c.Out, p.bytes(off, ref.Len())...)
		c.Prov = collective.Slice(c.Prov, p.prov, off, ref.Len())
		if r.opts.Explain {
			c.Wrote = append(c.Wrote, p.writers(off, ref.Len())...)
		}
	}
	c.Ended = true
	r.remember(o)
}

// turnMemory finds the memory of a piece of a contribution or a result. An error becomes a fault of
// the record, with that piece as its place.
func (r *replay) turnMemory(x *record, c *CapturedTurn, ref tl.Ref) (*piece, int, bool) {
	x.addr, x.typ, x.n = ref.Addr, ref.DType, int32(ref.Len())
	p, off, err := r.memory.at(ref.Addr, ref.DType, ref.Len())
	if c.Type.Size() == 0 {
		c.Type = ref.DType
	}
	if err == nil && ref.DType != c.Type {
		err = fmt.Errorf("a turn of %v has a piece of %v: all of them are of one type", c.Type, ref.DType)
	}
	if err != nil {
		r.fail(x, err)
		return nil, 0, false
	}
	return p, off, true
}
