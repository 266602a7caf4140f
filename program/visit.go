package program

import (
	"context"

	"kernbench/tl"
	"kernbench/tl/launch"
)

// Visit runs the kernels of all blocks of a launch in sequence and stores nothing. It calls f with
// each instruction; i is the number of the block in its group. f must not keep the instruction.
// Visit stops at an error of f and returns it. Its other errors are those of RecordLaunch, without
// the error of an exceeded budget.
func Visit(ctx context.Context, l *launch.Launch, o Options, f func(g *launch.Group, i int, in *tl.Instr) error) error {
	v := &visitor{checker: checker{guard: guard{opts: o, ctx: ctx}}, f: f}
	setup := setupOf(l, &v.guard)
	setup.Core = v
	for g := range l.Groups {
		v.group = &l.Groups[g]
		for v.block = range v.group.NumBlocks() {
			if err := v.cancelled(); err != nil {
				return err
			}
			placeBlock(&setup, l, v.group, v.block)
			if v.tl == nil {
				v.tl = tl.NewContext(setup)
			} else {
				tl.DriverOf(v.tl).Reset(setup)
			}
			v.enter(setup.PE, len(setup.Wiring.Out))
			if err := v.run(l.Kernel, v.group.Args); err != nil {
				return err
			}
		}
	}
	return nil
}

// visitor is a Core that checks each instruction and passes it to f.
type visitor struct {
	checker
	group *launch.Group
	block int
	f     func(g *launch.Group, i int, in *tl.Instr) error
}

// Do checks an instruction and passes it to f. It ignores OpDrop, which only ends a tensor's use.
func (v *visitor) Do(in *tl.Instr) {
	if in.Op == tl.OpDrop {
		return
	}
	v.checker.Do(in)
	if err := v.f(v.group, v.block, in); err != nil {
		v.stop(err)
	}
}
