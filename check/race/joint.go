package race

import (
	"cmp"
	"math"
	"slices"

	"kernbench/mem"
	"kernbench/record/history"
)

// This file lets accesses share an event. A rank that reads from n others, or puts to them, begins
// n accesses at one moment of its clock. If there are more than a few, they share one joint event.
// So do all reads of sources by puts that return when they have read.
// Invariant: an agent knows that a joint event is complete only if it knows that each of its
// accesses is. So no hazard is missed. But a joint event may become known later than one of its
// accesses. Therefore a pass with joint events reports no hazards: it requests another pass without
// them.

// jointKind is the kind of the accesses of a joint event.
type jointKind uint8

const (
	jointLoads jointKind = iota
	jointStores
	jointPuts    // writes of puts
	jointSources // reads of puts
	jointRead    // the same of puts that return when they have read
	jointNotifications
	jointSignals // notifications that go with puts
	jointKinds
)

const (
	// fewAccesses is the number of accesses of a moment that have events of their own.
	fewAccesses = 4
	// fewAgents is the number of agents up to which there are no joint events.
	fewAgents = 32
)

// moment holds the accesses of one kind that an agent has begun at a time of its clock.
type moment struct {
	time   uint32
	n      int
	fences uint32
	e      *event // the joint event; nil: none
}

// jointly is the state of an agent for joint events.
type jointly struct {
	moments    *[jointKinds]moment
	unfinished []*event // joint events that are not complete, as long as they are needed
	unsent     []*event // those of puts and notifications, which are complete only when all is
	sources    *event   // of sources that it has read: see source.go
	misfits    uint8    // sources that are not to be tried
	linked     []*event // joint events with effects at PEs, by seq, as long as a stretch or word refers to them

	notified bool   // it has notified others at its current moment
	row      int    // notifications since its last operation of another kind
	signals  int    // those of them that go with puts
	longRow  bool   // the row before had more than a few signals
	jointPut uint64 // its last put with a joint event, which a signal may belong to
	lastPut  *event // its joint event
	lastTo   history.Range
}

// joining is the state of a Detector for joint events.
type joining struct {
	joints   int  // number of joint events
	inexact  bool // there may be a hazard that is not counted
	hintless bool // see hints.go
	jointAll bool // few accesses of few agents have joint events too, for tests
}

// sharing reports whether accesses of an agent may have joint events.
func (d *Detector) sharing(a *agent) bool {
	return !d.plain && !d.facts.exact && (len(d.agents) > fewAgents || d.jointAll) && d.opts.Order != mem.Sequential &&
		a.held == nil && a.clk.agent != history.Host
}

// shareEvent returns the joint event for an access of PE to, or nil if it gets an event of its own.
func (d *Detector) shareEvent(r *history.Record, k jointKind, to int32) *event {
	a := &d.agents[r.Agent]
	if !d.sharing(a) {
		return nil
	}
	m := a.momentOf(k)
	if m.time != a.clk.time {
		d.endMoment(m)
		m.time, m.n = a.clk.time, 0
	}
	if m.n++; m.n+a.row <= fewAccesses && !d.jointAll && !(a.longRow && r.Carry) {
		return nil
	}
	linked := k == jointStores || k == jointPuts
	var l *link
	if linked {
		l = d.fencedLink(r.Agent, to)
	}
	if e := m.e; e != nil && linked && (e.done != 0 ||
		m.fences != a.fences || l.seq > e.seq || l.seq == e.seq && d.opts.Order != mem.PutSignal) {
		d.endMoment(m)
	}
	if m.e != nil && k != jointPuts && !d.mores[m.e.more].accepts(r.Op) {
		return nil
	}
	if m.e == nil {
		e := d.newJoint(r)
		e.write, e.local = linked, k == jointSources
		m.e, m.fences = e, a.fences
		switch k {
		case jointStores:
			d.number(e, compute)
		case jointPuts:
			d.number(e, collective)
			a.unsent = append(a.unsent, e)
		}
	}
	e := m.e
	if linked {
		l.seq = e.seq
	}
	if k == jointPuts {
		return e
	}
	e.done = 0
	x := d.needMore(e)
	if len(x.ops) == 0 {
		a.unfinished = append(a.unfinished, e)
	}
	x.ops = append(x.ops, r.Op)
	return e
}

// readSource returns the joint event for the source of a put that returns when it has read it, or
// nil if there is none. All such reads of a moment are complete at once. So the event needs no list
// of them, and even a single read has a joint event.
func (d *Detector) readSource(r *history.Record) *event {
	a := &d.agents[r.Agent]
	if r.NBI || !d.sharing(a) {
		return nil
	}
	m := a.momentOf(jointRead)
	if m.e == nil || m.time != a.clk.time {
		d.endMoment(m)
		d.joints++
		e := d.newEvent(r)
		e.joint, e.local, e.op = true, true, 0
		m.e, m.time = e, a.clk.time
	}
	m.e.done = a.now()
	return m.e
}

// newJoint returns a joint event.
func (d *Detector) newJoint(r *history.Record) *event {
	d.joints++
	e := d.newEvent(r)
	e.joint, e.op = true, 0
	return e
}

// momentOf returns the joint event of a kind that the next access may join.
func (a *jointly) momentOf(k jointKind) *moment {
	if a.moments == nil {
		a.moments = new([jointKinds]moment)
	}
	return &a.moments[k]
}

// accepts reports whether an access is no piece of an earlier one, so that ops stay in order.
func (m *more) accepts(op uint64) bool { return len(m.ops) == 0 || m.ops[len(m.ops)-1] <= op }

// number gives a joint event its number, and sets which effects come before it on each link.
func (d *Detector) number(e *event, c class) {
	a := &d.agents[e.agent]
	e.seq, e.class = a.nextSeq(), c
	e.before = seqs{a.fenced, a.fenced, a.fenced}
	switch d.opts.Order {
	case mem.ByChannel:
		e.before[c] = e.seq - 1
	case mem.InOrder:
		e.before = seqs{e.seq - 1, e.seq - 1, e.seq - 1}
	}
	a.linked = append(a.linked, e)
}

// endMoment lets no more accesses join an event.
func (d *Detector) endMoment(m *moment) {
	if m.e != nil {
		d.release(m.e)
		m.e = nil
	}
}

// endMoments lets no more accesses of an agent join.
func (d *Detector) endMoments(a *agent) {
	if a.sources != nil {
		d.release(a.sources)
		a.sources = nil
	}
	if a.received != nil {
		d.release(a.received)
		a.received = nil
	}
	d.dropOwn(a)
	if a.moments != nil {
		for i := range a.moments {
			d.endMoment(&a.moments[i])
		}
	}
}

// forgetJoint takes a joint event that is needed no more out of the lists of its agent.
func (d *Detector) forgetJoint(e *event) {
	a := &d.agents[e.agent]
	if e.seq != 0 {
		a.linked = without(a.linked, e)
	}
	if e.done == 0 {
		a.unsent = without(a.unsent, e)
		a.unfinished = slices.DeleteFunc(a.unfinished, func(x *event) bool { return x == e })
	}
}

// without returns events without one of them. The events have ascending numbers.
func without(l []*event, e *event) []*event {
	i, _ := slices.BinarySearchFunc(l, e.seq, func(x *event, seq uint32) int { return cmp.Compare(x.seq, seq) })
	if i < len(l) && l[i] == e {
		return slices.Delete(l, i, i+1)
	}
	return l
}

// completeJoint completes an access of a joint event, to an extent.
func (d *Detector) completeJoint(a *agent, op uint64, done history.Done) {
	for i := 0; i < len(a.unfinished); i++ {
		e := a.unfinished[i]
		if done != history.Whole && !e.local {
			continue
		}
		x := d.mores[e.more]
		at, found := slices.BinarySearch(x.ops[x.opsDone:], op)
		if !found {
			continue
		}
		at += x.opsDone
		end := at
		for end < len(x.ops) && x.ops[end] == op { // pieces of the access
			end++
		}
		if at == x.opsDone {
			x.opsDone = end
		} else {
			x.ops = slices.Delete(x.ops, at, end)
		}
		if x.opsDone == len(x.ops) {
			d.finishJoint(a, e)
			a.unfinished = slices.Delete(a.unfinished, i, i+1)
			i--
		}
	}
}

// finishJoint completes a joint event, which leaves its list.
func (d *Detector) finishJoint(a *agent, e *event) {
	if e.more != 0 {
		x := d.mores[e.more]
		x.ops, x.opsDone = x.ops[:0], 0
	}
	e.done = a.now()
}

// completeJoints completes the joint events of an agent, or those of its loads and stores.
func (d *Detector) completeJoints(a *agent, all bool) {
	a.unfinished = slices.DeleteFunc(a.unfinished, func(e *event) bool {
		ends := all || e.plain()
		if ends {
			d.finishJoint(a, e)
		}
		return ends
	})
	if all {
		for _, e := range a.unsent {
			d.finishJoint(a, e)
		}
		clear(a.unsent)
		a.unsent = a.unsent[:0]
	}
}

// linkOf returns the link of an access of PE to; 0: none.
func (d *Detector) linkOf(e *event, to int32) linkID {
	switch {
	case !e.joint:
		return e.link
	case e.seq == 0:
		return 0
	}
	return d.agents[e.agent].links.at(to)
}

// knowsAt reports whether an agent with this clock knows that the access of PE to is complete.
func (d *Detector) knowsAt(c *clock, e *event, to int32) bool {
	if !e.joint {
		return d.knows(c, e)
	}
	return d.knowsJoint(c, e, d.linkOf(e, to))
}

// knowsJoint reports whether an agent with this clock knows that the accesses of a joint event on a
// link are complete.
func (d *Detector) knowsJoint(c *clock, e *event, on linkID) bool {
	return e.done != 0 && d.reaches(c, e.agent, e.done) || on != 0 && d.coversOn(on, c, e)
}

// beforeAt reports whether the access f of PE to is complete before e takes place. One of them is
// joint.
func (d *Detector) beforeAt(f, e *event, to int32) bool {
	if f.agent == e.agent {
		if f.plain() && (e.plain() || e.local) {
			return true
		}
		if l := d.linkOf(f, to); l != 0 && l == d.linkOf(e, to) && e.before[f.class] >= f.seq {
			return true
		}
	}
	return d.knowsAt(&d.agents[e.agent].clk, f, to)
}

// twice handles a stretch that an event accesses again. Two puts of a joint event may be a hazard.
func (d *Detector) twice(e *event) {
	d.inexact = d.inexact || e.joint && e.write && !e.plain()
}

// hidesHazards reports whether there may be hazards, of which a pass without joint events and with
// all signals knows more.
func (d *Detector) hidesHazards() bool {
	return (d.joints > 0 || d.hintless) && (d.inexact || d.hazards.total > 0)
}

// putJointly handles a put whose accesses have joint events. It returns false if there are none.
func (d *Detector) putJointly(r *history.Record) bool {
	if r.Atomic || r.Range.Bytes == 0 || pe(r.Range.Addr) != r.Peer {
		return false
	}
	if r.Carry && (r.Range.Bytes > math.MaxUint32 || !d.mayShare(&d.agents[r.Agent], r)) {
		return false
	}
	e := d.shareEvent(r, jointPuts, r.Peer)
	if e == nil {
		return false
	}
	if r.Source.Bytes > 0 && !d.shareSource(r) {
		s := d.readSource(r)
		if s == nil {
			s = d.shareEvent(r, jointSources, -1)
		}
		if s == nil {
			s = d.newEvent(r)
			s.local = true
			d.pend(s)
			d.access(s, &r.Source)
			d.release(s)
		} else {
			d.access(s, &r.Source)
		}
	}
	d.access(e, &r.Range)
	d.keepPut(r.Agent, nil)
	a := &d.agents[r.Agent]
	a.jointPut, a.lastPut, a.lastTo = r.Op, e, r.Range
	return true
}

// plainJointly handles a load or store that has a joint event. It returns false if it has none.
func (d *Detector) plainJointly(r *history.Record) bool {
	k := jointLoads
	switch r.Kind {
	case history.Copy:
		return false
	case history.Store:
		k = jointStores
	}
	e := d.shareEvent(r, k, pe(r.Range.Addr))
	if e != nil {
		d.access(e, &r.Range)
	}
	return e != nil
}
