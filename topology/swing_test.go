package topology

import (
	"slices"
	"testing"

	"kernbench/tl"
)

// The partners that the paper draws for 16 ranks.
func TestSwingPeer(t *testing.T) {
	for rank, want := range map[int][]int{0: {1, 15, 3, 11}, 1: {0, 2, 14, 6}, 2: {3, 1, 5, 13}, 7: {6, 8, 4, 12}} {
		var got []int
		for step := range 4 {
			got = append(got, SwingPeer(rank, step, 16))
		}
		if !slices.Equal(got, want) {
			t.Errorf("rank %d meets %v, want %v", rank, got, want)
		}
	}
}

// Partners call each other partners. When parts are halved, partners have the same part and keep
// different halves of it. In the end each rank has a part of its own.
func TestSwingHalves(t *testing.T) {
	for dims := range 11 {
		ranks := 1 << dims
		label := make([]int, ranks) // the halves so far
		for step := range dims {
			for r := range ranks {
				peer := SwingPeer(r, step, ranks)
				if back := SwingPeer(peer, step, ranks); back != r {
					t.Fatalf("%d ranks, step %d: %d goes to %d, which goes to %d", ranks, step, r, peer, back)
				}
				if label[peer] != label[r] {
					t.Fatalf("%d ranks, step %d: %d and %d have different parts", ranks, step, r, peer)
				}
				if SwingHalf(peer, step, dims) == SwingHalf(r, step, dims) {
					t.Fatalf("%d ranks, step %d: %d and %d keep the same half", ranks, step, r, peer)
				}
			}
			for r := range ranks {
				label[r] = 2*label[r] + SwingHalf(r, step, dims)
			}
		}
		slices.Sort(label)
		for i, l := range label {
			if l != i {
				t.Fatalf("%d ranks: parts %v", ranks, label)
			}
		}
	}
}

// The mirror goes to the other side, and guests only to their hosts.
func TestSwingLinks(t *testing.T) {
	ms, err := Swing.Maps(9, Grid{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		rank int
		dir  tl.Dir
		peer int
	}{
		{0, tl.Dim(0), 1}, {0, MirrorDim(0), 7}, {0, tl.Dim(1), 7}, {0, MirrorDim(1), 1}, {0, tl.Dim(2), 3}, {0, MirrorDim(2), 5},
		{3, tl.Dim(0), 2}, {3, MirrorDim(0), 4}, {0, tl.Dim(3), 8}, {8, tl.Dim(3), 0},
	} {
		if peer, ok := ms[tt.rank][tt.dir]; !ok || peer != tt.peer {
			t.Errorf("rank %d, %v: %d (%v), want %d", tt.rank, tt.dir, peer, ok, tt.peer)
		}
	}
	if len(ms[8]) != 1 || len(ms[1]) != 6 || len(ms[0]) != 7 {
		t.Errorf("ranks 8, 1 and 0 have %d, %d and %d directions; want 1, 6 and 7", len(ms[8]), len(ms[1]), len(ms[0]))
	}
}
