// Package recorded performs a launch from its program. It records and compares the kernels of all
// ranks, replays the program for its times, and applies its data in parallel. With a second
// processor the replay begins before all kernels are compared: see guess.go.
//
// It may import exec/sim/values, program, record/oplog, tl/launch, unit and what these import.
// Start at Launch.
package recorded

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"kernbench/exec/sim/values"
	"kernbench/program"
	"kernbench/record/oplog"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// ErrExited is the error of work whose goroutine a kernel has ended.
var ErrExited = errors.New("a kernel ended its goroutine")

// Launch is a launch that may be performed from its program.
type Launch struct {
	*launch.Launch
	Options    program.Options // of the recording
	Data       *oplog.Log      // receives the program's effects on values; nil for times only
	SecondCore bool            // a second processor may be used, if there is one

	// Replay computes and keeps the times of a program. If it returns an error, or a verdict that
	// events are needed, the launch has no effect.
	Replay func(ctx context.Context, p *program.Program) (Verdict, error)

	// Discard drops the times that Replay has kept.
	Discard func()
}

// Verdict is the outcome of an attempt to replay a launch.
type Verdict struct {
	Events    string // why the launch needs event-driven simulation; "": it is replayed
	Irregular bool   // the reason is a program that does not run to its end; data may be changed
}

// Run performs a launch from its program if possible.
func (l *Launch) Run(ctx context.Context) (Verdict, error) {
	if guess := l.guess(ctx); guess != nil {
		return l.onGuess(ctx, guess)
	}
	p, refused, err := l.Record(ctx, nil)
	if p == nil || err != nil {
		return Verdict{Events: refused}, err
	}
	return l.Whole(ctx, p)
}

// twoCores reports whether there is a second processor to use.
func (l *Launch) twoCores() bool { return l.SecondCore && runtime.GOMAXPROCS(0) > 1 }

// Record returns the program of the launch, or nil and the reason if it cannot be replayed. The
// error is that of ctx. differ is called when a rank differs from the first; it may be nil.
func (l *Launch) Record(ctx context.Context, differ func()) (p *program.Program, refused string, err error) {
	o := l.Options
	o.Differ = differ
	p, err = program.RecordLaunch(ctx, l.Launch, o)
	var refusal *program.Refusal
	switch {
	case err == nil:
		return p, "", nil
	case ctx.Err() != nil:
		return nil, "", err
	case errors.As(err, &refusal):
		return nil, refusal.Error(), nil
	case errors.Is(err, program.ErrBudget):
		return nil, fmt.Sprintf("the program takes more than %v", unit.Bytes(program.DefaultBudget)), nil
	}
	return nil, "a kernel fails", nil
}

// Whole replays a program, and applies its data in parallel.
func (l *Launch) Whole(ctx context.Context, p *program.Program) (Verdict, error) {
	if p.Long && l.Data != nil {
		return Verdict{Events: fmt.Sprintf("data of a program of more than %v", unit.Bytes(program.DefaultBudget))}, nil
	}
	if !l.twoCores() || l.Data == nil {
		if v, err := l.Replay(ctx, p); err != nil || v.Events != "" || l.Data == nil {
			return v, err
		}
		return Verdict{}, values.Apply(ctx, l.Launch, p, l.Data)
	}
	inner, quit := context.WithCancel(ctx)
	defer quit()
	data := start(func() error { return values.Apply(inner, l.Launch, p, l.Data) })
	defer data.wait() // also if this goroutine ends
	if v, err := l.Replay(ctx, p); err != nil || v.Events != "" {
		quit()
		return v, err
	}
	return Verdict{}, data.wait()
}
