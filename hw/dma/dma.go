// Package dma is the model of a PE's DMA engine: a queue of descriptors for each traffic
// class, so that loads and stores do not block the messages of rings. How long a
// descriptor takes is up to the fabric that it enters.
//
// It imports unit only. Start at Engine.
package dma

import "kernbench/unit"

// Queue tells the queues of an engine apart.
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

// Engine is the state of an engine: how many descriptors each queue holds that have not
// left their source.
type Engine struct {
	waiting [queues]int32
}

// Full tells whether a queue takes no descriptor at present.
func (e *Engine) Full(s *Spec, q Queue) bool { return int(e.waiting[q]) >= s.Depth }

// Enter puts a descriptor into a queue.
func (e *Engine) Enter(q Queue) { e.waiting[q]++ }

// Leave takes one out: its bytes have left their source.
func (e *Engine) Leave(q Queue) { e.waiting[q]-- }
