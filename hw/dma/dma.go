// Package dma is the model of a PE's DMA engine. It has a queue of descriptors for each traffic
// class, so that loads and stores do not block the messages of rings. The fabric decides how long a
// descriptor takes.
//
// It may import unit only. Start at Engine.
package dma

import (
	"slices"

	"kernbench/unit"
)

// Queue is a queue of an engine.
type Queue uint8

// The queues.
const (
	Compute    Queue = iota // loads, stores, the tiles of composites
	Collective              // messages of rings
	queues
)

// Spec describes an engine.
type Spec struct {
	Depth int       // descriptors that each queue holds
	Setup unit.Time // to start one
}

// Engine is the state of an engine: the descriptors of each queue whose bytes have not
// left their source.
type Engine struct {
	queue [queues]queue
}

type queue struct {
	held int         // descriptors whose departure is unknown yet
	ends []unit.Time // departures of the others
}

// Full reports whether a queue is full at a time.
func (e *Engine) Full(s *Spec, q Queue, now unit.Time) bool {
	if e.Used(q) < s.Depth {
		return false
	}
	e.queue[q].settle(now)
	return e.Used(q) >= s.Depth
}

// Used bounds the number of descriptors in a queue from above: some may have left.
func (e *Engine) Used(q Queue) int { return e.queue[q].held + len(e.queue[q].ends) }

// NextLeaves returns the next known departure from a queue.
func (e *Engine) NextLeaves(q Queue) (at unit.Time, ok bool) {
	ends := e.queue[q].ends
	if len(ends) == 0 {
		return 0, false
	}
	return slices.Min(ends), true
}

// Enter puts a descriptor into a queue.
func (e *Engine) Enter(q Queue) { e.queue[q].held++ }

// Leave sets the departure of a descriptor: its last bytes leave their source at end.
func (e *Engine) Leave(q Queue, now, end unit.Time) {
	d := &e.queue[q]
	d.held--
	if len(d.ends) == cap(d.ends) {
		d.settle(now)
	}
	d.ends = append(d.ends, end)
}

// Pass puts a descriptor with a known departure into a queue.
func (e *Engine) Pass(q Queue, now, end unit.Time) {
	e.Enter(q)
	e.Leave(q, now, end)
}

// settle drops descriptors that have left by now.
func (d *queue) settle(now unit.Time) {
	d.ends = slices.DeleteFunc(d.ends, func(t unit.Time) bool { return t <= now })
}
