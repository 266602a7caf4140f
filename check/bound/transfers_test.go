package bound_test

import (
	"slices"
	"testing"

	"kernbench/check/bound"
	"kernbench/conf"
	"kernbench/dtype"
	_ "kernbench/internal/fewcollections"
	"kernbench/machine"
	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
	"kernbench/unit"
)

// TestTransfersOfRings: messages of a ring count apart from those of other rings, also to the same
// rank. Their rate is that of the most channels, or none if a message names no channels.
func TestTransfersOfRings(t *testing.T) {
	m, err := machine.Build(conf.DefaultTopology())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		east, west [2]int // channels of two messages each way
		rates      []unit.Rate
	}{
		{[2]int{2, 2}, [2]int{4, 4}, []unit.Rate{20, 40}},
		{[2]int{2, 3}, [2]int{4, 1}, []unit.Rate{30, 40}},
		{[2]int{0, 0}, [2]int{4, 4}, []unit.Rate{0, 40}},
		{[2]int{2, 0}, [2]int{0, 2}, []unit.Rate{0, 0}},
	} {
		l := &launch.Launch{
			Name: "rings", Addrs: &mem.Map{}, Scratch: 1 << 16,
			Ring: tl.Ring{Slots: 4, SlotBytes: 64, Space: mem.TCM, Protocol: tl.Protocol{Channel: 10}},
			Groups: []launch.Group{{PEs: []int32{0, 1}, PEsPerCube: 2, Wiring: []tl.Wiring{
				{Out: []tl.OutPort{{Peer: 1, Dir: tl.East}, {Peer: 1, Dir: tl.West, PeerIn: 1}}},
				{In: []tl.InPort{{Peer: 0, Dir: tl.West}, {Peer: 0, Dir: tl.East, PeerOut: 1}}},
			}}},
			Kernel: func(c *tl.Context, _ tl.Args) {
				if c.Rank() == 1 {
					return
				}
				for i := range 2 {
					c.UseChannels(tt.east[i])
					c.Send(tl.East, c.Full(tl.Dims(8), dtype.F16, 0))
					c.UseChannels(tt.west[i])
					c.Send(tl.West, c.Full(tl.Dims(8), dtype.F16, 0))
				}
			},
		}
		got, err := bound.Transfers(t.Context(), m, l, unit.MiB)
		if err != nil {
			t.Fatal(err)
		}
		var want []bound.Transfer
		for _, rate := range tt.rates {
			want = append(want, bound.Transfer{From: m.TCM(0), To: m.TCM(1), Bytes: 32, Rate: rate})
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v and %v channels: %v, want %v", tt.east, tt.west, got, want)
		}
	}
}
