package sim_test

import (
	"fmt"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/hw/noc"
	"kernbench/internal/exhaustive"
	"kernbench/tl"
)

// TestShortBehindLong: while the parts of a long payload wait for slots of one ring, short payloads
// leave by another over the same first link. A part that leaves earlier than a short payload passes
// that link before it, although the replay learns of its slot later.
func TestShortBehindLong(t *testing.T) {
	kernel := func(before, after int) tl.Kernel {
		return func(c *tl.Context, a tl.Args) {
			long, short := tl.Dims(96), tl.Dims(4)
			x := c.Full(long, dtype.F16, float64(c.Rank()))
			work := func(n int) {
				for range n {
					c.Exp(x)
				}
			}
			for i := range 4 {
				c.Send(tl.East, x)
				c.Send(tl.West, x.Slice(0, 4))
				c.Recv(tl.East, short, dtype.F16) // the first parts have left by then
				work((before*c.Rank() + i) % 7)
				c.Send(tl.West, x.Slice(4, 4))
				work((after*c.Rank() + i) % 5)
				c.Recv(tl.West, long, dtype.F16)
				c.Recv(tl.East, short, dtype.F16)
			}
			c.Store(a.Shard(c.Rank()).Slice(0, 4), x.Slice(0, 4))
		}
	}
	for i, world := range []int{8, 16, 33} {
		for before := range 4 {
			for after := range 4 {
				if !exhaustive.On() && (i+before+after)%2 > 0 {
					continue
				}
				t.Run(fmt.Sprintf("%d/%d/%d", world, before, after), func(t *testing.T) {
					b := newBench(t, kernel(before, after), setup{world: world, n: 64, slotBytes: 16})
					b.sameReplayed(t, sim.Options{Fidelity: noc.Slot}, views{trace: true})
				})
			}
		}
	}
}
