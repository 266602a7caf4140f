package explain

import (
	"kernbench/machine"
	"kernbench/record/cause"
	"kernbench/unit"
)

// Detail is the activity of ranks and links at each moment of an explained run. It holds the log of
// causes. A product that draws a run walks it, and keeps as much as it can show.
type Detail struct {
	x    *explaining
	runs []cause.Run
	rank *int // rank whose end is explained; nil: the end of the run
}

// TakeDetail returns the detail of a run, and drops it from the report, so that its memory can be
// freed. It returns nil unless Spec.Detail asked for it.
func (r *Report) TakeDetail() *Detail {
	d := r.detail
	r.detail = nil
	return d
}

// Interval is an interval of simulated time of one rank: what it was spent on, at one resource, for
// one reason.
type Interval struct {
	Start, End unit.Time
	Own        cause.Site // operation of the rank
	Site       cause.Site // operation that the time belongs to: Own, or one that it waits for
	At         cause.Resource
	Why        cause.Reason
	Behind     cause.Site // of queueing: what holds the resource; 0: nothing
}

// Queued is a message that waited at a link, or for space in the buffer at the end of the link.
type Queued struct {
	Since, Until unit.Time
	Link         machine.LinkID
	Full         bool       // the buffer at the end of the link was full
	Site         cause.Site // operation that the message belongs to
	Behind       cause.Site // operation that it waited for
}

// Span returns the time from the start of the first launch to the end of the last.
func (d *Detail) Span() (start, end unit.Time) {
	if len(d.runs) == 0 {
		return 0, 0
	}
	return d.runs[0].Start, d.runs[len(d.runs)-1].End
}

// Path calls a function with each interval of the critical path, in the order of time.
func (d *Detail) Path(f func(s Interval)) {
	for i := range d.runs {
		pieces, _, err := d.x.chain(&d.runs[i], d.rank)
		if err != nil {
			continue // the report has said why
		}
		for _, p := range pieces {
			f(Interval{p.start, p.end, p.Site, p.Site, p.at, p.why, p.behind})
		}
	}
}

// Each calls a function with each interval of each rank, and another one with each message that
// waited at a link. Intervals of a rank come nearly in the order of time, and may overlap where
// units of a PE work side by side. It leaves out intervals outside the counted launches, and those
// for which wanted returns false. If wanted is nil, it leaves out no others.
func (d *Detail) Each(wanted func(own cause.Site, from, until unit.Time) bool, interval func(s *Interval), queued func(q *Queued)) {
	c := &cutter{log: d.x.log, m: d.x.m}
	d.x.log.Each(func(s *cause.Span) {
		switch s.At.Kind() {
		case cause.Link, cause.Buffer, cause.Ring, cause.Path, cause.Peer, cause.None, cause.Event:
			return // of a message in flight
		}
		if s.Start < s.End && d.counts(s.Start) && (wanted == nil || wanted(s.Site, s.Start, s.End)) {
			interval(&Interval{s.Start, s.End, s.Site, s.Site, s.At, s.Why, 0})
		}
	}, func(w *cause.Waiting, until cause.Point) {
		if w.Since >= w.Until || !d.counts(w.Since) {
			return
		}
		if k := w.At.Kind(); k == cause.Link || k == cause.Buffer {
			queued(&Queued{w.Since, w.Until, machine.LinkID(w.At.Number()), k == cause.Buffer, w.Site, w.For.Site})
			return
		}
		if wanted != nil && !wanted(w.Site, w.Since, w.Until) {
			return
		}
		for _, p := range c.cut(d.x.log.WalkSince(until, w.Since)) {
			interval(&Interval{p.start, p.end, w.Site, p.Site, p.at, p.why, p.behind})
		}
	})
}

// counts reports whether a time lies in a launch that counts.
func (d *Detail) counts(t unit.Time) bool {
	for i := range d.runs {
		if v := &d.runs[i]; t >= v.Start && t < v.End {
			return true
		}
	}
	return false
}

// Operations returns how many operations there are. They are numbered from 1.
func (d *Detail) Operations() int { return d.x.log.Operations() }

// Operation returns the operation with a number.
func (d *Detail) Operation(s cause.Site) cause.Operation { return d.x.log.Operation(s) }

// Resource returns the name of a resource and the common name of similar ones; "" of none.
func (d *Detail) Resource(r cause.Resource) (name, class string) { return d.x.name(r), d.x.class(r) }

// PE returns the name of a PE.
func (d *Detail) PE(i int) string { return d.x.m.PEName(i) }

// Link returns the name of a link and the common name of similar ones.
func (d *Detail) Link(id machine.LinkID) (name, class string) {
	return d.x.m.LinkName(id), linkClass(d.x.m, id)
}
