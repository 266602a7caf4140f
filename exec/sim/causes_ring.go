package sim

import (
	"kernbench/record/cause"
	"kernbench/unit"
)

// ringCauses is the state of a ring for a log of causes.
type ringCauses struct {
	ring    cause.Resource
	used    []cause.Point // by slot: the end of its latest use, until its credit leaves
	credit  cause.Point   // when the latest credit left
	credits []cause.Point // credits in flight
	payload cause.Point   // when the payload was sent
}

// explainRings makes the rings known to the log.
func (x *run) explainRings() {
	if x.causes == nil {
		return
	}
	for i := range x.rings {
		q := &x.rings[i]
		from, to := &x.ranks[q.from], &x.ranks[q.to]
		q.causes = &ringCauses{used: make([]cause.Point, q.sizing.Slots())}
		q.causes.ring = x.causes.AddRing(cause.RingEnds{
			From: from.index, To: to.index, FromPE: from.pe, ToPE: to.pe, Dir: x.dirOf(q).String(), Slots: int(q.sizing.Slots()),
		})
	}
}

// useEnds notes that a use of a slot ends.
func (x *run) useEnds(q *ring, slot uint32, p cause.Point) {
	if x.causes != nil {
		x.later(&q.causes.used[slot], p)
	}
}

// returns notes that the credit of the slot that was given back last leaves at a time.
func (x *run) returns(q *ring, at unit.Time) {
	w, slot := q.causes, q.sizing.Slot(q.Returned-1)
	p := w.used[slot]
	w.used[slot] = 0 // until a message is taken out of it again
	if w.credit != 0 && (p == 0 || x.causes.Time(w.credit) > x.causes.Time(p)) {
		p = w.credit
	}
	p = x.causes.Add(at, p, cause.Unknown, w.ring)
	w.credit = p
	of := cause.Owner{Site: x.causes.Site(p), Step: cause.StepOf(q.Returned - 1)}
	came := x.causes.AddAt(at+q.credit, p, of, cause.Credit, w.ring)
	w.credits = append(w.credits, x.causes.Begin(of.Step, came)) // also where a credit takes no time
}

// takeCredit makes the next credit of a ring the event that is being handled.
func (x *run) takeCredit(q *ring) {
	if x.causes != nil {
		x.setCurrent(q.causes.credits[0])
		q.causes.credits = q.causes.credits[1:]
	}
}
