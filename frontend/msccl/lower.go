package msccl

import (
	"fmt"

	"kernbench/frontend/plan"
)

// lowering makes the blocks of a plan.
type lowering struct {
	a        *algo
	plan     *plan.Plan
	channels map[link]int
	depth    int
	most     int // cnt of a message
}

// channel returns the place of a connection in the plan; None without a peer.
func (l *lowering) channel(from, to, number int) int {
	if from < 0 || to < 0 {
		return plan.None
	}
	k := link{from, to, number}
	c, ok := l.channels[k]
	if !ok {
		c = len(l.plan.Channels)
		l.channels[k] = c
		l.plan.Channels = append(l.plan.Channels, plan.Channel{ID: number, From: from, To: to, Depth: l.depth})
	}
	return c
}

// block makes the steps of a block. A nop hands its dependency to the next other step; nops at the
// end wait for nothing. Numbers of steps stay those of the file.
func (l *lowering) block(rank int, g *gpu, b *block) plan.Block {
	out := plan.Block{ID: b.id, Label: fmt.Sprintf("chan %d", b.channel), Steps: make([]plan.Step, 0, len(b.steps))}
	takes, sends := l.channel(b.recv, rank, b.channel), l.channel(rank, b.send, b.channel)
	var after []plan.Dep
	for i := 0; i < len(b.steps); i++ {
		s := &b.steps[i]
		if s.depBlock >= 0 && s.depBlock < len(g.blocks) && s.depBlock != b.id {
			after = append(after, plan.Dep{Block: s.depBlock, Index: s.depStep})
		}
		if s.op == opNop {
			continue
		}
		parts := max((s.count+l.most-1)/l.most, 1)
		for part := range parts {
			first := part * l.most
			ps := l.part(s, first, min(l.most, s.count-first), takes, sends)
			ps.Part = part
			if part == 0 {
				ps.After, after = after, nil
			}
			ps.Publish = s.hasDep && part == parts-1
			out.Steps = append(out.Steps, ps)
		}
		if n := fused(b.steps[i:]); n > 1 && parts == 1 {
			l.fuse(&out.Steps[len(out.Steps)-1], b.steps[i+1:i+n])
			i += n - 1
		}
	}
	return out
}

// mostFused is the largest number of additions that runtimes fuse.
const mostFused = 16

// fused returns how many additions, from the first on, runtimes execute as one. All add to the same
// place, from the same buffer, without a dependency between them, and only the last of them
// publishes.
func fused(steps []step) int {
	first, n := &steps[0], 1
	for ; n < min(len(steps), mostFused); n++ {
		s, before := &steps[n], &steps[n-1]
		if first.op != opRe || s.op != opRe || before.hasDep || s.depBlock >= 0 || s.dst != first.dst || s.src.buffer != first.src.buffer ||
			s.count != first.count {
			break
		}
	}
	return n
}

// fuse joins several additions into one. Its number is that of the last.
func (l *lowering) fuse(p *plan.Step, more []step) {
	for i := range more {
		p.Src = append(p.Src, plan.Span{Rank: plan.None, View: more[i].src.buffer, First: more[i].src.chunk, N: more[i].count})
	}
	last := &more[len(more)-1]
	p.Index, p.Publish = last.index, last.hasDep
}

// part returns the message of n chunks, from a step's chunk first on.
func (l *lowering) part(s *step, first, n, takes, sends int) plan.Step {
	p := plan.Step{Op: s.op.String(), Index: s.index, Line: s.line, Take: plan.None, Send: plan.None}
	if n == 0 {
		return p
	}
	src := plan.Span{Rank: plan.None, View: s.src.buffer, First: s.src.chunk + first, N: n}
	dst := plan.Span{Rank: plan.None, View: s.dst.buffer, First: s.dst.chunk + first, N: n}
	if s.op.receives() {
		p.Take = takes
	}
	if s.op.sends() {
		p.Send = sends
	}
	if s.op == opRe {
		p.Src = []plan.Span{dst}
	}
	if s.op.readsSrc() {
		p.Src = append(p.Src, src)
	}
	if s.op.writesDst() {
		p.Dst = []plan.Span{dst}
	}
	return p
}
