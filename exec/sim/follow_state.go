package sim

import (
	"kernbench/hw/noc"
	"kernbench/tl"
	"kernbench/unit"
)

// cell is what is known of a tensor.
type cell struct {
	ready unit.Time
	slot  int32 // in which it lies, or -1
	local bool  // has been loaded
}

// ring is both ends of a ring: what one does is next for the other. It fills a cache line, and has no
// pointer in it. The sender writes one half, the receiver the other.
type ring struct {
	own      noc.Private // way from TCM to TCM
	head     uint32      // tokens sent
	tail     uint32      // slots that came back
	from, to int32       // ranks
	manner   uint32
	payload  uint32  // 1 + in follow.payloads, once it has had a payload of several tokens
	out      uint8   // port of the sender
	private  bool    // its way is its own
	blocked  waiting // what the sender waits for
	hand     hand

	come  uint32    // tokens that have come
	taken uint32    // of which the kernel has taken
	given uint32    // slots given back
	sent  unit.Time // when the latest credit left
}

// hand is what the receiving kernel does at a ring.
type hand uint8

const (
	elsewhere hand = iota
	holding        // the slot of the token that it took last
	awaiting       // a token
)

// manner is what rings have in common between PEs that lie alike.
type manner struct {
	late   unit.Time // from a token's arrival until it is seen
	credit unit.Time // that a credit takes
}

// payload is the latest payload of a ring that took several tokens.
type payload struct {
	token
	next      int32
	slot      int32 // that its source lies in, or -1
	notBefore unit.Time
	accepted  unit.Time // when its latest token was
	open      bool      // not all tokens have been accepted
}

// token is the contents of a slot message: of a value from element off on.
type token struct {
	value tl.Value
	off   int32
	form  uint32
}

// slot is one slot of a ring.
type slot struct {
	// While it is empty: when its credit came. Once it is full: when its token became visible. Once
	// that is taken: the end of its last use so far.
	time  unit.Time
	form  uint32
	reads int16 // whose end is not known yet
	ended bool  // the kernel has let go
}

// noRing is the number of the ring of a port at which nobody sends. Nothing ever comes there.
const noRing = 0

// out is the ring that a rank sends into at a port.
func (w *follow) out(f *follower, port uint8) *ring { return &w.rings[w.ports[f.tx+uint32(port)]] }

// slotOf is the slot in which a ring has its n-th token.
func (w *follow) slotOf(id, n uint32) int32 {
	d := &w.perRing
	return int32(id*d.by + d.rest(n))
}

// joinPayloads makes one list of those that two sides have made for the rings into which their ranks send.
func (w *follow) joinPayloads(a, b []payload) {
	w.payloads = append(a, b...)
	for i := range w.rings {
		if r := &w.rings[i]; r.payload != 0 && w.sideOf(r.from) == 1 {
			r.payload += uint32(len(a))
		}
	}
}

// streaming tells whether a ring has a payload of which not all tokens have been accepted.
func (w *follow) streaming(r *ring) bool { return r.payload != 0 && w.payloads[r.payload-1].open }
