package algorithm

import "kernbench/tl"

// ringPipeline is a vector of n chunks that n ranks reduce, gather, or both, on a ring. Partial
// sums travel for n-1 steps, and each rank adds its own part. Complete chunks travel for n-1
// steps, and each rank keeps a copy. After the reducing steps a rank has the complete chunk me+1,
// counted around the ring.
//
// A chunk is sent in pieces, several of them in flight. While one piece is in flight, the previous
// piece is added and sent on, and the operand of the next piece is loaded. A rank sends no more
// pieces than it has yet to receive. It leaves a quarter of the slots free. So it does not wait for
// the credit of a slot that is held until the next piece.
type ringPipeline struct {
	to, from tl.Dir
	me, n    int // place in the ring, counted in the direction of the chunks

	reduces, gathers bool
	ranks            int                // ranks whose parts a complete chunk holds; 0: n
	partial          bool               // ranks outside the ring still add to it
	brings           func(k int) tl.Ref // this rank's part of chunk k; without reduces, of chunk me+1 only
	keeps            func(k int) tl.Ref // where chunk k of the result goes; without gathers, chunk me+1 only

	ringPieces
	sent, received course

	// One per piece in flight: the rank's first piece, the piece to send next, and the operand for
	// the piece to come.
	first, inHand, adds []tl.Tensor
}

// steps returns how often each piece is sent.
func (l *ringPipeline) steps() int {
	steps := 0
	if l.reduces {
		steps += l.n - 1
	}
	if l.gathers {
		steps += l.n - 1
	}
	return steps
}

// ringPieces is the division of a ring's chunks: the number of pieces is a multiple of those in
// flight.
type ringPieces struct {
	number, flight int
	lead           int // inStep only, else 0: pieces that are sent before one is received
}

// longPiece is the largest piece of a ring with small slots. It passes through them in parts.
const longPiece = 256 << 10

// largeSlot is the smallest slot for which a piece is one slot, unless ChunkBytes sets a size.
const largeSlot = 32 << 10

// piecesOf divides chunks of at most chunk elements, for pipelines that run in parallel. Pieces
// that fit in a slot can be in flight together. A larger piece waits for the one before to pass.
func piecesOf(c *tl.Context, a *tl.Args, chunk, pipelines int) ringPieces {
	slots, slot := c.Slots()
	scratch := c.ScratchBytes() / int64(pipelines)
	bytes := min(longPiece, scratch/8) // four of them exist at a time
	switch {
	case a.ChunkBytes > 0:
		bytes = min(bytes, a.ChunkBytes)
	case slot >= largeSlot && slots > 2:
		bytes = min(slot, scratch/16)
		whole := int64(chunk) * int64(a.DType.Size())
		if a.Channels > 0 && pipelines == 1 && whole > bytes && whole <= min(scratch/2, int64(a.Channels)*slot) {
			number := int((whole + bytes - 1) / bytes)
			return ringPieces{number, number, max(1, min(slots-slots/4, int(scratch/8/bytes)))}
		}
	}
	flight := 1
	if bytes <= slot {
		flight = int(max(1, min(int64(slots-max(1, slots/4)), scratch/4/bytes)))
	}
	number := max(1, tl.CDiv(chunk, max(1, int(bytes)/a.DType.Size())))
	flight = min(flight, number)
	return ringPieces{tl.CDiv(number, flight) * flight, flight, 0}
}

// goRound takes all pipelines through all their steps, in parallel: all send before any receives.
// Longer rings, which take more steps, come first.
func goRound(c *tl.Context, op tl.ReduceOp, p ringPieces, pipelines ...*ringPipeline) {
	if pipelines[0].n == 1 {
		for _, l := range pipelines {
			move(c, l.keeps(0), l.brings(0))
		}
		return
	}
	for _, l := range pipelines {
		hands := make([]tl.Tensor, 3*p.flight)
		l.ringPieces, l.first, l.inHand, l.adds = p, hands[:p.flight], hands[p.flight:2*p.flight], hands[2*p.flight:]
		l.sent.steps, l.received.steps = l.steps(), l.steps()
	}
	for piece := range p.flight {
		for _, l := range pipelines {
			l.begin(c, piece, piece)
		}
	}
	if p.lead > 0 {
		pipelines[0].inStep(c, op)
		return
	}
	sending, receiving := pipelines, pipelines // those that have not finished
	for turn := 0; len(receiving) > 0; turn++ {
		if turn >= p.flight {
			for _, l := range receiving {
				l.receive(c, op)
			}
			for _, l := range receiving {
				l.complete(c, op)
			}
			for n := len(receiving); n > 0 && receiving[n-1].received.first == p.number; n-- {
				receiving = receiving[:n-1]
			}
		}
		for _, l := range sending {
			l.send(c)
		}
		for n := len(sending); n > 0 && sending[n-1].sent.first == p.number; n-- {
			sending = sending[:n-1]
		}
	}
}

// inStep takes a chunk through all its steps, one after the other. Channels of a machine share its
// links evenly, so that all parts of a chunk arrive together. Each channel sends its part on when
// it has all of it. So a piece waits for all pieces of the step before.
func (l *ringPipeline) inStep(c *tl.Context, op tl.ReduceOp) {
	waiting := 0
	receive := func() {
		l.receive(c, op)
		l.complete(c, op)
		waiting--
	}
	for range l.steps() * l.number {
		for waiting > 0 && (l.sent.place == 0 || waiting == l.lead) {
			receive()
		}
		l.send(c)
		waiting++
	}
	for waiting > 0 {
		receive()
	}
}

// course is the progress of a pipeline. The pieces in flight take all their steps together before
// the next ones start.
type course struct {
	step, steps int
	place       int // of a piece among those in flight
	first       int // of these pieces
}

func (t *course) next(flight int) {
	if t.place++; t.place < flight {
		return
	}
	t.place = 0
	if t.step++; t.step == t.steps {
		t.step = 0
		t.first += flight
	}
}

// piece returns piece i of a chunk.
func (l *ringPipeline) piece(chunk tl.Ref, i int) tl.Ref {
	if l.number == 1 {
		return chunk
	}
	return chunk.Chunk(l.number, i)
}

// before returns the chunk that is steps before this rank's, as topology.RingStep counts them.
func (l *ringPipeline) before(steps int) int {
	if k := l.me - steps; k >= 0 {
		return k
	}
	return l.me - steps + l.n
}

// begin starts to load a piece of the chunk that this rank begins with.
func (l *ringPipeline) begin(c *tl.Context, place, piece int) {
	l.first[place] = c.Load(l.piece(l.brings(l.own()), piece))
}

// own returns the chunk that this rank begins with.
func (l *ringPipeline) own() int {
	if l.reduces {
		return l.me
	}
	return (l.me + 1) % l.n
}

// send sends the next piece. It starts to load the operand for the piece that arrives in its
// place, or the first piece that is sent after it.
func (l *ringPipeline) send(c *tl.Context) {
	t := &l.sent
	piece, hand := t.first+t.place, &l.inHand[t.place]
	if t.step == 0 {
		*hand = l.first[t.place]
		if !l.reduces && l.keeps(l.own()).Addr != l.brings(l.own()).Addr {
			c.Store(l.piece(l.keeps(l.own()), piece), *hand)
		}
	}
	if next := piece + l.flight; t.step == t.steps-1 && next < l.number {
		l.begin(c, t.place, next)
	}
	if l.reduces && t.step < l.n-1 {
		l.adds[t.place] = c.Load(l.piece(l.brings(l.before(t.step+1)), piece))
	}
	if l.lead > 0 && t.step > 0 && !(l.reduces && t.step < l.n) {
		*hand = c.Load(l.piece(l.keeps(l.before(l.gathered(t.step-1))), piece)) // its slot has been given back
	}
	c.Send(l.to, *hand)
	c.Free(*hand)
	t.next(l.flight)
}

// receive takes the piece that replaces one that was sent.
func (l *ringPipeline) receive(c *tl.Context, op tl.ReduceOp) {
	t := &l.received
	hand := &l.inHand[t.place]
	if l.reduces && t.step < l.n-1 {
		own := &l.adds[t.place]
		*hand = c.Combine(op, *own, c.Recv(l.from, own.Shape(), own.DType()))
		c.Free(*own)
		return
	}
	kept := l.piece(l.keeps(l.before(l.gathered(t.step))), t.first+t.place)
	*hand = c.Recv(l.from, kept.Shape, kept.DType)
	c.Store(kept, *hand)
}

// gathered returns the number of a step among the steps that gather.
func (l *ringPipeline) gathered(step int) int {
	if l.reduces {
		return step - (l.n - 1)
	}
	return step
}

// complete stores a piece to which all ranks have added.
func (l *ringPipeline) complete(c *tl.Context, op tl.ReduceOp) {
	t := &l.received
	if l.reduces && t.step == l.n-2 {
		hand := &l.inHand[t.place]
		if !l.partial {
			*hand = c.Finish(op, *hand, max(l.ranks, l.n))
		}
		c.Store(l.piece(l.keeps((l.me+1)%l.n), t.first+t.place), *hand)
	}
	t.next(l.flight)
}
