package mock

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"kernbench/fault"
)

// actor takes turns: a rank, a stream, or an effect in flight.
type actor interface {
	advance() // runs until it waits, yields, or ends
	sched() *schedState
}

// turns are the actors of a run, in the order of their turns.
type turns struct {
	actors []actor // ranks, or streams, programs and tasks
	left   int     // of them that have not ended
	gone   int     // actors that have ended and are still in the list
	random *rand.Rand
	ready  []actor // in random schedules: those that can take a turn
}

// schedState is the scheduling state of an actor.
type schedState struct {
	ready       bool // an event has happened that it may wait for
	over        bool // it has ended
	lowPriority bool // in random schedules: others nearly always go first
	spot        int  // index in run.ready and one, or 0
}

func (s *schedState) sched() *schedState { return s }

// wake makes an actor ready. Its turn comes when the current one ends.
func (x *run) wake(a actor) {
	s := a.sched()
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
	s := a.sched()
	if s.ready = false; s.spot == 0 {
		return
	}
	last := len(x.ready) - 1
	moved := x.ready[last]
	x.ready[s.spot-1] = moved
	moved.sched().spot = s.spot
	x.ready = x.ready[:last]
	s.spot = 0
}

// enter adds a rank or stream to those that must end.
func (x *run) enter(a actor) {
	x.actors = append(x.actors, a)
	x.left++
	x.wake(a)
}

// leave notes that one of them has ended.
func (x *run) leave(a actor) {
	x.sleep(a)
	a.sched().over = true
	x.left--
	x.gone++
}

// loop gives turns until all have ended or none is ready.
func (x *run) loop() error {
	if x.random != nil {
		return x.anyOrder()
	}
	for x.left > 0 {
		moved := false
		for i := 0; i < len(x.actors); i++ { // programs that start join at the end
			if a := x.actors[i]; a.sched().ready {
				moved = true
				if err := x.give(a); err != nil {
					return err
				}
				i -= x.forget(i)
			}
		}
		if !moved && !x.pollAgain() {
			return x.stuck()
		}
	}
	return nil
}

// anyOrder is loop for random schedules.
func (x *run) anyOrder() error {
	for x.left > 0 {
		if len(x.ready) == 0 && !x.pollAgain() {
			return x.stuck()
		}
		a := x.pick()
		a.sched().lowPriority = false
		if err := x.give(a); err != nil {
			return err
		}
		x.forget(-1)
	}
	return nil
}

// patience is the number of further polls granted to polling kernels when no other actor is ready.
// A kernel that counts its polls may give up and continue.
const patience = 32

// pollAgain resumes kernels that were parked after polls without success. It returns false if no
// polls are left.
func (x *run) pollAgain() bool {
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
	a.advance()
	return x.failed
}

// pick draws the next actor. One of low priority has its turn only after many others, so that
// its effects can come very late.
func (x *run) pick() actor {
	for range 8 {
		a := x.ready[x.random.IntN(len(x.ready))]
		if !a.sched().lowPriority || x.random.IntN(64) == 0 {
			return a
		}
	}
	return x.ready[x.random.IntN(len(x.ready))]
}

// oneIn returns true once in n times, and never in schedules that are not random.
func (x *run) oneIn(n int) bool { return x.random != nil && x.random.IntN(n) == 0 }

// forget drops ended actors, such as programs of grids, once they are many. It returns the number
// of them up to index at.
func (x *run) forget(at int) (before int) {
	if x.batch == nil || x.gone <= 16+len(x.actors)/2 {
		return 0
	}
	for _, a := range x.actors[:at+1] {
		if a.sched().over {
			before++
		}
	}
	x.actors = slices.DeleteFunc(x.actors, func(a actor) bool { return a.sched().over })
	x.gone = 0
	return before
}

// stuck explains why no rank can continue.
func (x *run) stuck() error {
	if x.batch != nil {
		return x.stall()
	}
	return x.deadlock()
}

// shuffled returns the source of a random schedule, or nil.
func shuffled(seed, launch uint64) *rand.Rand {
	if seed == 0 {
		return nil
	}
	return rand.New(rand.NewPCG(seed, launch))
}

// cancelled returns why a rank gave up: the launch was cancelled, or the kernel used a call that is
// for executors.
func (x *run) cancelled(r *rank) error {
	if err := x.ctx.Err(); err != nil {
		return fmt.Errorf("stopped: %w", err)
	}
	return &fault.Misuse{Place: fault.Place{Rank: r.index, Op: "abandon"}, Reason: "it is for executors: a kernel ends by returning"}
}
