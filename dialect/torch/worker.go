package torch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"kernbench/device"
	"kernbench/tl"
)

// ErrAborted is returned by a collective on a worker that is stopped because another one failed.
var ErrAborted = errors.New("stopped, because another worker failed")

// Worker is one rank's view of the process group.
type Worker struct {
	dist   *Dist
	rank   int
	device int // the SIP that is current while it runs

	yield   func(struct{}) bool // nil when it is the only one
	stopped bool
	pending *request // the request for which it waits
	answer  error
	done    bool
	failure error
}

// request is a collective that a worker has called.
type request struct {
	barrier bool
	op      tl.ReduceOp
	tensor  *device.Tensor
	call    Called
}

// GetRank returns the rank of this worker: its SIP, or 0 when there is one for all.
func (w *Worker) GetRank() int { return w.rank }

// GetWorldSize returns the number of ranks of the process group.
func (w *Worker) GetWorldSize() int { return w.dist.GetWorldSize() }

// GetBackend returns the name of the process group's backend.
func (w *Worker) GetBackend() string { return w.dist.GetBackend() }

// Dist returns the process group's module.
func (w *Worker) Dist() *Dist { return w.dist }

// AllReduce combines the contributions of all ranks and leaves the result in their place. A single
// worker has one tensor per SIP. The worker of a SIP has one tensor, and element i becomes the
// combination of element i over the SIPs.
func (w *Worker) AllReduce(ctx context.Context, tensors []*device.Tensor, op tl.ReduceOp) error {
	if w.yield == nil {
		return w.dist.AllReduce(ctx, tensors, op)
	}
	if len(tensors) != 1 || tensors[0] == nil {
		return fmt.Errorf("AllReduce on rank %d: %d tensors; with rank_level: sip a rank brings one", w.rank, len(tensors))
	}
	t := tensors[0]
	what := fmt.Sprintf("AllReduce(%v, %d × %d %v)", op, t.Rows(), t.Cols(), t.DType())
	if t.Device() != w.rank {
		return fmt.Errorf("%s on rank %d: %s is on SIP %d; a rank's tensor lies on its own SIP (SetDevice)", what,
			w.rank, t.Name(), t.Device())
	}
	return w.wait(&request{op: op, tensor: t, call: Called{w.rank, what, callerLine()}})
}

// Barrier returns when all workers have called it.
func (w *Worker) Barrier(ctx context.Context) error {
	if w.yield == nil {
		return w.dist.Barrier(ctx)
	}
	return w.wait(&request{barrier: true, call: Called{w.rank, "Barrier()", callerLine()}})
}

// wait parks the worker until its request has been answered.
func (w *Worker) wait(r *request) error {
	if w.stopped {
		return ErrAborted
	}
	w.pending = r
	if !w.yield(struct{}{}) {
		w.stopped = true
		return ErrAborted
	}
	return w.answer
}

// callerLine returns the source line of the program that called a method of Worker.
func callerLine() string {
	if _, file, line, ok := runtime.Caller(2); ok {
		return fmt.Sprintf("%s:%d", filepath.Base(file), line)
	}
	return ""
}
