package tl_test

import (
	"slices"
	"testing"

	"kernbench/tl"
)

// TestRails: each channel has all ranks in its order, node by node, and begins each node with
// another rank. Ranks that follow each other in a node follow each other in each channel, but for
// the first one.
func TestRails(t *testing.T) {
	for _, r := range []tl.Rails{
		{}, {Count: 1}, {Count: 2, Node: 2}, {Count: 2, Node: 5}, {Count: 8, Node: 8}, {Count: 3, Node: 8}, {Count: 15, Node: 72},
	} {
		nodes, node := 3, max(1, r.Node)
		firsts := map[int]bool{}
		for channel := range max(1, r.Count) {
			var order []int
			for place := range nodes * node {
				rank := r.Rank(place, channel)
				if rank/node != place/node || r.Place(rank, channel) != place {
					t.Fatalf("%+v, channel %d: rank %d at place %d, which is at %d", r, channel, rank, place, r.Place(rank, channel))
				}
				if place%node > 0 && rank%node != (order[place-1]+1)%node {
					t.Errorf("%+v, channel %d: rank %d after %d", r, channel, rank, order[place-1])
				}
				order = append(order, rank)
			}
			firsts[order[0]] = true
			if slices.Sort(order); len(slices.Compact(order)) != nodes*node {
				t.Errorf("%+v, channel %d: ranks %v", r, channel, order)
			}
		}
		if len(firsts) != max(1, r.Count) {
			t.Errorf("%+v: first ranks %v", r, firsts)
		}
	}
	if got := (tl.Rails{Count: 8, Node: 8}).Rank(8, 3); got != 11 {
		t.Errorf("channel 3 enters the second node at rank %d, want 11", got)
	}
}
