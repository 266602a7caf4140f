package sim

import (
	"cmp"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"kernbench/unit"
)

// A launch whose rings all have links of their own needs no order between its ranks: what each comes
// to depends on when its tokens and credits come, and not on when it hears of them. Where its record
// is shared too, so that no kernel runs any more, two goroutines follow one half of the ranks each, and
// tell one another what crosses. What comes out is the same whoever is faster; where something has gone
// wrong, both come to rest, and one goes on alone to say what.

// sidesFrom is the number of ranks from which a second goroutine is worth its start.
const sidesFrom = 64

// stepsBetween is how many steps a side takes until it looks what the other has told it: few, so that
// neither runs out of work, and enough for the looking to cost nothing.
const stepsBetween = 64

// spins is how often a side with nothing to do looks before it sleeps: some tens of microseconds.
const spins = 1 << 14

// crossing is a token or a credit of a ring for its end on the other side.
type crossing struct {
	at   unit.Time
	ring uint32
	form uint32 // of the token; 0: it is a credit
}

// side is what tells one of the two from the other.
type side struct {
	of    *sides   // where they meet, or
	in    *windows // by which they follow; nil: they tell each other at once
	me    int
	first int32 // of its ranks
	end   int32
	told  []crossing // for the other side, and not handed over yet
	spare []crossing
	left  *[2]atomic.Int64 // kernels of both sides

	reposted int64 // events that were looked at before their time
}

// sides is where they meet.
type sides struct {
	mu      sync.Mutex
	moved   sync.Cond
	box     [2][]crossing // what each side has been told
	full    [2]atomic.Bool
	resting int // sides that have nothing to do
	over    atomic.Bool
	faulty  atomic.Bool
	fault   int32 // rank of the first fault, as follow has it
	at      unit.Time
}

// half is the number of ranks that side 0 follows.
func (w *follow) half() int { return len(w.ranks) / 2 }

// sideOf is the side that follows a rank, where there are two.
func (w *follow) sideOf(rank int32) uint8 {
	if int(rank) < w.half() {
		return 0
	}
	return 1
}

// byTwo has two goroutines follow the launch, if that may be. Windows take some more events than one queue
// does, so that they do not depend on how many processors there are: the number of events must not.
func (w *follow) byTwo() error {
	switch {
	case !w.e.opts.SecondCore || len(w.ranks) < sidesFrom:
		return nil
	case w.private:
		if runtime.GOMAXPROCS(0) < 2 {
			return nil
		}
		return w.followSides()
	case min(w.lookahead, w.apart()) >= leastLookahead:
		return w.byWindows()
	}
	return nil
}

// followSides follows the launch until neither side has anything left to do.
func (w *follow) followSides() error {
	s := &sides{fault: -1}
	s.moved.L = &s.mu
	halves := [2]follow{*w, *w}
	w.makeSides(&halves)
	halves[0].side.of, halves[1].side.of = s, s
	var errs [2]error
	both(func(i int) { errs[i] = halves[i].followSide() }, s.end)
	w.join(&halves)
	w.fault, w.at = s.fault, s.at
	return cmp.Or(errs[0], errs[1])
}

// makeSides gives both halves their ranks.
func (w *follow) makeSides(halves *[2]follow) {
	left := new([2]atomic.Int64)
	for i := range halves {
		h := &halves[i]
		h.side = &side{me: i, first: int32(i * w.half()), end: int32(w.half() + i*(len(w.ranks)-w.half())), left: left}
		h.ready = w.ready[h.side.first:h.side.end:h.side.end]
		h.going, h.left = len(h.ready), len(h.ready)
		left[i].Store(int64(h.left))
	}
}

// join puts together what both halves have come to.
func (w *follow) join(halves *[2]follow) {
	w.going, w.left = 0, 0
	for i := range halves {
		h := &halves[i]
		w.left += h.left
		w.result.Messages += h.result.Messages
		w.result.Bytes += h.result.Bytes
		w.result.End, w.rest, w.reached = max(w.result.End, h.result.End), max(w.rest, h.rest), max(w.reached, h.reached)
	}
	w.joinPayloads(halves[0].payloads, halves[1].payloads)
}

// followSide follows the ranks of one side.
func (w *follow) followSide() error {
	x := w.side
	for {
		for range stepsBetween {
			if !w.catchUp() {
				break
			}
			w.until--
		}
		if w.until <= 0 {
			if err := w.look(); err != nil {
				x.of.end()
				return err
			}
			w.until = checkEvery
		}
		if !w.exchange() {
			return nil
		}
	}
}

// look says how far the launch has come, and tells whether it was cancelled.
func (w *follow) look() error {
	x := w.side
	x.left[x.me].Store(int64(w.left))
	if p := w.e.opts.Progress; p != nil && x.me == 0 {
		left := int(x.left[0].Load() + x.left[1].Load())
		p(len(w.ranks)-left, len(w.ranks), w.reached)
	}
	if err := w.ctx.Err(); err != nil {
		return fmt.Errorf("stopped at t=%v: %w", w.reached, err)
	}
	return nil
}

// exchange hands over what crosses, and waits for what comes where there is nothing else to do. It
// returns false when neither side has anything to do.
func (w *follow) exchange() bool {
	x := w.side
	s := x.of
	if s.over.Load() {
		return false
	}
	if w.fault >= 0 || s.faulty.Load() {
		w.agree()
	}
	for range spins {
		if w.going > 0 || len(x.told) > 0 || s.full[x.me].Load() {
			break
		}
	}
	if w.going > 0 && len(x.told) == 0 && !s.full[x.me].Load() {
		return true
	}
	other := 1 - x.me
	s.mu.Lock()
	if len(x.told) > 0 {
		s.box[other] = append(s.box[other], x.told...)
		x.told = x.told[:0]
		s.full[other].Store(true)
		s.moved.Signal()
	}
	for w.going == 0 && len(s.box[x.me]) == 0 && !s.over.Load() {
		if s.resting == 1 && len(s.box[other]) == 0 {
			s.over.Store(true)
			s.moved.Signal()
			break
		}
		s.resting++
		s.moved.Wait()
		s.resting--
	}
	came := s.box[x.me]
	s.box[x.me], x.spare = x.spare[:0], came
	s.full[x.me].Store(false)
	s.mu.Unlock()
	w.takeUp(came)
	return !s.over.Load()
}

// takeUp gives ranks what has come for them.
func (w *follow) takeUp(came []crossing) {
	for _, c := range came {
		if c.form == 0 {
			w.slotBack(c.ring, c.at)
		} else {
			w.come(c.ring, token{form: c.form}, c.at)
		}
	}
}

// agree settles which fault is the first.
func (w *follow) agree() {
	s := w.side.of
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.fault >= 0 && (s.fault < 0 || w.at < s.at || w.at == s.at && w.fault < s.fault) {
		s.fault, s.at = w.fault, w.at
		s.faulty.Store(true)
	}
	w.fault, w.at = s.fault, s.at
}

// end has both sides stop.
func (s *sides) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over.Store(true)
	s.moved.Broadcast()
}

// follows tells whether a rank is of this side.
func (x *side) follows(rank int32) bool { return rank >= x.first && rank < x.end }

func (x *side) tell(c crossing) { x.told = append(x.told, c) }
