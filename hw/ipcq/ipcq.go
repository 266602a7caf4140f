// Package ipcq is the control plane of the rings through which PEs exchange messages:
// for each direction n_slots slots at the receiver, and four pointers that say which of
// them are free. It decides who may go on; what moves the bytes, and when, is decided
// elsewhere.
//
// It imports tl (for the values that a token carries), dtype and unit. Start at Tx, the
// sending end, and Rx, the receiving end.
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

// PartOf is token i of a payload of n elements split into slots of per elements each.
func (t Token) PartOf(i, per int) Token {
	t.Part, t.Off = int32(i), t.Off+int32(i*per)
	t.N = min(int32(per), t.Total-int32(i*per))
	return t
}

// Tx is the sending end of a ring. My head counts tokens sent, the peer's tail is what
// credits have told of it.
type Tx struct {
	MyHead        uint32
	PeerTailCache uint32
	Slots         uint32
	Stream        Stream
}

// Stream is a payload of which some tokens have not been accepted yet.
type Stream struct {
	Token     Token // of the payload as a whole
	Next      int32 // part to go
	Per       int32 // elements of a slot
	NotBefore unit.Time
	Slot      int32 // ring slot that the source lies in, or -1
	In        uint8 // ring of that slot
}

// Free is the number of slots that this end knows to be free.
func (t *Tx) Free() uint32 { return t.Slots - (t.MyHead - t.PeerTailCache) }

// Streaming tells whether a payload is still on its way in.
func (t *Tx) Streaming() bool { return t.Stream.Next < t.Stream.Token.Parts }

// Rx is the receiving end of a ring. The peer's head is what tokens have told of it; my
// tail counts slots given back.
type Rx struct {
	PeerHeadCache uint32 // tokens that are visible
	Taken         uint32 // tokens that the kernel has taken
	MyTail        uint32 // slots given back, in order
	lastCredit    unit.Time
	slots         []slot
}

// slot is the state of one slot at the receiver.
type slot struct {
	token Token
	end   unit.Time // of the last use so far: reads, and the kernel letting go
	reads int32     // reads whose end is not known yet
	ended bool      // the kernel has let go
	here  bool      // the token has arrived and not been taken
}

// Init makes the slots of a ring.
func (r *Rx) Init(slots int) { *r = Rx{slots: make([]slot, slots)} }

// Arrive puts token number seq of the ring into its slot. Tokens become visible in ring
// order: one that has overtaken another, on a faster way from another memory, waits for
// it. It returns the number of tokens that have become visible now.
func (r *Rx) Arrive(t Token, seq uint32) int {
	s := &r.slots[seq%uint32(len(r.slots))]
	s.token, s.here, s.end, s.ended = t, true, 0, false
	n := 0
	for {
		s := &r.slots[r.PeerHeadCache%uint32(len(r.slots))]
		if !s.here {
			return n
		}
		s.here = false
		r.PeerHeadCache++
		n++
	}
}

// Visible is the number of tokens that wait to be taken.
func (r *Rx) Visible() uint32 { return r.PeerHeadCache - r.Taken }

// Occupied is the number of slots that are not free.
func (r *Rx) Occupied() uint32 { return r.PeerHeadCache - r.MyTail }

// Peek is the next token to take.
func (r *Rx) Peek() *Token { return &r.slots[r.Taken%uint32(len(r.slots))].token }

// Take takes the next token and returns its slot. The slot is the kernel's until Release.
func (r *Rx) Take() (Token, int32) {
	i := r.Taken % uint32(len(r.slots))
	r.Taken++
	return r.slots[i].token, int32(i)
}

// Read notes a read of a slot that ends at a known time.
func (r *Rx) Read(slot int32, end unit.Time) { r.slots[slot].end = max(r.slots[slot].end, end) }

// BeginRead notes a read whose end will be told by EndRead.
func (r *Rx) BeginRead(slot int32) { r.slots[slot].reads++ }

// EndRead completes a BeginRead.
func (r *Rx) EndRead(slot int32, end unit.Time) {
	r.slots[slot].reads--
	r.Read(slot, end)
}

// Release ends the kernel's hold on a slot at a time.
func (r *Rx) Release(slot int32, at unit.Time) {
	r.slots[slot].ended = true
	r.Read(slot, at)
}

// Credit gives back the next slot, in ring order, that nobody uses any more, and says
// when its credit leaves: at the end of its last use, and not before the credits before
// it. ok is false when the oldest slot is still in use.
func (r *Rx) Credit() (at unit.Time, ok bool) {
	if r.MyTail == r.Taken {
		return 0, false
	}
	s := &r.slots[r.MyTail%uint32(len(r.slots))]
	if !s.ended || s.reads > 0 {
		return 0, false
	}
	r.MyTail++
	r.lastCredit = max(r.lastCredit, s.end)
	return r.lastCredit, true
}

// Overwritten tells whether the token that was number seq has been replaced in its slot.
func (r *Rx) Overwritten(seq uint32) bool { return r.PeerHeadCache-seq > uint32(len(r.slots)) }

// Wake is when a PE that found nothing at time since goes on, given that what it waits
// for came at time at: at once when that was before; otherwise at the next reading of the
// pointer, or after the interrupt.
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

// Bytes is the size of the token in a slot.
func (r *Rx) Bytes(slot int32) int64 { return r.slots[slot].token.Bytes() }

// Bytes is the size of a token's data.
func (t *Token) Bytes() int64 { return int64(t.N) * int64(t.Type.Size()) }
