package lab

import (
	"context"

	"kernbench/bench"
	"kernbench/collective"
	"kernbench/exec"
	"kernbench/fault"
	"kernbench/unit"
)

// leavesApart reports whether the kernel of a target leaves results where Into says. One that
// always stores to its shard cannot be measured out of place: it would leave nothing there. A
// short run without a clock shows it.
func (p *perfPlan) leavesApart(ctx context.Context, t perfTarget) (bool, error) {
	c, _ := p.small(t)
	if !fitsInPlace(p.what, c) || mostOut(p.what, c) == 0 {
		return true, nil // elsewhere is the only place there is
	}
	alg := t.plan.Algorithm
	if known, ok := p.apart[alg]; ok {
		return known, nil
	}
	x := *t.x
	x.on(exec.Default(exec.Checking))
	x.VerifyData = true
	x.NElem, x.DType, x.program = c.Elems, c.Type, bench.Once(false, 0)
	apart := true
	// What goes wrong here, goes wrong again when it is measured, and is told then.
	out, err := x.once(ctx, pass{quiet: true})
	if is[*fault.Stalled](err) {
		return false, err // it would wait as long again
	}
	if err == nil && len(out.judged) > 0 {
		unwritten, all := 0, 0
		for _, v := range out.judged[0].verdicts {
			unwritten += v.Unwritten
		}
		for r := range c.World {
			all += p.what.Out(c, r)
		}
		apart = unwritten < all
	}
	p.apart[alg] = apart
	return apart, nil
}

// small is a call with few elements that an algorithm takes, or why it takes none.
func (p *perfPlan) small(t perfTarget) (c collective.Call, err error) {
	c = t.plan.Algorithm.SomeCall(t.plan.World)
	for _, count := range []int{1, 2, 4, 64, 4096} {
		_, c.Elems = counts(p.what, c, parts(p.what, c)*unit.Bytes(count*c.Type.Size()))
		if err = refusal(t.plan.Algorithm, c); err == nil {
			return c, nil
		}
	}
	c.Elems = 0
	return c, err
}
