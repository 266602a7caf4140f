package algorithm_test

import (
	"fmt"
	"testing"

	"kernbench/algorithm"
	"kernbench/dtype"
	"kernbench/kerneltest"
	labrun "kernbench/lab/run"
)

// TestOneNode: on one node an algorithm takes the time of the one that performs its calls there, as
// both run one kernel. On two nodes it does not.
func TestOneNode(t *testing.T) {
	tried := 0
	for _, a := range algorithm.All() {
		if a.OneNode == nil {
			continue
		}
		tried++
		for _, n := range []int{64, 1 << 16} {
			t.Run(fmt.Sprintf("%s/%d", a.Name, n), func(t *testing.T) {
				one := labrun.Spec{Ranks: 4, NElem: n, DType: dtype.F32, Executor: "sim", Sets: kerneltest.SwitchSettings(4)}
				got, want := tryNodes(t, a, one), tryNodes(t, a.OneNode, one)
				if got.SimulatedTime != want.SimulatedTime || got.Events != want.Events {
					t.Errorf("%v and %d events, but %s takes %v and %d", got.SimulatedTime, got.Events,
						a.OneNode.Name, want.SimulatedTime, want.Events)
				}
				if p := a.Performer(4, nil, 1); p != a.OneNode {
					t.Errorf("%s performs calls of one node, want %s", p.Name, a.OneNode.Name)
				}
				if p := a.Performer(8, []int{4}, 1); p != a {
					t.Errorf("%s performs calls of two nodes", p.Name)
				}
			})
		}
	}
	if tried < 6 {
		t.Errorf("%d algorithms have another one for one node, want at least 6", tried)
	}
}

// TestOneNodeOfAnotherCollective: a row cannot hand its calls to another collective.
func TestOneNodeOfAnotherCollective(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an all_reduce is registered whose calls on one node are an all_gather")
		}
	}()
	algorithm.Register(algorithm.Algorithm{Name: "one_node_wrong", Collective: "all_reduce", Topology: "none",
		Kernel: algorithm.DirectAllReduce.Kernel, OneNode: algorithm.DirectAllGather})
}
