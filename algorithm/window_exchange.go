package algorithm

import (
	"fmt"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// This file exchanges blocks whose sizes differ from pair to pair, and are known only to the two
// ranks of a pair. A rank's copy of the window has one slot for each rank that may send to it, all
// of one size. So a block goes in chunks of up to a slot. A chunk is put with a word that notifies
// its arrival, taken out, and credited by a word at the sender. The sender waits for the credit
// before it fills the slot again.
//
// Words count chunks from the first use of the window on, over all calls, so that calls may follow
// one another on one window. The first chunk of a call waits for the credit of the last chunk of
// the previous call.
//
// No rank waits forever, for any counts. The exchange is cut into steps and a step into rounds. In
// round m of the step in which a pair has its turn, the sender puts chunk m, if there is one. Then
// the receiver takes it. Every rank goes through steps and rounds in the same order, puts first and
// then takes. To put chunk m a rank needs the credit of chunk m-1, which the receiver gives in an
// earlier round. To take it a rank needs the put of the same round. So each wait is for an
// operation that is strictly earlier in that order. Of all waiting ranks, the one with the earliest
// wait needs an operation that is already done, so it does not wait forever.

// exchange is a call of a kernel that exchanges blocks.
type exchange struct {
	c             *tl.Context
	a             tl.Args
	me, n         int
	perServer     int // ranks
	data          tl.Sym
	slot          int       // elements
	ready, credit tl.Signal // word p is set by rank p
	sent, taken   []int     // chunks by peer, from the first of the window on
}

func newExchange(c *tl.Context, a tl.Args, perServer int) *exchange {
	w, n := a.Window(0), c.WorldSize()
	x := &exchange{c: c, a: a, me: c.Rank(), n: n, perServer: perServer, data: c.Data(w, "scratch.data").As(a.DType)}
	x.slot = x.data.Len() / n
	signals := c.Signals(w, "scratch.signals")
	x.ready, x.credit = row(c, signals, 0), row(c, signals, 1)
	uses := a.Uses
	if uses == nil {
		uses = make([]int, 2*n)
	}
	x.sent, x.taken = uses[:n], uses[n:2*n]
	return x
}

// chunk is chunk m of a block. There are rounds of them.
func (x *exchange) chunk(block tl.Ref, m int) tl.Ref {
	return block.Slice(m*x.slot, min(x.slot, block.Len()-m*x.slot))
}

// rounds returns the number of chunks of a block.
func (x *exchange) rounds(block tl.Ref) int {
	if block.Len() == 0 {
		return 0
	}
	if x.slot == 0 {
		panic(fmt.Sprintf("a window of %d elements for %d ranks: each needs a slot of one element at least", x.data.Len(), x.n))
	}
	return tl.CDiv(block.Len(), x.slot)
}

func (x *exchange) in(d int) tl.Ref  { return x.a.InBlock(x.me, x.n, d) }
func (x *exchange) out(s int) tl.Ref { return x.a.OutBlock(x.me, x.a.NElem, x.n, s) }

// partners returns the i-th rank that this one sends to in a step, and the i-th that sends to it.
// They are all ranks of the server `step` servers further on, and of the server `step` before.
// Every rank begins at its own place there, so that no rank gets two chunks at a time.
func (x *exchange) partners(step, i int) (to, from int) {
	l := x.perServer
	server, place, servers := x.me/l, x.me%l, x.n/l
	to = (server+step)%servers*l + (place+i)%l
	from = (server-step+servers)%servers*l + (place-i+l)%l
	return to, from
}

// step exchanges blocks with the partners of a step.
func (x *exchange) step(step int) {
	most := 0
	for i := range x.perServer {
		to, from := x.partners(step, i)
		if to == x.me {
			move(x.c, x.out(x.me), x.in(x.me))
			continue
		}
		most = max(most, x.rounds(x.in(to)), x.rounds(x.out(from)))
	}
	for m := range most {
		x.round(step, m)
	}
}

// round puts chunk m for each partner that has a chunk m, and then takes chunk m from each.
func (x *exchange) round(step, m int) {
	for i := range x.perServer {
		if to, _ := x.partners(step, i); to != x.me && m < x.rounds(x.in(to)) {
			x.put(to, x.chunk(x.in(to), m))
		}
	}
	took := false
	for i := range x.perServer {
		if _, from := x.partners(step, i); from != x.me && m < x.rounds(x.out(from)) {
			x.take(x.chunk(x.out(from), m), from)
			took = true
		}
	}
	if !took {
		return
	}
	x.c.PipeBarrier() // slots are read before their senders are notified that they may fill them again
	for i := range x.perServer {
		if _, from := x.partners(step, i); from != x.me && m < x.rounds(x.out(from)) {
			notify(x.c, x.credit.At(x.me), from)
		}
	}
}

// put fills the slot that this rank has at another.
func (x *exchange) put(to int, chunk tl.Ref) {
	if x.sent[to] > 0 {
		awaitWord(x.c, x.credit.At(to), x.sent[to])
	}
	x.sent[to]++
	x.c.PutSignal(x.data.Slice(x.me*x.slot, chunk.Len()), to, chunk, x.ready.At(x.me), tl.SignalAdd, 1)
}

// take copies out of the slot that another rank has here.
func (x *exchange) take(chunk tl.Ref, from int) {
	x.taken[from]++
	awaitWord(x.c, x.ready.At(from), x.taken[from])
	move(x.c, chunk, x.c.Local(x.data.Slice(from*x.slot, chunk.Len())))
}

// exchangeWindow has slots that together take what a rank brings, and words for chunks and
// credits.
func exchangeWindow(world, nElem int, t dtype.Type) (*mem.Layout, error) {
	if nElem >= 0 {
		nElem = max(nElem, world)
	}
	return scratchLayout(world, nElem, t, 2, meshRow(world))
}
