package launch_test

import (
	"strings"
	"testing"

	"kernbench/mem"
	"kernbench/tl"
	"kernbench/tl/launch"
)

// TestBlocksOfAGroup: the blocks of a rank stand side by side in order, and each has its wiring.
func TestBlocksOfAGroup(t *testing.T) {
	type b = launch.Block
	for _, tt := range []struct {
		blocks []b
		wiring int
		want   string
	}{
		{nil, 2, ""},
		{[]b{{0, 0, 2}, {0, 1, 2}, {1, 0, 1}}, 3, ""},
		{[]b{{0, 0, 2}, {0, 1, 2}, {1, 0, 1}}, 2, "has 3 blocks but wiring for 2"},
		{[]b{{0, 0, 1}}, 1, "rank 1 has no block"},
		{[]b{{0, 1, 1}, {1, 0, 1}}, 2, "block 1 of 1 of rank 0 stands where block 0 of 1 is due"},
		{[]b{{0, 0, 1}, {0, 1, 1}, {1, 0, 1}}, 3, "block 0 of 1 of rank 0 stands where block 0 of 2 is due"},
		{[]b{{0, 0, 1}, {1, 0, 1}, {0, 1, 2}}, 3, "block 2 of the group is of rank 0, which is out of order"},
	} {
		l := launch.Launch{
			Kernel: func(*tl.Context, tl.Args) {}, Ring: tl.Ring{Slots: 1, SlotBytes: 64, Space: mem.TCM},
			Groups: []launch.Group{{PEs: []int32{4, 7}, Blocks: tt.blocks, Wiring: make([]tl.Wiring, tt.wiring)}},
		}
		switch err := l.Validate(); {
		case tt.want == "" && err != nil, tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%v: %v, want %q", tt.blocks, err, tt.want)
		}
	}
}

// TestSetupOfABlock: a block has the rank and PE of its rank, and a part of the scratch memory.
func TestSetupOfABlock(t *testing.T) {
	g := launch.Group{
		PEs: []int32{4, 7}, Wiring: make([]tl.Wiring, 3),
		Blocks: []launch.Block{{Rank: 0, Of: 1}, {Rank: 1, Of: 2}, {Rank: 1, Number: 1, Of: 2}},
	}
	s := g.Setup(2, 1000)
	if s.Rank != 1 || s.Block != 1 || s.World != 2 || s.PE != 7 || s.Scratch != 500 || s.Wiring != &g.Wiring[2] {
		t.Errorf("%+v", s)
	}
	l := launch.Launch{Groups: []launch.Group{g, g}}
	for i, got := range l.Traffic(func(i int) tl.Traffic { return tl.Traffic{Sent: int64(1) << i} }) {
		if want := []int64{1, 2 + 4, 8, 16 + 32}[i]; got.Rank != i || got.Sent != want {
			t.Errorf("rank %d: %+v, want %d bytes", i, got, want)
		}
	}
}
