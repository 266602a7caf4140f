package mock

import (
	"kernbench/fault"
	"kernbench/mem"
	"kernbench/tl"
)

// watch is an actor that waits for words of a PE.
type watch struct {
	actor actor
	side  *tl.OneSided
}

// words holds what a run knows of waits for words.
type words struct {
	watches map[int32][]watch
	pollers []*rank // ranks that wait for any word to change
	changes uint64  // of words
	granted int     // rounds of polls granted since
}

// set changes a word, and wakes the actors whose wait it satisfies.
func (x *run) set(w *mem.Window, peer, word int32, v int64) {
	held := w.Words(int(peer))
	if held[word] == v {
		return
	}
	held[word] = v
	x.changes++
	x.show(w, peer)
}

// show wakes the actors whose wait the words of a member, or lines of packets there, satisfy. They
// look again in their turn, because words may have changed once more.
func (x *run) show(w *mem.Window, peer int32) {
	pe := w.Team.PEs[peer]
	all := x.watches[pe]
	left := all[:0]
	for _, o := range all {
		if o.side.Win != w {
			left = append(left, o)
		} else if o.side.Failing(0) < 0 {
			x.wake(o.actor)
		} else {
			left = append(left, o)
		}
	}
	x.watches[pe] = left
	x.granted = 0
	x.wakePollers()
}

// wakePollers resumes kernels that were parked after polls without success.
func (x *run) wakePollers() {
	for _, r := range x.pollers {
		x.wake(r)
	}
	x.pollers = x.pollers[:0]
}

// watch wakes an actor when words satisfy a comparison.
func (x *run) watch(a actor, side *tl.OneSided) {
	pe := side.Win.Team.PEs[side.Peer]
	x.watches[pe] = append(x.watches[pe], watch{a, side})
}

// waitWord waits until all words satisfy a comparison.
func (r *rank) waitWord(in *tl.Instr) {
	r.polls = polls{}
	x := in.Side
	for x.Failing(0) >= 0 {
		r.run.watch(r, x)
		r.park(forWord)
	}
	r.book.Seen(x)
}

// lookAtWords tests or reads words as they are.
func (r *rank) lookAtWords(in *tl.Instr) {
	x := in.Side
	failing := -1
	if in.Op == tl.OpReadWord {
		x.Got = x.Win.Words(int(x.Peer))[x.Word]
	} else {
		failing = x.Failing(0)
		x.Hit = failing < 0
	}
	r.book.Looked(in, failing)
	if x.Hit {
		r.polls = polls{}
	} else {
		r.polled(in)
	}
}

// polls distinguishes a kernel that spins from one that reads many words once. It counts how often
// the same read is repeated while no word changes and no other operation comes between.
type polls struct {
	changes uint64 // of words, when the count began
	n       int    // reads
	head    look   // the read whose repetition is counted
	again   int    // its repetitions
}

// look is a read of words, with its operands.
type look struct {
	op          tl.Op
	win         *mem.Window
	peer        int32
	word, words int32
	cmp         tl.Cmp
	value       int64
}

// A kernel that has read this often without success is parked until a word changes. A repeated read
// alone does not prove that it spins.
const (
	vainTests = 64
	vainReads = 256
)

// polled is called after a read without news. It yields to others, and parks a kernel that spins.
func (r *rank) polled(in *tl.Instr) {
	x, p := in.Side, &r.polls
	l := look{in.Op, x.Win, x.Peer, x.Word, int32(len(x.Words)), x.Cmp, x.Value}
	if in.Op == tl.OpCompareSwap {
		l.value = x.Expect
	}
	if p.n == 0 || p.changes != r.run.changes {
		*p = polls{changes: r.run.changes}
	}
	if p.n++; p.n&(p.n-1) == 0 { // a loop of any length repeats between two powers of two
		p.head, p.again = l, 0
	} else if p.head == l {
		p.again++
	}
	limit := vainTests
	if in.Op == tl.OpReadWord || in.Op == tl.OpFetchAdd {
		limit = vainReads
	}
	if p.again < limit {
		r.suspend()
		return
	}
	r.run.pollers = append(r.run.pollers, r)
	r.park(forChange)
	r.polls = polls{}
}

// requireAtomics rejects an atomic on another PE's word if the machine has none.
func (r *rank) requireAtomics(in *tl.Instr) {
	if x := in.Side; r.run.opts.NoAtomics && x.Win.Team.PEs[x.Peer] != r.pe {
		d := tl.DriverOf(r.kernel)
		d.Fail(&fault.Unsupported{Place: d.Place(in.Op.String()), What: "fabric.p2p_native_atomics"})
	}
}
