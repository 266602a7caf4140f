package algorithm

import (
	"kernbench/tl"
	"kernbench/topology"
)

// lane is a vector that n ranks reduce, gather, or both, on a ring, in n chunks that go from hand
// to hand: partial sums for n-1 steps, of which each rank adds its own part, and then what is
// complete for n-1 steps, of which each rank keeps a copy. A rank that brings chunks and keeps
// them nowhere else ends with the sum of chunk me+1.
//
// A chunk goes in pieces, several of them in flight: while one is on its way the one before it is
// added and sent on, and what is added to the one behind it is loaded. A rank sends no more pieces
// than it has yet to receive, and leaves a quarter of the slots free: while the credits of those are
// on their way back, nobody waits for the one of a slot that is held until the next piece.
type lane struct {
	to, from tl.Dir
	me, n    int // place in the ring, counted the way that the chunks go

	reduces, gathers bool
	ranks            int                // that have added to what is complete; 0: those of the ring
	partial          bool               // others are to add to it
	brings           func(k int) tl.Ref // what this rank has of chunk k: of all that are reduced, or of chunk me+1
	keeps            func(k int) tl.Ref // where chunk k of the result goes: chunk me+1, and all that are gathered

	// By piece in flight: what the rank begins with, what it sends next, and what it adds to what comes.
	first, inHand, adds []tl.Tensor
}

// steps is how often a piece is sent.
func (l *lane) steps() int {
	steps := 0
	if l.reduces {
		steps += l.n - 1
	}
	if l.gathers {
		steps += l.n - 1
	}
	return steps
}

// ringPieces is how the chunks of a ring are cut: their number, a multiple of those in flight.
type ringPieces struct {
	number, flight int
}

// longPiece is the largest piece of a ring whose slots are small, through which it streams.
const longPiece = 256 << 10

// largeSlot is how large a slot is that takes a piece whole, unless a size is asked for.
const largeSlot = 32 << 10

// piecesOf cuts chunks of up to so many elements, of so many lanes side by side. Pieces that fit
// in a slot can be in flight together; of others the next waits until the one before is through.
func piecesOf(c *tl.Context, a tl.Args, chunk, lanes int) ringPieces {
	slots, slot := c.Slots()
	scratch := c.ScratchBytes() / int64(lanes)
	bytes := min(longPiece, scratch/8) // four of them are there at a time
	switch {
	case a.ChunkBytes > 0:
		bytes = min(bytes, a.ChunkBytes)
	case slot >= largeSlot && slots > 2:
		bytes = min(slot, scratch/16)
	}
	flight := 1
	if bytes <= slot {
		flight = int(max(1, min(int64(slots-max(1, slots/4)), scratch/4/bytes)))
	}
	number := max(1, tl.CDiv(chunk, max(1, int(bytes)/a.DType.Size())))
	flight = min(flight, number)
	return ringPieces{tl.CDiv(number, flight) * flight, flight}
}

// goRound takes all lanes through all their steps, side by side: all send before any receives.
func goRound(c *tl.Context, op tl.ReduceOp, p ringPieces, lanes ...*lane) {
	for _, l := range lanes {
		l.first, l.inHand, l.adds = make([]tl.Tensor, p.flight), make([]tl.Tensor, p.flight), make([]tl.Tensor, p.flight)
	}
	if lanes[0].n == 1 {
		for _, l := range lanes {
			move(c, l.keeps(0), l.brings(0))
		}
		return
	}
	turns := 0
	for _, l := range lanes {
		turns = max(turns, p.number*l.steps())
	}
	for turn := range p.flight {
		for _, l := range lanes {
			l.begin(c, p.at(turn, l.steps()))
		}
	}
	for turn := range turns + p.flight {
		if before := turn - p.flight; before >= 0 {
			for _, l := range p.busy(lanes, before) {
				l.receive(c, op, p.at(before, l.steps()))
			}
			for _, l := range p.busy(lanes, before) {
				l.complete(c, op, p.at(before, l.steps()))
			}
		}
		if turn < turns {
			for _, l := range p.busy(lanes, turn) {
				l.send(c, p.at(turn, l.steps()))
			}
		}
	}
}

// busy are the lanes that are not through. Longer rings, which take more steps, come first.
func (p ringPieces) busy(lanes []*lane, turn int) []*lane {
	n := len(lanes)
	for n > 0 && turn >= p.number*lanes[n-1].steps() {
		n--
	}
	return lanes[:n]
}

// turn is what a rank does with a piece in one step.
type turn struct {
	step   int
	place  int // among those in flight
	pieces int
	piece  int
}

// at is the turn of a number: those in flight take all their steps together before the next ones
// start.
func (p ringPieces) at(i, steps int) turn {
	wave, rest := i/(p.flight*steps), i%(p.flight*steps)
	return turn{rest / p.flight, rest % p.flight, p.number, wave*p.flight + rest%p.flight}
}

func (t turn) of(chunk tl.Ref) tl.Ref { return chunk.Chunk(t.pieces, t.piece) }

// begin starts to load a piece that no other rank has had.
func (l *lane) begin(c *tl.Context, t turn) {
	l.first[t.place] = c.Load(t.of(l.brings(l.own())))
}

// own is the chunk that this rank begins with.
func (l *lane) own() int {
	if l.reduces {
		return l.me
	}
	return (l.me + 1) % l.n
}

// send sends the piece in hand, and starts to load what is added to the one that comes instead,
// or the one that goes then.
func (l *lane) send(c *tl.Context, t turn) {
	if t.step == 0 {
		l.inHand[t.place] = l.first[t.place]
		if !l.reduces && l.keeps(l.own()).Addr != l.brings(l.own()).Addr {
			c.Store(t.of(l.keeps(l.own())), l.inHand[t.place])
		}
	}
	if next := t.piece + len(l.first); t.step == l.steps()-1 && next < t.pieces {
		l.begin(c, turn{place: t.place, pieces: t.pieces, piece: next})
	}
	if l.reduces && t.step < l.n-1 {
		_, k := topology.RingStep(l.me, t.step, l.n)
		l.adds[t.place] = c.Load(t.of(l.brings(k)))
	}
	c.Send(l.to, l.inHand[t.place])
	c.Free(l.inHand[t.place])
}

// receive takes the piece that comes instead of one that was sent.
func (l *lane) receive(c *tl.Context, op tl.ReduceOp, t turn) {
	if l.reduces && t.step < l.n-1 {
		own := l.adds[t.place]
		l.inHand[t.place] = c.Combine(op, own, c.Recv(l.from, own.Shape(), own.DType()))
		c.Free(own)
		return
	}
	step := t.step
	if l.reduces {
		step -= l.n - 1
	}
	_, k := topology.RingGatherStep(l.me, step, l.n)
	kept := t.of(l.keeps(k))
	got := c.Recv(l.from, kept.Shape, kept.DType)
	c.Store(kept, got)
	l.inHand[t.place] = got
}

// complete stores a piece to which all ranks have added.
func (l *lane) complete(c *tl.Context, op tl.ReduceOp, t turn) {
	if l.reduces && t.step == l.n-2 {
		if ranks := max(l.ranks, l.n); !l.partial {
			l.inHand[t.place] = c.Finish(op, l.inHand[t.place], ranks)
		}
		c.Store(t.of(l.keeps((l.me+1)%l.n)), l.inHand[t.place])
	}
}
