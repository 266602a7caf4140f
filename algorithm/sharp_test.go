package algorithm_test

import (
	"fmt"
	"slices"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	labrun "kernbench/lab/run"
	"kernbench/unit"
)

// TestSHARPSlots: vectors of 1 to 4 pieces fit into their windows, and results are right.
func TestSHARPSlots(t *testing.T) {
	for _, n := range []int{699_051, 700_000, 2_796_203, 6_291_457} {
		s := labrun.Spec{Ranks: 4, NElem: n, DType: dtype.F32, Sets: onNodes(2, 2, reducing...), Executor: "mock", VerifyData: true}
		if r := tryNodes(t, algorithm.SHARPAllReduce, s); !r.OK() || r.RanksFailed != 0 {
			t.Errorf("%d elements: %+v", n, r)
		}
	}
}

// TestSHARPTimes: times equal those computed by hand. Two barriers over the rail take two links
// each. Between them a request goes up to the switch and down to the ranks. The data go up, and the
// result goes down. Its receipt is acknowledged over two links. So is the last notification, before
// the call ends. A long vector crosses a rail once in each direction.
func TestSHARPTimes(t *testing.T) {
	time := func(nodes, n int, more ...string) unit.Time {
		return timeOnNodes(t, algorithm.SHARPAllReduce, nodes, n, slices.Concat(reducing, more)...)
	}
	for _, nodes := range []int{2, 4, 8} {
		base := time(nodes, 8*nodes)
		const links = 2*2 + 6 + 2
		if far := time(nodes, 8*nodes, "system.nodes.link.latency_ns=2000"); far-base != links*unit.Microsecond {
			t.Errorf("%d nodes: %v, and with 1 µs more for each link %v: want %d µs more", nodes, base, far, links)
		}
		if slow := time(nodes, 8*nodes, "system.nodes.switch.reduce.latency_ns=1000"); slow-base != unit.Microsecond {
			t.Errorf("%d nodes: %v, and with 1 µs more in the switches of rails %v: want 1 µs more", nodes, base, slow)
		}
		if slow := time(nodes, 8*nodes, "system.switch.reduce.latency_ns=1000"); slow-base != unit.Microsecond {
			t.Errorf("%d nodes: %v, and with 1 µs more in the switches of nodes %v: want 1 µs more", nodes, base, slow)
		}
	}
	const n = 1 << 20 // 4 MiB: half of it is the slice of a rank
	for _, nodes := range []int{2, 4} {
		got, least := time(nodes, n, "system.nodes.link.latency_ns=10"), unit.Nanoseconds(float64(2*n)/50)
		if got < least || got > 2*least {
			t.Errorf("%d nodes: the call takes %v, want %v (the bytes on a rail) to twice that", nodes, got, least)
		}
	}
}

// TestSHARPGroups: the groups are the nodes and the rails. With one node there is one group of all
// ranks.
func TestSHARPGroups(t *testing.T) {
	for _, test := range []struct {
		world  int
		widths []int
		want   string
	}{
		{6, []int{1, 3}, "[[0 1 2] [3 4 5] [0 3] [1 4] [2 5]]"},
		{4, nil, "[[0 1 2 3]]"},
		{4, []int{4}, "[[0 1 2 3]]"},
	} {
		if got := fmt.Sprint(algorithm.SHARPAllReduce.Groups(test.world, test.widths)); got != test.want {
			t.Errorf("%d ranks on %v: %s, want %s", test.world, test.widths, got, test.want)
		}
	}
}
