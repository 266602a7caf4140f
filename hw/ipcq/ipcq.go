// Package ipcq is the control plane of the rings through which PEs exchange messages. Each
// direction has n_slots slots at the receiver, and four pointers that mark the free ones. It
// decides which side may proceed. It does not move bytes and has no clock: callers pass times.
//
// It may import tl (for the values of a token), dtype and unit. Start at Ring.
package ipcq

import (
	"kernbench/dtype"
	"kernbench/tl"
	"kernbench/unit"
)

// Token is one slot message: its metadata travel with the data and both become visible at
// once. A payload of several slots is several tokens, Part 0 to Parts-1.
type Token struct {
	Value tl.Value
	Off   int32 // first element within Value
	N     int32 // elements of this part
	Total int32 // elements of the payload
	Part  int32
	Parts int32
	Type  dtype.Type
	Shape tl.Shape // of the payload
}

// PartOf returns token i of the payload of t. Each slot has space for per elements.
func (t Token) PartOf(i, per int) Token {
	t.Part, t.Off = int32(i), t.Off+int32(i*per)
	t.N = min(int32(per), t.Total-int32(i*per))
	return t
}

// Wake returns the time at which a waiting PE continues. The PE began to wait at `since`, and the
// event comes at `at`. If the event was earlier, Wake returns `since`. Otherwise it returns the
// time of the next poll of the pointer, or of the end of the interrupt.
func Wake(ring *tl.Ring, since, at unit.Time) unit.Time {
	if at <= since {
		return since
	}
	if !ring.Poll || ring.PollEvery <= 0 {
		return at + ring.WakeCost
	}
	ticks := (at - since + ring.PollEvery - 1) / ring.PollEvery
	return since + ticks*ring.PollEvery
}

// Bytes returns the size of a token's data.
func (t *Token) Bytes() int64 { return int64(t.N) * int64(t.Type.Size()) }
