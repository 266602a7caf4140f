package mock

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"kernbench/fault"
)

// actor is something that takes turns: a rank, a stream, an effect that is on its way.
type actor interface {
	turn() // goes on until it must wait, gives way, or is done
	turns() *standing
}

// turns are the actors of a run, in the order of their turns.
type turns struct {
	actors []actor // ranks, or streams, programs and tasks
	left   int     // of them that have not ended
	gone   int     // that have, and are still in actors
	random *rand.Rand
	ready  []actor // in random schedules: those that can take a turn
}

// standing is where an actor stands.
type standing struct {
	ready bool // something has happened that it may have waited for
	over  bool // it will not take another turn
	lazy  bool // in random schedules: others go first, nearly always
	spot  int  // index in run.ready and one, or 0
}

func (s *standing) turns() *standing { return s }

// wake makes an actor take turns, once the one that has the turn waits.
func (x *run) wake(a actor) {
	s := a.turns()
	if s.over {
		return
	}
	if s.ready = true; x.random != nil && s.spot == 0 {
		x.ready = append(x.ready, a)
		s.spot = len(x.ready)
	}
}

// sleep takes turns from an actor until something wakes it.
func (x *run) sleep(a actor) {
	s := a.turns()
	if s.ready = false; s.spot == 0 {
		return
	}
	last := len(x.ready) - 1
	moved := x.ready[last]
	x.ready[s.spot-1] = moved
	moved.turns().spot = s.spot
	x.ready = x.ready[:last]
	s.spot = 0
}

// enter gives a rank or stream its place among those that must end.
func (x *run) enter(a actor) {
	x.actors = append(x.actors, a)
	x.left++
	x.wake(a)
}

// leave says that one of them has ended.
func (x *run) leave(a actor) {
	x.sleep(a)
	a.turns().over = true
	x.left--
	x.gone++
}

// loop gives turns until all have ended or none can go on.
func (x *run) loop() error {
	if x.random != nil {
		return x.anyOrder()
	}
	for x.left > 0 {
		moved := false
		for i := 0; i < len(x.actors); i++ { // programs that start join at the end
			if a := x.actors[i]; a.turns().ready {
				moved = true
				if err := x.give(a); err != nil {
					return err
				}
				i -= x.forget(i)
			}
		}
		if !moved && !x.patient() {
			return x.stuck()
		}
	}
	return nil
}

// anyOrder is loop for random schedules.
func (x *run) anyOrder() error {
	for x.left > 0 {
		if len(x.ready) == 0 && !x.patient() {
			return x.stuck()
		}
		a := x.pick()
		a.turns().lazy = false
		if err := x.give(a); err != nil {
			return err
		}
		x.forget(-1)
	}
	return nil
}

// patience is how often kernels that poll in vain are let poll on when no other rank can do
// anything: one that counts its polls may give up, and do something.
const patience = 32

// patient lets kernels that are parked for having polled in vain poll on, if they may.
func (x *run) patient() bool {
	if x.granted == patience || len(x.pollers) == 0 {
		return false
	}
	x.granted++
	x.wakePollers()
	return true
}

// give gives one turn.
func (x *run) give(a actor) error {
	if err := x.ctx.Err(); err != nil {
		return fmt.Errorf("stopped: %w", err)
	}
	a.turn()
	return x.failed
}

// pick draws who is next. Mostly no rank is lazy: one that was drawn and is has its turn only
// after many others, so that what it does may come very late.
func (x *run) pick() actor {
	for range 8 {
		a := x.ready[x.random.IntN(len(x.ready))]
		if !a.turns().lazy || x.random.IntN(64) == 0 {
			return a
		}
	}
	return x.ready[x.random.IntN(len(x.ready))]
}

// chance is true once in n times, and never in schedules that are not random.
func (x *run) chance(n int) bool { return x.random != nil && x.random.IntN(n) == 0 }

// forget drops those that have ended, once they are many: programs of grids. It tells how many
// of them there were up to index at.
func (x *run) forget(at int) (before int) {
	if x.batch == nil || x.gone <= 16+len(x.actors)/2 {
		return 0
	}
	for _, a := range x.actors[:at+1] {
		if a.turns().over {
			before++
		}
	}
	x.actors = slices.DeleteFunc(x.actors, func(a actor) bool { return a.turns().over })
	x.gone = 0
	return before
}

// stuck explains why no rank can go on.
func (x *run) stuck() error {
	if x.batch != nil {
		return x.stall()
	}
	return x.deadlock()
}

// shuffled is the source of a random schedule, or nil.
func shuffled(seed, launch uint64) *rand.Rand {
	if seed == 0 {
		return nil
	}
	return rand.New(rand.NewPCG(seed, launch))
}

// cancelled is why a rank gave up: the launch was cancelled, or, when it was not, the kernel
// did what is for executors.
func (x *run) cancelled(r *rank) error {
	if err := x.ctx.Err(); err != nil {
		return fmt.Errorf("stopped: %w", err)
	}
	return &fault.Misuse{Place: fault.Place{Rank: r.index, Op: "abandon"}, Reason: "it is for executors: a kernel ends by returning"}
}
