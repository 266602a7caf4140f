package race

import "math"

// A period of an agent ends when the agent completes everything: at a quiet and at its end. There
// may be as many operations as messages, most of which are never looked at again.
// Invariant of this file: the operations that were pending when a period ended were complete at its
// end. They need not be changed one by one: doneAt finds the end when it is needed. A plain judge
// changes them.

// pending is what an agent has begun in its current period and may not be complete.
type pending struct {
	plain   list // loads and stores
	sided   list // puts and gets
	updates list // notifications and atomics

	period uint16   // number of the period
	ends   []uint32 // times of the agent at which earlier ones ended
}

// endPeriod completes all at a time of the agent. It returns false if there are no more numbers.
func (p *pending) endPeriod(now uint32) bool {
	if p.period == math.MaxUint16 {
		return false
	}
	p.ends = append(p.ends, now)
	p.period++
	p.plain, p.sided, p.updates = list{}, list{}, list{}
	return true
}

// doneAt returns the time of its agent at which the agent knows of the completion of an event; 0:
// not yet.
func (d *Detector) doneAt(e *event) uint32 {
	if e.done == 0 && e.pending {
		if a := &d.agents[e.agent]; e.period < a.period {
			e.done = a.ends[e.period]
		}
	}
	return e.done
}

// completeEverything completes all that an agent has begun.
func (d *Detector) completeEverything(a *agent) {
	d.completeJoints(a, true)
	d.completeLoads(a)
	if a.plain == (list{}) && a.sided == (list{}) && a.updates == (list{}) {
		return
	}
	if d.plain || !a.endPeriod(a.clk.time) {
		d.completeAll(&a.plain)
		d.completeAll(&a.sided)
		d.completeAll(&a.updates)
	}
}

// completeAll completes a whole list.
func (d *Detector) completeAll(l *list) {
	for l.head != 0 {
		d.complete(d.event(l.head))
	}
}
