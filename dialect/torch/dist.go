package torch

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kernbench/collective"
	"kernbench/device"
	"kernbench/tl"
)

// Backend is the only backend.
const Backend = "ahbm"

// UnknownBackend is the error for a process group with another backend.
type UnknownBackend struct{ Name string }

func (e *UnknownBackend) Error() string {
	return fmt.Sprintf("InitProcessGroup(%q): unknown backend; known: %s", e.Name, Backend)
}

// ErrNoGroup is the error of a collective before InitProcessGroup.
var ErrNoGroup = errors.New("no process group: call InitProcessGroup(\"" + Backend + "\") first")

// Dist is the module torch.distributed of one host program.
type Dist struct {
	dev       *device.Context
	algorithm string
	plan      *device.Plan
	spawning  bool
}

// New makes the module for a program on dev. Collectives use the algorithm of that
// name; "" is the default of ccl.yaml.
func New(dev *device.Context, algorithm string) *Dist {
	return &Dist{dev: dev, algorithm: algorithm}
}

// InitProcessGroup opens the default process group and prepares its algorithm.
func (d *Dist) InitProcessGroup(backend string) error {
	if backend != Backend {
		return &UnknownBackend{backend}
	}
	if d.plan != nil {
		return errors.New("InitProcessGroup: the default process group exists already")
	}
	p, err := d.dev.InstallIPCQ(d.algorithm)
	if err != nil {
		return err // it names the algorithm
	}
	d.plan = p
	return nil
}

// Plan returns the algorithm of the process group, nil before InitProcessGroup.
func (d *Dist) Plan() *device.Plan { return d.plan }

// PerSIP reports whether every SIP has a worker of its own (rank_level: sip).
func (d *Dist) PerSIP() bool { return d.plan != nil && d.plan.PerSIP() }

// GetBackend returns the name of the process group's backend, empty before there is one.
func (d *Dist) GetBackend() string {
	if d.plan == nil {
		return ""
	}
	return Backend
}

// GetRank returns the rank of the one host worker, 0. With a worker per SIP, or without a
// process group, the caller is no rank: -1. Worker.GetRank is the rank of each worker.
func (d *Dist) GetRank() int {
	if d.plan == nil || d.plan.PerSIP() {
		return -1
	}
	return 0
}

// GetWorldSize returns the number of ranks: PEs, or SIPs; -1 without a process group.
func (d *Dist) GetWorldSize() int {
	if d.plan == nil {
		return -1
	}
	return d.plan.World
}

// AllReduce combines the contributions and leaves the result in their place. The tensors,
// one per SIP, are the list of all contributions: their shards, rank by rank. It is one
// launch over all SIPs.
func (d *Dist) AllReduce(ctx context.Context, tensors []*device.Tensor, op tl.ReduceOp) error {
	return d.only("AllReduce", func() error { return d.allReduce(ctx, tensors, op) })
}

// Barrier returns when all workers have called it: for the one host worker at once.
// Launches of this process are done when they return, so it waits for nothing else.
func (d *Dist) Barrier(ctx context.Context) error {
	return d.only("Barrier", ctx.Err)
}

// only performs a call, or returns an error if there is a worker on each SIP.
func (d *Dist) only(what string, do func() error) error {
	switch {
	case d.plan == nil:
		return fmt.Errorf("%s: %w", what, ErrNoGroup)
	case d.plan.PerSIP():
		return fmt.Errorf("%s: with rank_level: sip every SIP has a worker: call it on the Worker that Spawn hands out", what)
	}
	return do()
}

func (d *Dist) allReduce(ctx context.Context, tensors []*device.Tensor, op tl.ReduceOp) error {
	if got, want := d.plan.Algorithm.Collective, collective.AllReduce.Name; got != want {
		return fmt.Errorf("algorithm %s performs %s, not %s", d.plan.Name, got, want)
	}
	if op > tl.Avg {
		return fmt.Errorf("AllReduce: unknown operation %v: want one of %s", op, opNames())
	}
	_, err := d.dev.Perform(ctx, d.plan, op, tensors) // an error names the algorithm
	return err
}

func opNames() string {
	var names []string
	for _, op := range tl.ReduceOps() {
		names = append(names, op.String())
	}
	return strings.Join(names, ", ")
}
