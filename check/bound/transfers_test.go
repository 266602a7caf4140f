package bound_test

import (
	"cmp"
	"errors"
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
		got, err := bound.Transfers(t.Context(), m, l, bound.Budget{Memory: unit.MiB})
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

// TestPartOfTransfers: with a budget of instructions, the transfers of the first ones are returned.
// They are part of all, and ErrPart says that instructions are left.
func TestPartOfTransfers(t *testing.T) {
	m, err := machine.Build(conf.DefaultTopology())
	if err != nil {
		t.Fatal(err)
	}
	const ranks, sends = 3, 4
	var wiring []tl.Wiring
	var pes []int32
	for r := range ranks {
		pes = append(pes, int32(r))
		wiring = append(wiring, tl.Wiring{
			Out: []tl.OutPort{{Peer: int32((r + 1) % ranks), Dir: tl.East}},
			In:  []tl.InPort{{Peer: int32((r + ranks - 1) % ranks), Dir: tl.West}},
		})
	}
	l := &launch.Launch{
		Name: "sends", Addrs: &mem.Map{}, Scratch: 1 << 16, Ring: tl.Ring{Slots: 4, SlotBytes: 64, Space: mem.TCM},
		Groups: []launch.Group{{PEs: pes, PEsPerCube: ranks, Wiring: wiring}},
		Kernel: func(c *tl.Context, _ tl.Args) {
			x := c.Full(tl.Dims(8), dtype.F16, 0)
			for range sends {
				c.Send(tl.East, x)
			}
		},
	}
	const perRank = 1 + sends // Full, and the sends
	for instructions := range int64(ranks*perRank + 2) {
		got, err := bound.Transfers(t.Context(), m, l, bound.Budget{Memory: unit.MiB, Instructions: instructions})
		if left := instructions > 0 && instructions < ranks*perRank; left != errors.Is(err, bound.ErrPart) || !left && err != nil {
			t.Errorf("%d of %d instructions: %v", instructions, ranks*perRank, err)
		}
		n := cmp.Or(instructions, ranks*perRank)
		for r := range ranks {
			want := 16 * min(sends, max(0, n-int64(r*perRank)-1))
			if len(got) <= r && want > 0 || len(got) > r && got[r].Bytes != want {
				t.Errorf("%d instructions: %v, want %d bytes of rank %d", instructions, got, want, r)
			}
		}
	}
}
