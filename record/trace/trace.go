// Package trace is the one stream of events that an executor emits while it runs. Text
// trace, Perfetto file and statistics are consumers of it; later views come the same way.
// A run without a consumer pays nothing: executors test for nil before making an event.
//
// It imports unit and, for the names of directions, tl. Start at Event; Writer is what the
// views of this package have in common.
package trace

import "kernbench/unit"

// Kind is what an event tells of.
type Kind uint8

// Kinds. Spans have a Start and an End; the others happen at Start = End.
const (
	Send    Kind = iota // kernel: from the call until it returned (credit waits included)
	Recv                // kernel: from the call until the message was there
	Wait                // kernel: waits for an operand or a pipeline
	Load                // DMA: from the call until the bytes were there
	Store               // DMA: from the call until the bytes were visible
	Math                // vector unit at work
	Gemm                // matrix unit at work
	Message             // fabric: a slot message from its descriptor until it is visible in the slot
	Credit              // a credit on its way back
	Kernel              // a kernel from start to end

	// One-sided communication, streams.
	Put    // DMA: from the call until the bytes were visible at the peer
	Get    // DMA: from the call until the bytes were there
	Notify // from the call until the word was updated
	Signal // kernel: waits for a word, for completion or for order
	Atomic // kernel: from the call until the old value was there
	Copy   // copy engine of a stream: from its start until the bytes were visible
)

var kindNames = [...]string{
	"send", "recv", "wait", "load", "store", "math", "gemm", "message", "credit", "kernel",
	"put", "get", "notify", "signal", "atomic", "copy",
}

func (k Kind) String() string { return kindNames[k] }

// Core tells the cores of a PE apart.
type Core uint8

// The cores.
const (
	PECore   Core = iota // the PE's own
	CommCore             // its communication engine
)

// Event is one thing that happened to one rank. It is a value; a Sink must copy what it
// keeps.
type Event struct {
	Kind       Kind
	Core       Core
	PE         int32 // index in the machine
	Rank       int32 // in its group
	Peer       int32 // PE at the other end of a message or credit, or -1
	Dir        uint8 // tl.Dir of a send or receive, 0 otherwise
	Start, End unit.Time
	Bytes      int64
	Seq        int64     // of a message in its ring
	Stalled    unit.Time // part of the span spent waiting for a credit, a message or an operand
}

// Sink consumes events. Executors call Emit in order of (Start, PE, Kind, Seq); Emit must
// not keep the pointer.
type Sink interface {
	Emit(e *Event)
}
