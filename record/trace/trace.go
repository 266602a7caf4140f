// Package trace is the one stream of events that an executor emits while it runs. The text
// trace, the file for Perfetto and the statistics consume it. A run without a consumer makes
// no events.
//
// It may import unit, and tl for the names of directions. Start at Event. All views of this package
// use Writer.
package trace

import "kernbench/unit"

// Kind is the type of an event.
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
	Credit              // a credit in flight to the sender
	Kernel              // a kernel from start to end

	// One-sided communication, streams.
	Put    // DMA: from the call until the bytes were visible at the peer
	Get    // DMA: from the call until the bytes were there
	Notify // from the call until the word was updated
	Signal // kernel: waits for a word, for completion or for order
	Atomic // kernel: from the call until the old value was there
	Copy   // copy engine of a stream: from its start until the bytes were visible
	Arrive // at the target PE of a put, get, notification or atomic: it takes effect, or is served
	Post   // kernel: hands a task to the communication engine

	// Counters have a value in Bytes, from Start on. An executor makes them only if it is asked to.
	Scratch // bytes of scratch memory in use
)

var kindNames = [...]string{
	"send", "recv", "wait", "load", "store", "math", "gemm", "message", "credit", "kernel",
	"put", "get", "notify", "signal", "atomic", "copy", "arrive", "post", "scratch",
}

func (k Kind) String() string { return kindNames[k] }

// Core is one of the cores of a PE.
type Core uint8

// The cores.
const (
	PECore   Core = iota // the PE's own
	CommCore             // its communication engine
)

// Event is one event of one rank. It is a value: a Sink that keeps it must copy it.
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
	Ring       uint32    // 1 + number of the ring of a send, receive, message or credit; 0 otherwise
	Flow       uint64    // same number at both ends of a one-sided operation or a task; 0: none
	Line       string    // of the kernel's source, where an executor records lines
}

// RingNumber returns Event.Ring of the ring of a port into which a rank of a launch sends.
func RingNumber(from int, port uint8) uint32 { return 1 + uint32(from)<<6 | uint32(port) }

// flow returns the key of the flow of an event, or zero if the event is no end of a flow.
func (e *Event) flow() flowKey {
	switch e.Kind {
	case Send, Recv:
		if e.Ring != 0 {
			return flowKey{e.Ring, uint64(e.Seq)}
		}
	case Put, Get, Notify, Atomic, Arrive, Post, Kernel:
		if e.Flow != 0 {
			return flowKey{0, e.Flow}
		}
	}
	return flowKey{}
}

// ends reports whether the flow of an event ends at the event.
func (e *Event) ends() bool { return e.Kind == Recv || e.Kind == Arrive || e.Kind == Kernel }

// flowKey identifies a flow: the ring of a message and its number there, or Event.Flow.
type flowKey struct {
	ring uint32
	n    uint64
}

// Sink consumes events. Executors call Emit in order of (Start, PE, Kind, Seq). The Kernel events
// of a long launch are an exception: they come after its other events, which are emitted part by
// part. Emit must not keep the pointer.
type Sink interface {
	Emit(e *Event)
}
