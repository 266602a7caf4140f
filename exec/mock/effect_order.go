package mock

import (
	"kernbench/mem"
	"kernbench/tl"
)

// effectOrder is the order in which one rank's puts, signals and updates take effect at one PE.
// The machine's ordering rule and the rank's fences decide it.
type effectOrder struct {
	groups []group
}

// group holds the effects issued between two fences that are in flight.
type group struct {
	fence  uint32
	left   int
	queues [2][]*effect // by class, in order of issue
}

// orderTo returns the order of effects at a PE, and creates it on first use.
func (r *rank) orderTo(pe int32) *effectOrder {
	if r.orders == nil {
		r.orders = map[int32]*effectOrder{}
	}
	l := r.orders[pe]
	if l == nil {
		l = &effectOrder{}
		r.orders[pe] = l
	}
	return l
}

// class returns the queue of a group that an effect waits in.
func (e *effect) class() int {
	if e.by.run.opts.Order == mem.ByChannel && e.op != tl.OpPut {
		return 1
	}
	return 0
}

// join adds an effect to the order.
func (l *effectOrder) join(x *run, e *effect) {
	if n := len(l.groups); n == 0 || l.groups[n-1].fence != e.by.fences {
		l.groups = append(l.groups, group{fence: e.by.fences})
	}
	g := &l.groups[len(l.groups)-1]
	e.order = l
	g.left++
	if x.opts.Order == mem.PutSignal && len(l.groups) == 1 {
		e.allow(x) // unordered
		return
	}
	q := &g.queues[e.class()]
	*q = append(*q, e)
	if len(l.groups) == 1 && len(*q) == 1 {
		e.allow(x)
	}
}

// allow lets an effect arrive, as soon as its source has been read.
func (e *effect) allow(x *run) {
	e.mayArrive = true
	x.wake(e)
}

// leave removes a complete effect, and lets those that waited for it arrive.
func (l *effectOrder) leave(x *run, e *effect) {
	g := &l.groups[0]
	if g.left--; g.left == 0 {
		if l.groups = l.groups[1:]; len(l.groups) > 0 {
			l.groups[0].open(x)
		}
		return
	}
	if x.opts.Order == mem.PutSignal {
		return // all the others are allowed already
	}
	q := &g.queues[e.class()]
	if *q = (*q)[1:]; len(*q) > 0 { // only the first is allowed
		(*q)[0].allow(x)
	}
}

// open lets those effects of a group arrive that no longer wait for earlier ones.
func (g *group) open(x *run) {
	for i, q := range g.queues {
		if x.opts.Order == mem.PutSignal {
			g.queues[i] = nil // its queue is empty
		} else {
			q = q[:min(1, len(q))]
		}
		for _, e := range q {
			e.allow(x)
		}
	}
}
