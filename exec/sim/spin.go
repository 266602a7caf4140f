package sim

import (
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/unit"
)

// spinLimit is the number of polls without effect after which a kernel is parked until a word
// changes. Without it, a kernel that polls in a loop would run for ever if no agent can change the
// word. The kernel continues at the time of its next poll, so a long wait costs no events.
const spinLimit = 256

// patience is the total number of polls granted once no other event is left. A kernel that counts
// its polls may give up and continue.
const patience = 1 << 15

// spin counts the successive polls of a rank, without other instructions between them.
type spin struct {
	polls   int32     // number of them
	changes uint64    // run.changes at each of them
	head    looked    // the poll that begins a round of the loop
	last    unit.Time // its latest time
	period  unit.Time // of a round
	began   unit.Time
}

// looked identifies a poll by its word and condition.
type looked struct {
	win           *mem.Window
	value, expect int64
	peer, word    int32
	words         int32
	op            tl.Op
	cmp           tl.Cmp
}

// spins counts a poll that was made at the rank's clock, and reports whether it is time to give
// up polling.
func (r *rank) spins(in *tl.Instr) bool {
	x, s, side := r.run, &r.spin, in.Side
	l := looked{side.Win, side.Value, side.Expect, side.Peer, side.Word, int32(len(side.Words)), in.Op, side.Cmp}
	if s.polls == 0 || s.changes != x.changes {
		*s = spin{changes: x.changes, began: r.Clock}
	}
	if s.polls++; s.polls&(s.polls-1) == 0 { // a loop of any length has a whole round between two powers of two
		s.head, s.last = l, r.Clock
		return false
	}
	if l != s.head {
		return false
	}
	s.period, s.last = max(1, r.Clock-s.last), r.Clock
	return s.polls > spinLimit
}

// parkSpinning parks a spinning rank until a word changes.
func (r *rank) parkSpinning() {
	x := r.run
	x.spinning = append(x.spinning, r.id)
	r.park(forChange)
	r.spin.polls = 1
}

// resumeSpinning resumes all spinning ranks, each at its first poll that is not in the past.
func (x *run) resumeSpinning(now unit.Time) {
	for _, id := range x.spinning {
		r := &x.ranks[id]
		s := &r.spin
		r.Clock = s.last + (max(0, now-s.last)+s.period-1)/s.period*s.period
		if r.causes != nil {
			r.causes.pending = x.current
		}
		r.resumeAt(r.Clock)
	}
	x.spinning = x.spinning[:0]
}

// pollAgain resumes spinning ranks though no other event is left. It returns false if no polls are
// left.
func (x *run) pollAgain() bool {
	if len(x.spinning) == 0 || x.granted >= patience {
		return false
	}
	x.granted += spinLimit * len(x.spinning)
	x.resumeSpinning(x.e.q.Now())
	return true
}
