package race

import (
	"slices"

	"kernbench/mem"
	"kernbench/record/history"
	"kernbench/tl"
	"kernbench/unit"
)

// class is the channel of a remote effect. Machines that keep order per channel keep it within a
// class.
type class uint8

const (
	compute    class = iota // stores
	collective              // puts
	control                 // notifications, atomics
	classes
)

// seqs are, by class, sequence numbers of what an agent sends to one PE.
type seqs [classes]uint32

func (s *seqs) raise(o seqs) {
	for i := range s {
		s[i] = max(s[i], o[i])
	}
}

// witness is a moment of an agent at which an event is known to be complete.
type witness struct {
	agent history.Agent
	time  uint32
}

// event is an access of memory or the update of a word. A put is two events: the read of its source
// and the write of its destination. Events are pooled; refs counts the references that may still
// need its order. There may be millions, most of which are in no cache when they are needed again.
// So an event has two lines of a cache: the first has all that its order needs. Rarely used fields
// are in more.
type event struct {
	id      eventID
	refs    int32
	agent   history.Agent
	issued  uint32 // time of agent
	done    uint32 // time of agent at which it knows of the completion; read it by doneAt
	link    linkID // of what takes effect at a PE: all that its agent sends there
	seq     uint32 // its number on the link
	more    moreID
	seen    witness // another agent that knows of the completion; time 0: none
	carrier eventID // when that is complete, so is this one: the signal of a put, the put of a source
	place   placeID
	kind    history.Kind
	class   class
	write   bool
	atomic  bool // a write that does not conflict with other atomic ones
	detail
	local   bool   // the issuer's side of a put or get
	pending bool   // in one of the lists of its agent, as long as its period lasts
	joint   bool   // accesses of one moment: see joint.go
	change         // of a word
	period  uint16 // of its agent, if pending: see period.go

	size
	before seqs // up to where on its link what was sent earlier is there first
	rows   int32
	addr   mem.Addr // of the first row, or of the word
	op     uint64
	time   unit.Time
	clk    clock // of an update: of the issuer
}

// change is what kind of update an event is.
type change struct {
	update  bool // it is one
	set     bool
	rmw     bool
	carries bool // it goes with data
	future  bool // it comes later in this run
	typ     mem.WordType
}

// detail is what an access and an update have in the same place.
type detail struct{ x uint8 }

// float reports whether combining rounds, so that the order of several matters.
func (e *detail) float() bool { return e.x != 0 }

// lines returns the lines of the packet whose flag an update is.
func (e *detail) lines() tl.PacketLine { return tl.PacketLine(e.x) }

// size is what an access and an update have in the same places.
type size struct{ v int64 }

// bytes returns the length of a row of an access.
func (s *size) bytes() int64 { return s.v }

// value is what an update sets the word to, or adds.
func (s *size) value() int64 { return s.v }

// order returns the number of an update among those of its agent to this word.
func (e *event) order() uint32 { return uint32(e.rows) }

// after returns the number of the puts of joint signals on their links. Such an event has it in
// place of an operation.
func (e *event) after() uint32 { return uint32(e.op) }

// moreID is the number of a more; 0: none.
type moreID uint32

// more holds the fields that few events need.
type more struct {
	// What an earlier access by the same PE had to come after, which this one waited for.
	via     linkID
	viaUpTo seqs

	task    int32           // as of its record
	held    *held           // the sections that its agent was in
	seen    []witness       // as event.seen, all others
	waiters []*event        // of a load or store, as carrier: accesses by the same PE that wait for it
	lines   []knownLines    // of the signal of a packet: which lines agents know of
	saw     []history.Agent // agents that have read the updated word and have not acted on it
	ops     []uint64        // of a joint event: accesses that are not complete, ascending
	opsDone int             // the first ones of ops that are complete
	past    []updateName    // of a later update: see later.past
}

// needMore returns the more of an event, and makes it if necessary.
func (d *Detector) needMore(e *event) *more {
	if e.more == 0 {
		if n := len(d.freeMores); n > 0 {
			e.more = d.freeMores[n-1]
			d.freeMores = d.freeMores[:n-1]
		} else {
			if len(d.mores) == 0 {
				d.mores = append(d.mores, nil) // number 0
			}
			e.more = moreID(len(d.mores))
			d.mores = append(d.mores, &more{})
		}
	}
	return d.mores[e.more]
}

// via is what an earlier access by the same PE had to come after, which this one waited for.
func (d *Detector) via(e *event) (linkID, seqs) {
	if e.more == 0 {
		return 0, seqs{}
	}
	return d.mores[e.more].via, d.mores[e.more].viaUpTo
}

// taskOf returns the task of an event's record.
func (d *Detector) taskOf(e *event) int32 {
	if e.more == 0 {
		return 0
	}
	return d.mores[e.more].task
}

// heldAt returns the sections that the agent of an event was in; nil: none.
func (d *Detector) heldAt(e *event) *held {
	if e.more == 0 {
		return nil
	}
	return d.mores[e.more].held
}

// sawBy reports whether an agent has seen the update, and has not acted on it.
func (d *Detector) sawBy(e *event, a history.Agent) bool {
	return e.more != 0 && slices.Contains(d.mores[e.more].saw, a)
}

// see notes that an agent knows of the completion of an event from a moment on.
func (d *Detector) see(e *event, w witness) {
	if e.seen.time == 0 {
		e.seen = w
		return
	}
	m := d.needMore(e)
	m.seen = append(m.seen, w)
}

// seenBy reports whether an agent is known to know of the completion of an event.
func (d *Detector) seenBy(e *event, a history.Agent) bool {
	return e.seen.time != 0 && e.seen.agent == a ||
		e.more != 0 && slices.ContainsFunc(d.mores[e.more].seen, func(x witness) bool { return x.agent == a })
}

// eventPool holds the events, and how many are in use.
type eventPool struct {
	slabs      [][]event
	neighbours [][]listPlaces // of the events
	mores      []*more
	freeMores  []moreID
	free       eventID // the first of those that are not in use, which are linked by next
	liveEvents int
}

// listPlaces is the neighbours of an event: in the list of its agent, and in that of its link.
type listPlaces struct{ prev, next, lprev, lnext eventID }

func (d *Detector) placeIn(i eventID) *listPlaces { return &d.neighbours[i>>slabBits][i&(slabSize-1)] }

// list is a queue of events that others may leave in the middle, by number.
type list struct{ head, tail eventID }

func (d *Detector) push(l *list, e *event) {
	p := d.placeIn(e.id)
	p.prev, p.next = l.tail, 0
	if l.tail != 0 {
		d.placeIn(l.tail).next = e.id
	} else {
		l.head = e.id
	}
	l.tail = e.id
}

func (d *Detector) remove(l *list, e *event) {
	p := d.placeIn(e.id)
	if p.prev != 0 {
		d.placeIn(p.prev).next = p.next
	} else {
		l.head = p.next
	}
	if p.next != 0 {
		d.placeIn(p.next).prev = p.prev
	} else {
		l.tail = p.prev
	}
	p.prev, p.next = 0, 0
}

// plain reports whether the event is a load or store, or a part of a composite.
func (e *event) plain() bool { return e.kind == history.Load || e.kind == history.Store }

// eventID is the number of an event, from 1 on.
type eventID uint32

// Events lie in slabs of slabSize events.
const (
	slabBits = 8
	slabSize = 1 << slabBits
)

// event returns the event with a number.
func (d *Detector) event(i eventID) *event { return &d.slabs[i>>slabBits][i&(slabSize-1)] }

// freeEvent returns the number of an event that is not in use.
func (d *Detector) freeEvent() eventID {
	if d.free == 0 {
		slab, first := make([]event, slabSize), eventID(len(d.slabs))<<slabBits
		d.slabs = append(d.slabs, slab)
		d.neighbours = append(d.neighbours, make([]listPlaces, slabSize))
		for i := slabSize - 1; i >= 0; i-- {
			if slab[i].id = first + eventID(i); slab[i].id != 0 {
				d.giveBack(slab[i].id)
			}
		}
	}
	i := d.free
	p := d.placeIn(i)
	d.free, p.next = p.next, 0
	return i
}

// giveBack puts the number of an event into the list of those that are not in use.
func (d *Detector) giveBack(i eventID) { d.placeIn(i).next, d.free = d.free, i }

func (d *Detector) newEvent(r *history.Record) *event {
	e := d.event(d.freeEvent())
	d.liveEvents++
	a := &d.agents[r.Agent]
	id := e.id
	*e = event{} // without a copy
	e.id, e.refs, e.agent, e.issued, e.kind, e.op = id, 1, r.Agent, a.clk.time, r.Kind, r.Op
	e.place, e.time = d.spots.number(r.Call, r.Line), r.Time
	if r.Task != 0 || a.held != nil {
		m := d.needMore(e)
		m.task, m.held = r.Task, a.held
	}
	return e
}

// hold adds a reference.
func (e *event) hold() { e.refs++ }

// release gives up one reference; the last one takes the event out of all lists.
func (d *Detector) release(e *event) {
	for {
		if e.refs--; e.refs > 0 {
			return
		}
		d.settle(e)
		if e.link != 0 && !e.future {
			d.unlink(e)
		}
		if e.update {
			d.drop(&e.clk)
		}
		if e.joint {
			d.forgetJoint(e)
		}
		if e.more != 0 {
			m := d.mores[e.more]
			for _, x := range m.waiters {
				d.release(x)
			}
			*m = more{waiters: m.waiters[:0], saw: m.saw[:0], seen: m.seen[:0], lines: m.lines[:0], ops: m.ops[:0]}
			d.freeMores = append(d.freeMores, e.more)
		}
		next := e.carrier
		e.carrier, e.link, e.more = 0, 0, 0
		d.giveBack(e.id)
		d.liveEvents--
		if next == 0 {
			return
		}
		e = d.event(next)
	}
}

// pend puts an event among those whose completion its agent will learn of.
func (d *Detector) pend(e *event) {
	e.pending, e.period = true, d.agents[e.agent].period
	d.push(d.queue(e), e)
}

func (d *Detector) queue(e *event) *list {
	a := &d.agents[e.agent]
	switch {
	case e.plain():
		return &a.plain
	case e.update:
		return &a.updates
	}
	return &a.sided
}

// settle takes an event from the list of its agent.
func (d *Detector) settle(e *event) {
	if e.pending {
		e.pending = false
		if e.period == d.agents[e.agent].period {
			d.remove(d.queue(e), e)
		}
	}
}

// complete notes that the agent of an event knows of its completion from now on.
func (d *Detector) complete(e *event) {
	if d.doneAt(e) == 0 {
		e.done = d.agents[e.agent].now()
	}
	d.settle(e)
}

// finish completes an event, and with it what had to be there before.
func (d *Detector) finish(e *event) {
	now := witness{e.agent, d.agents[e.agent].now()}
	if e.link != 0 {
		d.cover(e.link, now, e.before)
	}
	if via, upTo := d.via(e); via != 0 {
		d.cover(via, now, upTo)
	}
	d.complete(e)
}

// inherit notes what must have been there before f, which e waits for.
func (d *Detector) inherit(e, f *event) {
	take := func(l linkID, upTo seqs) {
		switch {
		case l == 0 || upTo == (seqs{}):
		case l == e.link:
			e.before.raise(upTo)
		default:
			if m := d.needMore(e); m.via == 0 || m.via == l {
				m.via = l
				m.viaUpTo.raise(upTo)
			}
		}
	}
	take(f.link, f.before)
	take(d.via(f))
}

// completeOp completes those pieces of one access for which done returns true. Numbers of accesses
// grow along the list, so the search begins at the nearer end.
func (d *Detector) completeOp(l *list, op uint64, done history.Done) bool {
	if l.head == 0 {
		return false
	}
	head, tail := d.event(l.head), d.event(l.tail)
	if op < head.op || op > tail.op {
		return false
	}
	found := false
	end := func(e *event) {
		found = true
		if done == history.Whole || e.local {
			if put := d.carrierOf(e); done == history.Source && put != nil && put.carrier != 0 {
				// An agent that knows the moment of the signal knows it from the signal itself,
				// which comes after the read, or from a later moment.
				e.done = d.event(put.carrier).clk.time
			}
			d.finish(e)
		}
	}
	if op-head.op < tail.op-op {
		for i := l.head; i != 0; {
			e := d.event(i)
			if i = d.placeIn(i).next; e.op > op {
				break
			}
			if e.op == op {
				end(e)
			}
		}
		return found
	}
	for i := l.tail; i != 0; {
		e := d.event(i)
		if i = d.placeIn(i).prev; e.op < op {
			break
		}
		if e.op == op {
			end(e)
		}
	}
	return found
}

// mostWaiters bounds the waiters that are kept of one event.
const mostWaiters = 8

// passVia gives e the via of another access of its operation.
func (d *Detector) passVia(e, f *event) {
	if via, upTo := d.via(f); via != 0 {
		m := d.needMore(e)
		m.via, m.viaUpTo = via, upTo
	}
}

// waitFor notes that e, by the same PE, waits for f.
func (d *Detector) waitFor(f, e *event) {
	m := d.needMore(f)
	if n := len(m.waiters); n > 0 && m.waiters[n-1] == e {
		return
	}
	e.hold()
	d.inherit(e, f)
	if len(m.waiters) == mostWaiters {
		d.release(m.waiters[mostWaiters-1])
		m.waiters = m.waiters[:mostWaiters-1]
	}
	m.waiters = append(m.waiters, e)
}

// knows reports whether an agent with this clock knows that the event is complete.
func (d *Detector) knows(c *clock, e *event) bool {
	if d.knowsItself(c, e) {
		return true
	}
	if e.more == 0 {
		return false
	}
	for _, x := range d.mores[e.more].waiters {
		if d.knowsItself(c, x) {
			return true
		}
	}
	return false
}

// knowsItself reports what knows does, without the accesses that waited for the event.
func (d *Detector) knowsItself(c *clock, e *event) bool {
	for ; e != nil; e = d.carrierOf(e) {
		if e.seen.time != 0 && d.reaches(c, e.seen.agent, e.seen.time) || d.surelyDone(c, e) {
			return true
		}
		if e.more != 0 {
			for _, w := range d.mores[e.more].seen {
				if d.reaches(c, w.agent, w.time) {
					return true
				}
			}
		}
		if e.link != 0 && d.covers(c, e) || e.done != 0 && d.reaches(c, e.agent, e.done) { // surelyDone has called doneAt
			return true
		}
	}
	return false
}

// surelyDone reports whether the clock shows at once that the agent of an event has completed it.
func (d *Detector) surelyDone(c *clock, e *event) bool {
	done := d.doneAt(e)
	return done != 0 && (e.agent == c.agent && c.time >= done || d.shows(c.v, e.agent, done, mostBases))
}

// carrierOf returns the carrier of an event, or nil.
func (d *Detector) carrierOf(e *event) *event {
	if e.carrier == 0 {
		return nil
	}
	return d.event(e.carrier)
}

// before reports whether e is complete before x takes place; c is the clock of x.
func (d *Detector) before(e, x *event, c *clock) bool {
	if e.agent == x.agent {
		if e.plain() && (x.plain() || x.local) {
			return true // a PE's own loads and stores of the same bytes are in order, and its DMA waits for them
		}
		if e.link != 0 && e.link == x.link && x.before[e.class] >= e.seq {
			return true
		}
	}
	return d.knows(c, e) || x.future && d.foreseenBefore(e, x)
}

// foreseenBefore reports whether an earlier pass has found that e takes effect before the later
// update x. The agent of e may not know yet of the completion that x comes after.
func (d *Detector) foreseenBefore(e, x *event) bool {
	return e.update && e.addr == x.addr && x.more != 0 && slices.Contains(d.mores[x.more].past, updateName{e.agent, e.order()})
}

// pe returns the PE whose memory an address is in, or -1.
func pe(a mem.Addr) int32 {
	if s := a.Space(); s == mem.HBM || s == mem.TCM {
		return int32(a.Unit())
	}
	return -1
}
