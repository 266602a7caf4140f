// Package des is the event queue: a clock in picoseconds and events in one total order. It knows no
// hardware and runs no code of its own: its owner takes events out and acts on them. Events of the
// same time are ordered by phase, then by the component that caused them and its sequence (such as
// a port). The last criterion is the number in that sequence. The order in which events were posted
// has no effect.
//
// It may import unit and internal/prefetch. Start at Queue.
package des

import "kernbench/unit"

// Phase orders events of one instant before anything else does.
type Phase uint8

// Phases. Events of the fabric come first. Decisions that need all of these events come last.
const (
	Arrive Phase = iota // a message, a credit, a completion
	Retry               // a resource looks again for work
	Settle              // a program looks at what others have done up to now
)

// Key orders the events of one instant.
type Key uint64

// Bits of a Key.
const (
	counterBits   = 24
	sequenceBits  = 8
	componentBits = 28
)

// MakeKey packs a tie-break. The counter may wrap: only events of one instant compare it.
func MakeKey(p Phase, component uint32, sequence uint8, counter uint32) Key {
	return Key(p)<<(componentBits+sequenceBits+counterBits) |
		Key(component)<<(sequenceBits+counterBits) | Key(sequence)<<counterBits | Key(counter&(1<<counterBits-1))
}

// Event is an event at a Time that concerns Target. The poster and the owner define its meaning.
type Event struct {
	Time   unit.Time
	Key    Key
	Target uint32
	Arg    uint32
}

func (e *Event) before(f *Event) bool {
	return e.Time < f.Time || e.Time == f.Time && e.Key < f.Key
}
