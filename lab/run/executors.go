package run

import (
	"fmt"

	"kernbench/exec"
	_ "kernbench/exec/mock" // registers itself
	_ "kernbench/exec/sim"  // registers itself
)

// ExecutorOf returns the executor called name; "" is the default for timing.
func ExecutorOf(name string) (*exec.Row, error) {
	if name == "" {
		return exec.Default(exec.Timing), nil
	}
	return exec.Lookup(name)
}

// findExecutor finds the executor and checks that it supports the spec.
func (x *Job) findExecutor() error {
	s := &x.Spec
	row, err := ExecutorOf(s.Executor)
	if err != nil {
		return err
	}
	x.on(row)
	if x.fidelity, err = row.Fidelity(s.Fidelity); err != nil {
		return err
	}
	if s.Causes != nil {
		if err := row.Needs(exec.Causes); err != nil {
			return err
		}
	}
	if s.Schedules < 0 {
		return fmt.Errorf("%d further schedules: the number cannot be negative", s.Schedules)
	}
	if err := x.supported(); err != nil {
		return err
	}
	x.VerifyData = s.VerifyData || s.Schedules > 0 // results are compared
	if s.Ranks < 0 || s.NElem < 0 {
		return fmt.Errorf("%d ranks of %d elements: neither can be negative", s.Ranks, s.NElem)
	}
	return nil
}

// supported returns an error that names what the spec needs and the executor does not support.
func (x *Job) supported() error {
	for _, q := range []struct {
		what  string
		asked bool
		needs []exec.Capability
	}{
		{"data verification", x.VerifyData, []exec.Capability{exec.Data}},
		{"race detection", x.Race != nil && *x.Race, []exec.Capability{exec.Account}},
		{fmt.Sprintf("%d further schedules", x.Schedules), x.Schedules > 0, []exec.Capability{exec.Schedules, exec.Data}},
		{fmt.Sprintf("schedule %d", x.Schedule), x.Schedule != 0, []exec.Capability{exec.Schedules}},
		{"trace file " + x.TraceFile, x.TraceFile != "", []exec.Capability{exec.Clock, exec.Trace}},
		{"events of the run", x.Events != nil, []exec.Capability{exec.Clock, exec.Trace}},
		{"--links", x.Use, []exec.Capability{exec.Clock, exec.Trace, exec.Network}},
		{fmt.Sprintf("simulated time up to %v", x.Limits.Until), x.Limits.Until > 0, []exec.Capability{exec.Clock}},
		{"pointers of rings", x.Pointers != nil, []exec.Capability{exec.Rings}},
	} {
		if !q.asked {
			continue
		}
		if err := x.row.Needs(q.needs...); err != nil {
			return fmt.Errorf("%s: %w", q.what, err)
		}
	}
	return nil
}
