package race

import "kernbench/record/history"

// This file lets the sources of all puts of an agent that return when they have read share an
// event. Else each put with a signal had one for its source, because a signal begins a moment.
// Invariant: a stretch that only this event has accessed keeps the time of the last read, in place
// of an index of readers. Judged with this time, the event is what an event of that read would be.
// A source that is not all such stretches gets the event of its moment: see readSource.

// stamped is the class of these events. They have no link, and so need no class of their own.
const stamped = classes

// mostMisfits is the number of sources after one that did not fit that are not tried.
const mostMisfits = 15

// sourcing is the state of a Detector for shared sources.
type sourcing struct {
	misfit bool // the shared source that is being entered has met a stretch that cannot keep a time
}

// stamp returns the time that a stretch with the only access e keeps; 0: none.
func (e *event) stamp() readersID {
	if e.class == stamped {
		return readersID(e.done)
	}
	return 0
}

// shareSource enters the source of a put into memory with the event that its agent has for all. It
// returns false if the source needs another event.
func (d *Detector) shareSource(r *history.Record) bool {
	a := &d.agents[r.Agent]
	if r.NBI || !d.sharing(a) {
		return false
	}
	if a.misfits > 0 {
		a.misfits--
		return false
	}
	if a.sources == nil {
		d.joints++
		e := d.newEvent(r)
		e.joint, e.local, e.op, e.class = true, true, 0, stamped
		a.sources = e
	}
	a.sources.done = a.now()
	d.access(a.sources, &r.Source)
	if d.misfit {
		d.misfit, a.misfits = false, mostMisfits
		return false
	}
	return true
}

// sourceFits reports whether e may replace f, the only access of a stretch. A shared source
// replaces no write, and no load that it waits for: waiters have no times.
func (d *Detector) sourceFits(e, f *event) bool {
	return e.class != stamped || !f.write && (f.agent != e.agent || !f.plain() || f.joint || d.doneAt(f) != 0)
}

// ownSource gives a stretch an event of its own for its last read f, in place of the shared one.
func (d *Detector) ownSource(s *seg, f *event) {
	x := d.event(d.freeEvent())
	d.liveEvents++
	id := x.id
	*x = *f
	x.id, x.refs, x.more, x.class = id, 1, 0, collective
	s.one, s.readers = id, 0
	d.release(f)
}
