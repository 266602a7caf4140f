package race

import "math"

// A period of an agent ends when the agent completes everything: at a quiet and at its end. There
// may be as many operations as messages, most of which are never looked at again.
// Invariant of this file: the operations that were pending when a period ended were complete at its
// end. They need not be changed one by one: doneAt finds the end when it is needed. A plain judge
// changes them.

// periods is the state of an agent for its periods.
type periods struct {
	period uint16   // the current one
	ends   []uint32 // times of the agent at which earlier ones ended
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
	if a.plain == (list{}) && a.sided == (list{}) && a.updates == (list{}) {
		return
	}
	if d.plain || a.period == math.MaxUint16 { // none is left
		d.completeAll(&a.plain)
		d.completeAll(&a.sided)
		d.completeAll(&a.updates)
		return
	}
	a.ends = append(a.ends, a.clk.time)
	a.period++
	a.plain, a.sided, a.updates = list{}, list{}, list{}
}

// completeAll completes a whole list.
func (d *Detector) completeAll(l *list) {
	for l.head != 0 {
		d.complete(d.event(l.head))
	}
}
