package recorded

import (
	"context"
	"errors"

	"kernbench/exec/sim/values"
	"kernbench/program"
)

// If all ranks seem to do the same, the launch is replayed under that assumption, while a second
// goroutine runs all kernels and compares them. Only a result that the comparison confirms is
// reported. At the first difference the replay is discarded, and the program that the second
// goroutine has recorded is replayed. Kernels never run in parallel.

// guessFrom is the number of ranks from which on a guess pays for a second goroutine.
const guessFrom = 64

// guess returns the program in which all ranks do the same, if that seems likely, else nil.
func (l *Launch) guess(ctx context.Context) *program.Program {
	if !l.twoCores() || l.World() < guessFrom {
		return nil
	}
	return program.Guess(ctx, l.Launch, l.Options)
}

// onGuess replays a guess while kernels are recorded, and then applies the data of the recorded
// program. If the guess was wrong, it replays the recorded program instead.
func (l *Launch) onGuess(ctx context.Context, guess *program.Program) (Verdict, error) {
	inner, quit := context.WithCancel(ctx)
	defer quit()
	var (
		p       *program.Program
		refused string
		same    bool
	)
	recording := start(func() (err error) {
		if p, refused, err = l.Record(ctx, quit); p == nil || err != nil {
			quit()
			return err
		}
		if same = p.Same(guess); same && l.Data != nil {
			err = values.Apply(inner, l.Launch, p, l.Data)
		}
		return err
	})
	defer recording.wait() // also if this goroutine ends
	v, err := l.Replay(inner, guess)
	replayed := err == nil && v.Events == ""
	if !replayed {
		quit()
	}
	failed := recording.wait()
	switch {
	case ctx.Err() != nil:
		return Verdict{}, ctx.Err()
	case same:
		if replayed {
			err = failed
		}
		return v, err
	}
	l.Discard()
	switch {
	case errors.Is(failed, ErrExited): // a kernel did, and is to end this goroutine
		return Verdict{Events: failed.Error()}, nil
	case p == nil:
		return Verdict{Events: refused}, failed
	}
	return l.Whole(ctx, p)
}
