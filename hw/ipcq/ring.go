package ipcq

import (
	"math/bits"

	"kernbench/unit"
)

// Ring is the control plane of one ring, both ends. Counters count slot messages (tokens) since the
// start of the launch; Sizing maps a number to its slot. An executor decides when one end learns of
// an action of the other. The effect of each action is the same on all executors.
type Ring struct {
	lastCredit unit.Time // when the latest credit left the receiver

	Sent     uint32 // tokens accepted from the sender: my_head
	Credited uint32 // credits that the sender knows of: peer_tail_cache
	Visible  uint32 // tokens that the receiver can see: peer_head_cache
	Taken    uint32 // tokens that the receiving kernel has taken
	Returned uint32 // slots given back, in order: my_tail
	Tag      uint32 // number of the ring in the history; set by the executor
}

// Slot is one slot of a ring, at the receiver.
type Slot struct {
	// Time is, for a free slot, the time at which the sender knows that it is free. For a slot with
	// a token it is the time at which the token is visible. Once the token is taken, it is the end
	// of its latest use so far.
	Time  unit.Time
	Tag   uint32 // number of its token, for the executor
	reads int16  // reads that have begun and whose end is unknown
	state slotState
}

type slotState uint8

const (
	free    slotState = iota
	arrived           // holds a token that is not visible yet: one before it has not arrived
	full              // holds a token that is visible
	lent              // the kernel holds the token
	ended             // the kernel no longer uses the token
)

// Stream is a payload of several tokens in flight into a ring. The next payload waits until all
// tokens of this one have been accepted.
type Stream struct {
	Next      int32     // index of the next token to send, from 0 on
	Parts     int32     // number of tokens
	NotBefore unit.Time // the payload was sent at this time: no token leaves earlier
}

// Open reports whether some tokens of the payload have not been accepted.
func (s *Stream) Open() bool { return s.Next < s.Parts }

// Sizing is the number of slots of each ring of a launch. It finds slots by multiplication, because
// division takes several times as long and each message needs several lookups.
type Sizing struct {
	n       uint32
	inverse uint64 // 2^64 / n, rounded up: exact for numbers of 32 bits
}

// NewSizing makes the Sizing of rings of n slots, n being at least 1.
func NewSizing(n int) Sizing { return Sizing{uint32(n), ^uint64(0)/uint64(n) + 1} }

// Slots returns the number of slots of a ring.
func (z *Sizing) Slots() uint32 { return z.n }

// Slot returns the slot of the token with this number.
func (z *Sizing) Slot(number uint32) uint32 {
	slot, _ := bits.Mul64(z.inverse*uint64(number), uint64(z.n))
	return uint32(slot)
}

// Free returns the number of slots that the sender knows to be free.
func (r *Ring) Free(z *Sizing) uint32 { return z.n - (r.Sent - r.Credited) }

// Full reports whether the sender knows of no free slot.
func (r *Ring) Full(z *Sizing) bool { return r.Sent-r.Credited == z.n }

// FreeSince returns the time at which the sender knows that the next slot is free; 0 if it was
// never used.
func (r *Ring) FreeSince(slots []Slot, z *Sizing) unit.Time {
	if r.Returned == 0 && r.lastCredit == 0 { // Returned alone may have wrapped around
		return 0
	}
	return slots[z.Slot(r.Sent)].Time
}

// Waiting returns the number of visible tokens that the kernel has not taken.
func (r *Ring) Waiting() uint32 { return r.Visible - r.Taken }

// Occupied returns the number of slots that the receiver has not given back.
func (r *Ring) Occupied() uint32 { return r.Visible - r.Returned }

// Overwritten reports whether the token with this number has been replaced in its slot.
func (r *Ring) Overwritten(number uint32, z *Sizing) bool { return r.Visible-number > z.n }

// Arrive puts a token of the ring into its slot at a time. Tokens become visible in the order of
// the ring: one that has overtaken another, by a faster path from another memory, waits for it.
// Arrive returns the number of tokens that have become visible.
func (r *Ring) Arrive(slots []Slot, z *Sizing, number uint32, at unit.Time) (visible int) {
	s := &slots[z.Slot(number)]
	s.Time, s.state = at, arrived
	for {
		s := &slots[z.Slot(r.Visible)]
		if s.state != arrived {
			r.check(slots, z)
			return visible
		}
		s.state = full
		r.Visible++
		visible++
	}
}

// Return notifies the sender, at a time, of the next slot that was given back.
func (r *Ring) Return(slots []Slot, z *Sizing, at unit.Time) {
	slots[z.Slot(r.Credited)].Time = at
	r.Credited++
	r.check(slots, z)
}

// Take takes the next token, which must exist, and returns its slot. The kernel owns the slot until
// its lifetime ends: see EndUse and Slot.Release.
func (r *Ring) Take(slots []Slot, z *Sizing) (slot uint32) {
	slot = z.Slot(r.Taken)
	r.Taken++
	s := &slots[slot]
	s.Time, s.state = 0, lent
	r.check(slots, z)
	return slot
}

// EndUse ends the lifetime of the token that the kernel holds, at a time. Executors call it when
// the kernel begins to take the next token, or ends. It reports whether the kernel held a token.
func (r *Ring) EndUse(slots []Slot, z *Sizing, at unit.Time) bool {
	if r.Taken == r.Returned {
		return false
	}
	s := &slots[z.Slot(r.Taken-1)]
	if s.state != lent {
		return false
	}
	s.Release(at)
	return true
}

// Read notes a read that ends at a known time.
func (s *Slot) Read(end unit.Time) { s.Time = max(s.Time, end) }

// BeginRead notes n reads. Each of them needs one EndRead.
func (s *Slot) BeginRead(n int) { s.reads += int16(n) }

// EndRead completes a read that BeginRead announced.
func (s *Slot) EndRead(end unit.Time) {
	s.reads--
	s.Read(end)
}

// Release ends the lifetime of the token in a slot, at a time. The kernel does not use it later.
func (s *Slot) Release(at unit.Time) {
	s.state = ended
	s.Read(at)
}

// Credit gives the oldest slot back if its lifetime and all reads of it have ended. It returns the
// time at which the credit leaves: at the end of the last use, and not before the previous credit.
// ok is false if the oldest slot is still in use.
func (r *Ring) Credit(slots []Slot, z *Sizing) (at unit.Time, ok bool) {
	if r.Returned == r.Taken {
		return 0, false
	}
	s := &slots[z.Slot(r.Returned)]
	if s.state != ended || s.reads > 0 {
		return 0, false
	}
	r.Returned++
	s.state = free
	r.lastCredit = max(r.lastCredit, s.Time)
	r.check(slots, z)
	return r.lastCredit, true
}
