package algorithm_test

import (
	"testing"

	"kernbench/algorithm"
	"kernbench/unit"
)

// TestNVLSTreeTimes: times equal those computed by hand. Each level of the tree has one put up and
// one down, over two links each, and the last put is acknowledged. A switch reduces before a leaf
// sends, and before each parent combines.
func TestNVLSTreeTimes(t *testing.T) {
	time := func(nodes, n int, more ...string) unit.Time {
		return timeOnNodes(t, algorithm.NVLSTreeAllReduce, nodes, n, more...)
	}
	for nodes, height := range map[int]int{2: 1, 4: 2, 8: 3} {
		base := time(nodes, 8)
		if far := time(nodes, 8, "system.nodes.link.latency_ns=2000"); far-base != unit.Time(4*height+2)*unit.Microsecond {
			t.Errorf("%d nodes: %v, and with 1 µs more for each link %v: want %d µs more", nodes, base, far, 4*height+2)
		}
		if late := time(nodes, 8, "system.nodes.software.switch_ns=1000"); late-base != unit.Time(2*height)*unit.Microsecond {
			t.Errorf("%d nodes: %v, and with 1 µs more for each put %v: want %d µs more", nodes, base, late, 2*height)
		}
		if slow := time(nodes, 8, "system.switch.reduce.latency_ns=1000"); slow-base != unit.Time(height+1)*unit.Microsecond {
			t.Errorf("%d nodes: %v, and with 1 µs more in each switch %v: want %d µs more", nodes, base, slow, height+1)
		}
	}
	const n = 4 << 20 // 16 MiB: half of it, the slice of a rank, crosses a rail in each direction
	if got, least := time(2, n, "system.nodes.link.latency_ns=10"), unit.Nanoseconds(float64(2*n)/50); got < least || got > 2*least {
		t.Errorf("the call takes %v, want %v (the bytes on a rail) to twice that", got, least)
	}
}
