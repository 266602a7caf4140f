package algorithm_test

import (
	"testing"

	"kernbench/algorithm"
	"kernbench/unit"
)

// TestNodeTreeTimes: times equal those computed by hand. In nodes of two ranks a sum takes one hop
// along the chain, and one for each level of the trees, over two links. The result takes as many.
func TestNodeTreeTimes(t *testing.T) {
	for nodes, height := range map[int]int{1: 0, 2: 1, 4: 2, 8: 3} {
		time := func(more ...string) unit.Time { return timeOnNodes(t, algorithm.NodeTreeAllReduce, nodes, 8, more...) }
		base := time()
		for _, tt := range []struct {
			set  string
			want int // µs
		}{
			{"system.nodes.link.latency_ns=2000", 4 * height},
			{"system.nodes.software.trees.simple_ns=1000", 2 * height},
			{"software.trees.simple_ns=1000", 2 + 2*height}, // between nodes too: they have none of their own
			{"software.trees.ll_ns=1000", 0},
		} {
			if more := time(tt.set) - base; more != unit.Time(tt.want)*unit.Microsecond {
				t.Errorf("%d nodes with %s: %v more, want %d µs", nodes, tt.set, more, tt.want)
			}
		}
	}
}
