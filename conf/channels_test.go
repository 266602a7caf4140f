package conf

import (
	"testing"

	"kernbench/unit"
)

// TestChannels: few bytes use few channels, and fewer channels than all add the rest of their time.
func TestChannels(t *testing.T) {
	c := Channels{Count: 24, Bytes: 4 * unit.KiB, Rate: 4 * unit.GBPerSecond}
	for bytes, want := range map[unit.Bytes]int{
		1: 1, 32 * unit.KiB: 1, 64 * unit.KiB: 2, 65 * unit.KiB: 2, 768 * unit.KiB: 24, unit.GiB: 24,
	} {
		if got := c.Of(bytes, 8); got != want {
			t.Errorf("%v: %d channels, want %d", bytes, got, want)
		}
	}
	if got := (&Channels{}).Of(unit.MiB, 8); got != 0 {
		t.Errorf("a machine without channels has %d", got)
	}
	const bytes = 96_000
	all := (24 * c.Rate).Time(bytes)
	for n := 1; n < 24; n++ {
		want := (unit.Rate(n) * c.Rate).Time(bytes)
		if got := all + c.Slows(n).Time(bytes); got < want-2 || got > want+2 {
			t.Errorf("%d channels take %v, want %v", n, got, want)
		}
	}
	for _, none := range []unit.Rate{c.Slows(24), c.Slows(25), (&Channels{Count: 24}).Slows(1), (&Channels{}).Slows(0)} {
		if none != 0 {
			t.Errorf("slower by %v, want none", none)
		}
	}
}

// TestChannelsAcross: what all channels carry together limits many of them. Few channels have a
// lower rate anyway.
func TestChannelsAcross(t *testing.T) {
	c := Channels{Count: 24, Bytes: 4 * unit.KiB, Rate: 4 * unit.GBPerSecond}
	for _, tt := range []struct {
		channels int
		most     unit.Rate
		want     float64 // GB/s of all channels
	}{
		{1, 0, 4}, {1, 45 * unit.GBPerSecond, 4}, {11, 45 * unit.GBPerSecond, 44}, {12, 45 * unit.GBPerSecond, 45},
		{24, 45 * unit.GBPerSecond, 45}, {12, 0, 48}, {12, 100 * unit.GBPerSecond, 48}, {24, 100 * unit.GBPerSecond, 96},
	} {
		got := 96.
		if slow := c.SlowsAcross(tt.channels, tt.most); slow > 0 {
			got = 1 / (1/96. + float64(unit.GBPerSecond)/float64(slow))
		}
		if got < tt.want-0.001 || got > tt.want+0.001 {
			t.Errorf("%d channels and at most %v: %v GB/s, want %v", tt.channels, tt.most, got, tt.want)
		}
	}
}

// TestP2PChannels: the numbers that NCCL's rule gives for logs of 8 GPUs and of two nodes of 8.
func TestP2PChannels(t *testing.T) {
	node, nodes := P2P{Count: 32, PerPeer: 32}, P2P{Count: 16, PerPeer: 2}
	for _, tt := range []struct {
		p     P2P
		ranks int
		nodes bool
		bytes unit.Bytes
		want  int
	}{
		{node, 8, false, 8, 1},
		{node, 8, false, 64 * unit.KiB, 1},
		{node, 8, false, 64*unit.KiB + 1, 2},
		{node, 8, false, 256 * unit.KiB, 4},
		{node, 8, false, 64 * unit.MiB, 4}, // 32 channels for 8 transfers
		{node, 8, false, 64*unit.MiB + 1, 8},
		{node, 8, false, unit.GiB, 32},
		{node, 2, false, unit.MiB, 16},
		{node, 72, false, unit.MiB, 1},
		{node, 72, false, 32 * unit.MiB, 2},
		{nodes, 16, true, 128 * unit.KiB, 1},
		{nodes, 16, true, 128*unit.KiB + 1, 2},
		{nodes, 16, true, unit.GiB, 2},
		{P2P{}, 8, false, unit.GiB, 0},
		{P2P{Count: 32}, 8, false, unit.GiB, 0},
	} {
		if got := tt.p.Of(tt.bytes, tt.ranks, tt.nodes); got != tt.want {
			t.Errorf("%+v, %d ranks, %v: %d channels, want %d", tt.p, tt.ranks, tt.bytes, got, tt.want)
		}
	}
}
