package device

import (
	"context"
	"fmt"

	"kernbench/conf"
	"kernbench/exec"
	"kernbench/tl/launch"
)

// Synchronize performs all queued work. Later reads see its results. Mistakes
// of kernels, and work that waits for an event that never comes, are returned as the types of
// package fault. All queued work is then discarded.
func (c *Context) Synchronize(ctx context.Context) error {
	b := c.batch()
	if len(b.Streams) == 0 {
		return nil
	}
	defaults := c.cfg.CCL.Merge("streams")
	ring, err := c.ringOf(&defaults, conf.OnRings)
	if err != nil {
		return err
	}
	b.Poll, b.PollEvery, b.WakeCost, b.Protocol = ring.Poll, ring.PollEvery, ring.WakeCost, ring.Protocol
	x, ok := c.cfg.Executor.(exec.Streamer)
	switch {
	case c.cfg.Executor == nil:
		return fmt.Errorf("synchronize: %w: %w", ErrStream, errNoExecutor)
	case !ok:
		return fmt.Errorf("synchronize: %w: the executor %T has no RunStreams", ErrStream, c.cfg.Executor)
	}
	res, err := c.cfg.Limits.RunStreams(ctx, x, b)
	c.drop()
	if err != nil {
		c.disband()
		c.NameMemory(err)
		return fmt.Errorf("synchronize: %w", err)
	}
	pes := map[int32]bool{}
	for _, s := range b.Streams {
		pes[s.PE] = true
	}
	c.runs = append(c.runs, &Launched{Name: "streams", World: len(pes), Result: *res})
	return nil
}

// batch returns all queued work in the form that executors take.
func (c *Context) batch() *launch.Batch {
	b := &launch.Batch{Addrs: c.addrs, Scratch: c.share()}
	for _, s := range c.streams {
		if len(s.ops) == 0 {
			continue
		}
		work := launch.Stream{ID: s.id, PE: int32(s.dev.pe), Rank: s.dev.rank}
		for i := range s.ops {
			c.rank(s, &s.ops[i])
			if s.ops[i].engine {
				b.Engine = &launch.Engine{Scratch: c.Scratch()}
			}
			work.Ops = append(work.Ops, s.ops[i].StreamOp)
		}
		b.Streams = append(b.Streams, work)
	}
	return b
}

// drop forgets all queued work.
func (c *Context) drop() {
	for _, s := range c.streams {
		s.ops = nil
	}
	for _, e := range c.events {
		e.queued = false
	}
	c.events, c.busy = nil, nil
}
