package torch

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"

	"kernbench/device"
	"kernbench/fault"
)

// Spawn runs a worker function: once with rank_level: pe, once per SIP with rank_level:
// sip, where SetDevice(rank) has been called for it. Workers take turns, each until it
// waits in a collective, so that a run is the same every time. It returns when all have
// returned; the first error stops the others.
func (d *Dist) Spawn(ctx context.Context, worker func(ctx context.Context, w *Worker) error) error {
	switch {
	case d.plan == nil:
		return fmt.Errorf("Spawn: %w", ErrNoGroup)
	case d.spawning:
		return errors.New("Spawn inside a worker")
	}
	d.spawning = true
	defer func() { d.spawning = false }()
	if !d.plan.PerSIP() {
		return worker(ctx, &Worker{dist: d})
	}
	before := d.dev.CurrentDevice()
	defer func() { _ = d.dev.SetDevice(before) }() // it was valid
	s := &scheduler{dist: d}
	defer s.stop()
	for rank := range d.plan.World {
		s.add(ctx, rank, worker)
	}
	return s.run(ctx)
}

// scheduler runs the workers in turn and performs the collective for which they all wait.
type scheduler struct {
	dist    *Dist
	workers []*Worker
	resume  []func() (struct{}, bool)
	cancel  []func()
}

// add makes the coroutine of a worker. A panic becomes its failure: an iterator would
// pass on the panic without its stack.
func (s *scheduler) add(ctx context.Context, rank int, worker func(ctx context.Context, w *Worker) error) {
	w := &Worker{dist: s.dist, rank: rank, device: rank}
	next, stop := iter.Pull(func(yield func(struct{}) bool) {
		w.yield = yield
		defer func() {
			w.done = true
			if v := recover(); v != nil {
				w.failure = &fault.Panic{Place: fault.Place{Rank: rank, Op: "host worker"}, Value: v, Stack: string(debug.Stack())}
			}
		}()
		w.failure = worker(ctx, w)
	})
	s.workers = append(s.workers, w)
	s.resume = append(s.resume, next)
	s.cancel = append(s.cancel, stop)
}

// stop ends the coroutines that still wait. Their deferred functions cannot change the outcome.
func (s *scheduler) stop() {
	for _, stop := range s.cancel {
		stop()
	}
}

func (s *scheduler) run(ctx context.Context) error {
	for {
		running := false
		for rank, w := range s.workers {
			if w.done {
				continue
			}
			if err := s.step(w, s.resume[rank]); err != nil {
				return fmt.Errorf("worker of rank %d: %w", rank, err)
			}
			running = running || !w.done
		}
		if !running {
			return nil
		}
		err := s.perform(ctx)
		for _, w := range s.workers {
			w.pending, w.answer = nil, err
		}
		var mismatch *Mismatch
		var missing *Missing
		if errors.As(err, &mismatch) || errors.As(err, &missing) {
			return err
		}
	}
}

// step lets a worker run on its own SIP until it waits again or ends.
func (s *scheduler) step(w *Worker, resume func() (struct{}, bool)) error {
	dev := s.dist.dev
	if err := dev.SetDevice(w.device); err != nil {
		return err
	}
	resume()
	w.device = dev.CurrentDevice()
	return w.failure
}

// perform performs the collective for which all workers wait, if it is the same one.
func (s *scheduler) perform(ctx context.Context) error {
	if err := s.agree(); err != nil {
		return err
	}
	first := s.workers[0].pending
	if first.barrier {
		return ctx.Err()
	}
	tensors := make([]*device.Tensor, len(s.workers))
	for rank, w := range s.workers {
		tensors[rank] = w.pending.tensor
	}
	return s.dist.allReduce(ctx, tensors, first.op)
}
