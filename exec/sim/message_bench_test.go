package sim_test

import (
	"fmt"
	"testing"

	"kernbench/dtype"
	"kernbench/exec/sim"
	"kernbench/hw/noc"
	"kernbench/tl"
)

// pairs returns a launch in which each even rank sends slot messages to the next one, which only
// takes them. No other message is on their links.
func pairs(b testing.TB, world, rounds int) *bench {
	const n = 2048 // a slot of f16
	send := func(c *tl.Context, a tl.Args) {
		if c.Rank()%2 == 1 {
			for range rounds {
				c.Recv(tl.West, tl.Dims(n), a.DType)
			}
			return
		}
		x := c.Full(tl.Dims(n), a.DType, 1)
		for range rounds {
			c.Send(tl.East, x)
		}
	}
	return newBench(b, send, setup{world: world, n: n, typ: dtype.F16,
		sets: []string{fmt.Sprintf("system.sips.count=%d", max(2, world/128))}})
}

// BenchmarkSlotMessage measures a slot message from send to receive and its credit back, by pairs
// of neighbours that do not share links. It has all components, and timing only. A replay has no
// events here.
func BenchmarkSlotMessage(b *testing.B) {
	for _, world := range []int{256, 4096} {
		rounds := max(100, 1<<17/world) // so that making the ranks does not count
		for _, eventDriven := range []bool{false, true} {
			for _, f := range []noc.Fidelity{noc.Slot, noc.Ideal} {
				b.Run(fmt.Sprintf("%d/event-driven=%v/%v", world, eventDriven, f), func(b *testing.B) {
					x := pairs(b, world, rounds)
					e := sim.New(x.m, sim.Options{Fidelity: f, EventDriven: eventDriven})
					b.ReportAllocs()
					b.ResetTimer()
					var messages, events int64
					for range b.N {
						res, err := e.Launch(b.Context(), x.launch)
						if err != nil {
							b.Fatal(err)
						}
						messages += res.Messages
						events += res.Events
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(messages), "ns/message")
					b.ReportMetric(float64(events)/float64(messages), "events/message")
				})
			}
		}
	}
}
