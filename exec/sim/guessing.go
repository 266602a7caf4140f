package sim

import (
	"context"
	"errors"

	"kernbench/exec/sim/values"
	"kernbench/program"
)

// A launch in which all ranks seem to do the same is replayed as if they did, while a second
// goroutine runs all kernels and compares them. Only a result that the comparison confirms is
// reported: at the first rank that differs the replay is discarded, and the launch is replayed
// from what the second goroutine has recorded. Kernels never run side by side.

// guessFrom is the number of ranks from which a guess is worth a second goroutine.
const guessFrom = 64

// guess returns the program in which all ranks do the same, if it seems so; else nil.
func (r *replaying) guess(ctx context.Context) *program.Program {
	if !r.e.twoCores() || r.l.World() < guessFrom {
		return nil
	}
	return program.Guess(ctx, r.l, r.options(nil))
}

// onGuess replays a guess while kernels are recorded, and then carries out the data of what was
// recorded. Where the guess was wrong it replays what was recorded instead.
func (r *replaying) onGuess(ctx context.Context, guess *program.Program) error {
	inner, quit := context.WithCancel(ctx)
	defer quit()
	var (
		p       *program.Program
		refused string
		same    bool
	)
	beside := start(func() (err error) {
		if p, refused, err = r.record(ctx, quit); p == nil || err != nil {
			quit()
			return err
		}
		if same = p.Same(guess); same && r.e.opts.Data != nil {
			err = values.Apply(inner, r.l, p, r.e.opts.Data)
		}
		return err
	})
	defer beside.wait() // also if this goroutine ends
	err := r.times(inner, guess)
	if r.result == nil {
		quit()
	}
	failed := beside.wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case same:
		if r.result != nil {
			err = failed
		}
		return err
	}
	r.discard()
	switch {
	case errors.Is(failed, errExited): // a kernel did, and is to end this goroutine
		r.verdict = verdict{events: failed.Error()}
		return nil
	case p == nil:
		r.verdict = verdict{events: refused}
		return failed
	}
	return r.whole(ctx, p)
}
