package sweep

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kernbench/bench"
	"kernbench/collective"
	"kernbench/device"
	"kernbench/exec"
	"kernbench/fault"
	"kernbench/lab/run"
	"kernbench/unit"
)

// Target is an algorithm of a collective on a machine with its settings.
type Target struct {
	Job      *run.Job
	what     *collective.Collective
	Plan     *device.Plan
	Settings []Setting
}

// Load makes the job of an algorithm with settings on the machine of a base. With an empty name
// the job has no algorithm.
func Load(b *run.Spec, algorithm string, settings []Setting) (*run.Job, error) {
	one := run.Spec{
		Topology: b.Topology, CCL: b.CCL, Sets: slices.Clone(b.Sets), Ranks: b.Ranks, Devices: b.Devices, Seed: b.Seed,
		Executor: b.Executor, Fidelity: b.Fidelity, Bench: bench.CCLHello.Name, Algorithm: algorithm,
		Limits: b.Limits, CalledAs: b.CalledAs,
	}
	for _, s := range settings {
		switch {
		case strings.Contains(s.Key, "."):
			one.Sets = append(one.Sets, s.Key+"="+s.Value)
		case algorithm != "": // for the entry itself, whose settings override the defaults
			one.Sets = append(one.Sets, fmt.Sprintf("algorithms.%s.%s=%s", algorithm, s.Key, s.Value))
		}
	}
	x, err := run.Load(one)
	return x, Varied(err, algorithm, settings)
}

// NewTarget makes an algorithm ready, on a device that only checks whether it is supported.
func NewTarget(b *run.Spec, what *collective.Collective, name string, settings []Setting) (t Target, err error) {
	x, err := Load(b, name, settings)
	if err != nil {
		return t, err
	}
	dev, err := x.Device()
	if err != nil {
		return t, err
	}
	plan, err := dev.InstallIPCQ(name)
	switch {
	case err != nil:
		return t, err
	case plan.Algorithm.Collective != what.Name:
		return t, fmt.Errorf("algorithm %s performs %s, not %s", plan.Name, plan.Algorithm.Collective, what.Name)
	case plan.PerSIP():
		return t, fmt.Errorf("algorithm %s: found rank_level sip, want pe: only messages between PEs are measured", plan.Name)
	}
	return Target{Job: x, what: what, Plan: plan, Settings: settings}, nil
}

// LeavesApart reports whether the kernel of a target stores results in Into. A kernel that always
// stores to its shard cannot be measured out of place. A short run without a clock shows it.
func (t *Target) LeavesApart(ctx context.Context) (bool, error) {
	c, _ := t.Small()
	if !FitsInPlace(t.what, c) || mostOut(t.what, c) == 0 {
		return true, nil // the collective has out-of-place results only
	}
	x := t.Job.OneCall(c, false).On(exec.Default(exec.Checking)).Verified(true)
	apart := true
	// An error here occurs again in the measurement, which reports it.
	out, err := x.Execute(ctx, run.Pass{Quiet: true})
	if fault.IsStalled(err) {
		return false, err // another call would run into the same limit
	}
	if err == nil && len(out.Judged) > 0 {
		unwritten, all := 0, 0
		for _, v := range out.Judged[0].Verdicts {
			unwritten += v.Unwritten
		}
		for r := range c.World {
			all += t.what.Out(c, r)
		}
		apart = unwritten < all
	}
	return apart, nil
}

// Small returns a call with few elements that an algorithm supports, or the reason why it supports
// none.
func (t *Target) Small() (c collective.Call, err error) {
	c = t.Plan.SomeCall()
	for _, count := range []int{1, 2, 4, 64, 4096} {
		_, c.Elems = Counts(t.what, c, Parts(t.what, c)*unit.Bytes(count*c.Type.Size()))
		if err = Refusal(t.Plan, c); err == nil {
			return c, nil
		}
	}
	c.Elems = 0
	return c, err
}

// FewElements returns a call that an algorithm supports, or the reason why it supports none. If
// possible, its number of elements is a prime.
func FewElements(what *collective.Collective, plan *device.Plan) (c collective.Call, err error) {
	c = plan.SomeCall()
	for _, count := range []int{61, 64, 1, 2, 4, 4096} {
		_, c.Elems = Counts(what, c, Parts(what, c)*unit.Bytes(count*c.Type.Size()))
		if err = Refusal(plan, c); err == nil {
			return c, nil
		}
	}
	return c, err
}
