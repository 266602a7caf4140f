// Package fault holds the typed errors that executors return for mistakes of a kernel. Each
// has its place (rank, PE, operation, source line, simulated time) and states what would be
// right.
//
// It may import unit only. Start at Place; deadlocks are in deadlock.go.
package fault

import (
	"fmt"
	"strings"

	"kernbench/unit"
)

// Host is the Rank of a Place that is in no kernel.
const Host = -1

// Place is the place of an event in a run. Its text omits zero fields.
type Place struct {
	Rank  int
	PE    string    // sip0.cube0.pe1, or empty on executors without a machine
	Op    string    // the kernel operation with its arguments: send(E), add, ...
	Line  string    // file:line of the kernel, empty when it was not recorded
	Time  unit.Time // simulated time
	Timed bool      // whether Time means anything: the mock executor has no clock
}

func (p Place) String() string {
	var b strings.Builder
	if p.Rank != Host {
		fmt.Fprintf(&b, "rank %d", p.Rank)
	}
	if p.PE != "" {
		fmt.Fprintf(&b, " (%s)", p.PE)
	}
	if p.Op != "" {
		fmt.Fprintf(&b, " %s", p.Op)
	}
	if p.Line != "" {
		fmt.Fprintf(&b, " at %s", p.Line)
	}
	if p.Timed {
		fmt.Fprintf(&b, " t=%v", p.Time)
	}
	return strings.TrimPrefix(b.String(), " ")
}

// InvalidDirection is a send or receive along a direction that the rank does not have.
type InvalidDirection struct {
	Place
	Dir       string
	Installed []string // directions that this operation could have used
	Sending   bool
}

func (e *InvalidDirection) Error() string {
	what := "receive from"
	if e.Sending {
		what = "send to"
	}
	have := "none"
	if len(e.Installed) > 0 {
		have = strings.Join(e.Installed, " ")
	}
	return fmt.Sprintf("%v: invalid direction %s: this rank can %s: %s (choose another topology or override neighbors)",
		e.Place, e.Dir, what, have)
}

// UseAfterCredit is an instruction that reads a ring slot whose lifetime had ended: the
// sender may already be writing the next message there.
type UseAfterCredit struct {
	Place        // the reading instruction
	Slot  string // the receive that gave the slot, with its line where known
	Ended string // the operation that ended its lifetime, with its line where known
}

func (e *UseAfterCredit) Error() string {
	return fmt.Sprintf("%v: use after credit: it reads the slot of %s, which went back to its sender at %s; compute or copy before taking the next message of that direction",
		e.Place, e.Slot, e.Ended)
}

// UseAfterFree is an instruction that reads a scratch tensor that no longer exists. The kernel
// freed it, or it was reclaimed because scratch was full and the tensor had long been idle.
type UseAfterFree struct {
	Place
	Tensor    string
	Reclaimed bool
	Scratch   unit.Bytes
}

func (e *UseAfterFree) Error() string {
	if e.Reclaimed {
		return fmt.Sprintf("%v: tensor %s was reclaimed: scratch (%v) was full and it was the longest unused; Free what you no longer need, Pin what you keep, or raise pe.tcm.scratch",
			e.Place, e.Tensor, e.Scratch)
	}
	return fmt.Sprintf("%v: tensor %s was freed before", e.Place, e.Tensor)
}

// ScratchFull is a result that does not fit in the PE's scratch.
type ScratchFull struct {
	Place
	Need, Have, Pinned unit.Bytes
}

func (e *ScratchFull) Error() string {
	return fmt.Sprintf("%v: scratch full: the result needs %v, scratch has %v of which %v is pinned; use smaller pieces or raise pe.tcm.scratch",
		e.Place, e.Need, e.Have, e.Pinned)
}

// Mismatch is a receive whose shape or type differs from what was sent.
type Mismatch struct {
	Place
	Want, Got string // "f16[8]"
	Sender    int
}

func (e *Mismatch) Error() string {
	return fmt.Sprintf("%v: expected %s, rank %d sent %s; make both sides agree (strict_validation: false accepts other shapes and types of equal size)",
		e.Place, e.Want, e.Sender, e.Got)
}

// BadAddress is an access to memory that is not there.
type BadAddress struct {
	Place
	Addr   string
	At     uint64 // Addr as a number
	Bytes  int64
	Reason string
	Memory string // what is at Addr, or before it, and its range; "": unknown
}

func (e *BadAddress) Error() string {
	s := fmt.Sprintf("%v: bad address %s, %d bytes: %s", e.Place, e.Addr, e.Bytes, e.Reason)
	if e.Memory != "" {
		s += "; " + e.Memory
	}
	return s
}

// Misuse is a call whose arguments are wrong in every state of the machine.
type Misuse struct {
	Place
	Reason string
}

func (e *Misuse) Error() string { return fmt.Sprintf("%v: %s", e.Place, e.Reason) }

// NoData is a read of values in a run that carries none.
type NoData struct {
	What string
}

func (e *NoData) Error() string {
	return fmt.Sprintf("%s: this run carries no data (timing only): run with --verify-data", e.What)
}

// Unwritten is a read of memory that was never written.
type Unwritten struct {
	Place
	Addr  string
	Name  string // of the memory at Addr, such as x[3]; "": unknown
	First int    // element within the access
}

func (e *Unwritten) Error() string {
	if e.Name != "" {
		return fmt.Sprintf("%v: reads %s (%s): element %d of the access was never written", e.Place, e.Name, e.Addr, e.First)
	}
	return fmt.Sprintf("%v: reads %s: element %d of the access was never written", e.Place, e.Addr, e.First)
}

// Early is an access to memory that running work is still to write.
type Early struct {
	Place
	Addr  string
	First int    // element within the access
	Work  string // such as "AllReduce handle 0 turn 0 of rank 1"
	Await string // the call that waits for its end, or empty
}

func (e *Early) Error() string {
	s := fmt.Sprintf("%v: reads %s: element %d of the access is a result of %s, which is still running", e.Place, e.Addr, e.First, e.Work)
	if e.Await != "" {
		s += ": call " + e.Await + " first"
	}
	return s
}

// Unreceived is a launch that ended with messages still in a ring.
type Unreceived struct {
	Place // the rank whose ring holds them
	Dir   string
	From  int
	Count int

	Sent      string // the send of the first of them, with its line where known
	Last      string // the last receive from that ring, with its line where known; empty if there was none
	Announced string // the receive that was announced for it and that no wait took; empty if there is none
}

func (e *Unreceived) Error() string {
	messages, were := "messages", "were"
	if e.Count == 1 {
		messages, were = "message", "was"
	}
	s := fmt.Sprintf("%v: all kernels ended, but %d %s from rank %d (direction %s) %s never received",
		e.Place, e.Count, messages, e.From, e.Dir, were)
	if e.Sent != "" {
		s += fmt.Sprintf("; rank %d sent the first with %s", e.From, e.Sent)
	}
	switch {
	case e.Announced != "":
		return s + fmt.Sprintf("; %s announced its receive, and nothing waited for it; wait for every future", e.Announced)
	case e.Last != "":
		return s + fmt.Sprintf("; the last receive of that ring was %s; every send needs its receive", e.Last)
	}
	return s + "; that ring has no receive at all; every send needs its receive"
}

// RingMemory is a launch whose rings do not fit where buffer_kind puts them.
type RingMemory struct {
	Place
	Kind       string
	Need, Have unit.Bytes
}

func (e *RingMemory) Error() string {
	return fmt.Sprintf("%v: the rings need %v of %s, which has %v: lower n_slots or slot_size, or choose another buffer_kind",
		e.Place, e.Need, e.Kind, e.Have)
}

// Panic is a Go panic inside a kernel.
type Panic struct {
	Place
	Value any
	Stack string
}

func (e *Panic) Error() string {
	return fmt.Sprintf("%v: kernel panicked: %v\n%s", e.Place, e.Value, e.Stack)
}
