package sim

import (
	"context"
	"errors"
	"kernbench/hw"
	"kernbench/hw/noc"

	"kernbench/exec/sim/values"
	"kernbench/program"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// NotReplayed returns why a launch is not replayed, or "". It replays the launch to find out.
func (e *Executor) NotReplayed(ctx context.Context, l *launch.Launch) (string, error) {
	_, why, err := e.replayed(ctx, l)
	return why.Events, err
}

// Lockstep carries out the data of a launch, and nothing else.
func (e *Executor) Lockstep(ctx context.Context, l *launch.Launch) error {
	r := &replaying{e: e, l: l, start: e.Now()}
	p, reason, err := r.recorded().Record(ctx, nil)
	if err != nil {
		return err
	}
	if p == nil {
		return errors.New(reason)
	}
	return values.Apply(ctx, l, p, e.opts.Data)
}

// LaunchInParts replays a launch as one whose program takes more memory than a budget. Data is not
// carried out. If the program fits the budget, the result is nil.
func (e *Executor) LaunchInParts(ctx context.Context, l *launch.Launch, budget unit.Bytes) (*launch.Result, error) {
	r := &replaying{e: e, l: l, start: e.Now()}
	o := e.recording()
	o.Budget = budget
	p, err := program.RecordLaunch(ctx, l, o)
	if err != nil || !p.Long {
		return nil, err
	}
	if v, err := r.recorded().Whole(ctx, p); err != nil || v.Events != "" {
		return nil, errors.Join(err, errors.New(v.Events))
	}
	return r.ends(), nil
}

// Without makes the executor do without shortcuts of the fabric.
func (e *Executor) Without(s noc.Shortcuts) {
	e.net.Without(s)
}

// InFlight returns how many notifications of the run are in flight.
func (e *Executor) InFlight() int {
	n := 0
	e.run.notices.Each(func(*notice) { n++ })
	return n
}

// TraceAt makes the executor hand on the events of its trace as soon as there are n.
func (e *Executor) TraceAt(n int) { e.traceAt = n }

// WithUnit gives all PEs one more unit, which is asked before the others.
func (e *Executor) WithUnit(u hw.Unit) {
	e.spec.Units = append([]hw.Unit{u}, e.spec.Units...)
}
