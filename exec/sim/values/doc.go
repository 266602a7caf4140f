// Package values applies a recorded program to data. In such a program each rank touches only its
// own memory and receives by direction, so values do not depend on time. Equal ranks run in
// lockstep, one operation of all ranks at a time; others take turns.
//
// It may import program, record/oplog, tl, mem and dtype. Start at Apply.
package values

import (
	"context"
	"fmt"

	"kernbench/mem"
	"kernbench/program"
	"kernbench/record/oplog"
	"kernbench/tl/launch"
)

// Apply applies a program, whose Places are kept, to data, group by group. It returns the first
// fault of an access, which has no time, or the error of ctx.
func Apply(ctx context.Context, l *launch.Launch, p *program.Program, log *oplog.Log) error {
	log.Untimed(true)
	defer log.Untimed(false)
	base := 0
	for i := range l.Groups {
		g := &group{ctx: ctx, l: l, p: p, log: log, g: &l.Groups[i], blocks: p.Blocks[base : base+len(l.Groups[i].PEs)]}
		base += len(g.blocks)
		do := g.turns
		if g.uniform() {
			do = g.lockstep
		}
		if err := do(); err != nil {
			return err
		}
	}
	return log.Flush()
}

// group is the ranks of a launch that exchange messages.
type group struct {
	ctx    context.Context
	l      *launch.Launch
	p      *program.Program
	log    *oplog.Log
	g      *launch.Group
	blocks []program.Block
}

// slice returns the first byte of the HBM slice of a rank.
func (g *group) slice(rank int) mem.Addr { return mem.At(mem.HBM, int(g.g.PEs[rank]), 0) }

// checkEvery is the number of operations after which the error of ctx is checked.
const checkEvery = 1 << 10

func (g *group) stopped() error {
	if err := g.ctx.Err(); err != nil {
		return fmt.Errorf("stopped while data was carried out: %w", err)
	}
	return nil
}
