package algorithm

import (
	"fmt"

	"kernbench/dtype"
	"kernbench/mem"
	"kernbench/tl"
)

// This file exchanges blocks whose sizes differ from pair to pair, and are known only to the
// two ranks of a pair. A rank's copy of the window has one slot for each rank that may send to
// it, all of one size, so that a block goes in chunks of up to a slot: put with the word that
// says that it is there, taken out, and credited with a word at the sender, which waits for
// that before it fills the slot again.
//
// Words count chunks from the first one of the window on, over calls, so that calls may follow
// one another on one window: the next call's first chunk waits for the credit of this one's
// last.
//
// Nobody waits for ever, whatever the counts. The exchange is cut into steps and a step into
// rounds: in round m of the step in which a pair has its turn, the sender puts chunk m, if
// there is one, and then the receiver takes it. Every rank goes through steps and rounds in the
// same order, puts first and then takes. To put chunk m a rank needs the credit of chunk m-1,
// which the receiver gives in an earlier round, and to take it the put of the same round: what
// anybody waits for, somebody else does strictly earlier in that order. So among all that are
// waiting, who is earliest in it waits for something that has been done.

// exchange is a call of a kernel that exchanges blocks.
type exchange struct {
	c             *tl.Context
	a             tl.Args
	me, n         int
	perServer     int // ranks
	data          tl.Sym
	slot          int       // elements
	ready, credit tl.Signal // word p is told by rank p
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

// rounds is the number of chunks of a block.
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

// partners are the i-th rank that this one sends to in a step, and the i-th that sends to it:
// all ranks of the server so many further on, and so many before. Everybody begins at its own
// place there, so that nobody gets two chunks at a time.
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

// round puts chunk m for each partner that has so many, and then takes chunk m from each.
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
	x.c.PipeBarrier() // slots are read before their senders hear that they may fill them again
	for i := range x.perServer {
		if _, from := x.partners(step, i); from != x.me && m < x.rounds(x.out(from)) {
			tell(x.c, x.credit.At(x.me), from)
		}
	}
}

// put fills the slot that this rank has at another.
func (x *exchange) put(to int, chunk tl.Ref) {
	if x.sent[to] > 0 {
		heed(x.c, x.credit.At(to), x.sent[to])
	}
	x.sent[to]++
	x.c.PutSignal(x.data.Slice(x.me*x.slot, chunk.Len()), to, chunk, x.ready.At(x.me), tl.SignalAdd, 1)
}

// take copies out of the slot that another rank has here.
func (x *exchange) take(chunk tl.Ref, from int) {
	x.taken[from]++
	heed(x.c, x.ready.At(from), x.taken[from])
	move(x.c, chunk, x.c.Local(x.data.Slice(from*x.slot, chunk.Len())))
}

// windowAllToAllV exchanges with all ranks in one step.
func windowAllToAllV(c *tl.Context, a tl.Args) {
	newExchange(c, a, c.WorldSize()).step(0)
}

// windowAllToAllVPairwise exchanges in steps: in step k a rank sends to the one k further on,
// and takes from the one k before, itself in step 0. Numbers of a launch say which steps to
// perform, the first one and how many, for those who perform an exchange in pieces; and as the
// third how many ranks make a server, where steps are between servers.
func windowAllToAllVPairwise(c *tl.Context, a tl.Args) {
	n, perServer := c.WorldSize(), 1
	if len(a.Ints) > 2 {
		perServer = a.Int(2)
	}
	if perServer < 1 || n%perServer != 0 {
		panic(fmt.Sprintf("servers of %d ranks among %d: all have as many, so the number must divide them", perServer, n))
	}
	first, number := 0, n/perServer
	if len(a.Ints) > 0 {
		first, number = a.Int(0), a.Int(1)
	}
	if first < 0 || number < 0 || number > n/perServer-first {
		panic(fmt.Sprintf("%d steps from step %d on: the steps are 0 to %d", number, first, n/perServer-1))
	}
	x := newExchange(c, a, perServer)
	for k := range number {
		x.step(first + k)
	}
}

// WindowAllToAllV exchanges with everybody at once.
var WindowAllToAllV = Register(Algorithm{
	Name:       "window_all_to_all_v",
	Summary:    "blocks of any size go to all ranks at once, in chunks of a slot of the receiver's symmetric window, each credited before the next",
	Collective: "all_to_all_v",
	Topology:   "none",
	Kernel:     windowAllToAllV,
	Check:      equalBlocks,
	Window:     exchangeWindow,
	Steps:      "1 step of ceil(largest block / slot) rounds",
	Cost:       "(N-1) beta M/N + 2 alpha for equal blocks of a slot: (N-1)/N M bytes and 2(N-1) notifications per rank",
	Source:     "MPI_Alltoallv, MPI: A Message-Passing Interface Standard 4.1, 6.8; credits by the slot: Kung, Blackwell, Chapman, Credit-based flow control for ATM networks, SIGCOMM 1994",
})

// WindowAllToAllVPairwise exchanges with one partner after the other.
var WindowAllToAllVPairwise = Register(Algorithm{
	Name:       "window_all_to_all_v_pairwise",
	Summary:    "blocks of any size, with one partner to send to and one to take from at a time, in chunks of a slot of a symmetric window",
	Collective: "all_to_all_v",
	Topology:   "none",
	Kernel:     windowAllToAllVPairwise,
	Check:      equalBlocks,
	Window:     exchangeWindow,
	Steps:      "N steps of ceil(block / slot) rounds",
	Cost:       "(N-1) (2 alpha + beta M/N) for equal blocks of a slot: (N-1)/N M bytes and 2(N-1) notifications per rank",
	Source:     "pairwise exchange: Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, Int. J. High Perform. Comput. Appl. 19(1), 2005",
})

// exchangeWindow has slots that together take what a rank brings, and words for chunks and
// credits.
func exchangeWindow(world, nElem int, t dtype.Type) (*mem.Layout, error) {
	if nElem >= 0 {
		nElem = max(nElem, world)
	}
	return scratchLayout(world, nElem, t, 2, meshRow(world))
}
