package algorithm_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"kernbench/algorithm"
	"kernbench/bench"
	"kernbench/dtype"
	"kernbench/kerneltest"
	labrun "kernbench/lab/run"
	"kernbench/tl"
	"kernbench/unit"
)

// reducing are settings of switches between nodes that reduce and copy.
var reducing = []string{"system.nodes.switch.multicast=true", "system.nodes.switch.reduce.types=[f16, bf16, f32, f64, i32, i64]"}

// TestSHARPResults: on both executors all results are right, of all types and operations. The nodes
// are joined by switches, or by leaves and spines.
func TestSHARPResults(t *testing.T) {
	a := algorithm.SHARPAllReduce
	for i, nodes := range []struct {
		nodes, width int
		more         []string
	}{
		{1, 1, nil}, {1, 3, nil}, {2, 2, nil}, {2, 4, nil}, {3, 2, nil}, {5, 3, nil}, {17, 2, nil},
		{8, 2, []string{"system.nodes.network=fat_tree", "system.nodes.fat_tree.radix=4"}},
	} {
		for j, typ := range a.Types {
			op := a.Ops[(i+j)%len(a.Ops)]
			if typ.IsInt() && op == tl.Avg {
				op = tl.Sum
			}
			for k, executor := range []string{"mock", "sim"} {
				s := labrun.Spec{Ranks: nodes.nodes * nodes.width, NElem: []int{1, 61, 1000}[(i+j+k)%3], DType: typ, Op: op,
					Sets: onNodes(nodes.nodes, nodes.width, slices.Concat(reducing, nodes.more)...), Executor: executor, VerifyData: true}
				if r := tryNodes(t, a, s); !r.OK() || r.RanksFailed != 0 || r.Verdict("provenance").State != labrun.Checked {
					t.Errorf("%v, %v, %v on %s: %+v", nodes, typ, op, executor, r)
				}
			}
		}
	}
}

// TestSHARPSlots: vectors of 1 to 4 pieces fit into the window of the longest, and are right.
func TestSHARPSlots(t *testing.T) {
	for _, n := range []int{699_051, 700_000, 2_796_203, 6_291_457} {
		s := labrun.Spec{Ranks: 4, NElem: n, DType: dtype.F32, Sets: onNodes(2, 2, reducing...), Executor: "mock", VerifyData: true}
		if r := tryNodes(t, algorithm.SHARPAllReduce, s); !r.OK() || r.RanksFailed != 0 {
			t.Errorf("%d elements: %+v", n, r)
		}
	}
}

func onRails(t *testing.T, nodes, width, n int) kerneltest.Config {
	t.Helper()
	cfg := onLevels(t, algorithm.SHARPAllReduce, nodes*width, 1, n, []int{width})
	layout, err := algorithm.SHARPAllReduce.Window(nodes*width, 2*n, dtype.F32)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Layout = layout // short pieces have slots of whole elements
	cfg.Multimem, cfg.Collective, cfg.Executors = true, "all_reduce", []string{"mock"}
	return cfg
}

// TestSHARPRaces: pieces that overlap are clean in many schedules, and so are slots that several
// pieces use.
func TestSHARPRaces(t *testing.T) {
	for _, test := range []struct {
		nodes, width, n, pieces int
		seeds                   uint64
	}{{2, 2, 100, 1, 6}, {2, 2, 100, 9, 6}, {3, 2, 1000, 7, 6}, {5, 3, 17, 12, 3}, {8, 2, 400, 11, 3}} {
		for seed := range test.seeds {
			cfg := onRails(t, test.nodes, test.width, test.n)
			cfg.Seed = seed
			got, report, err := kerneltest.Races(algorithm.SHARP(test.pieces, ""), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if report.Total > 0 || report.Unsettled {
				t.Fatalf("%+v: %d hazards, unsettled %v: %v", test, report.Total, report.Unsettled, report)
			}
			for r := range got {
				for i, v := range got[r] {
					if want := sumOfAll(cfg.Inputs, i); math.Abs(v-want) > want/1e6 { // f32
						t.Fatalf("%+v: rank %d has %v for element %d, want %v", test, r, v, i, want)
					}
				}
			}
		}
	}
}

// TestSHARPSpoiled: kernels that leave out a meeting are named.
func TestSHARPSpoiled(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{"the node does not meet", "load_reduce"},
		{"the rail does not meet", "reduce_multicast"},
	} {
		found := ""
		for seed := range uint64(4) {
			cfg := onRails(t, 2, 2, 100)
			cfg.Seed = seed
			_, report, err := kerneltest.Races(algorithm.SHARP(3, test.name), cfg)
			if err != nil {
				found += err.Error()
				continue
			}
			for i := range report.Hazards {
				found += report.Hazards[i].String() + "\n"
			}
		}
		if !strings.Contains(found, test.want) {
			t.Errorf("%s: %q, want %q", test.name, found, test.want)
		}
	}
}

// TestSHARPNeeds: a machine is refused with the switch that cannot, and the key that says so.
func TestSHARPNeeds(t *testing.T) {
	for _, test := range []struct {
		sets []string
		want string
	}{
		{onNodes(2, 2, "system.nodes.name=rail"), "the switch rail0.switch does not copy (switch.multicast)"},
		{onNodes(2, 2, "system.nodes.name=rail", reducing[0]), "the switch rail0.switch does not reduce (switch.reduce.types)"},
		{onNodes(2, 2, reducing[0], "system.nodes.switch.reduce.types=[f16]"), "f32"},
		{onNodes(2, 2, reducing[0], reducing[1], "system.switch.multicast=false"), "the switch node0.switch does not copy"},
	} {
		_, err := labrun.Run(t.Context(), labrun.Spec{Bench: bench.CCLHello.Name, Algorithm: algorithm.SHARPAllReduce.Name,
			Ranks: 4, NElem: 8, DType: dtype.F32, Sets: test.sets, Executor: "sim"})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}

// TestSHARPTimes: what the switches between nodes take, by hand. Two meetings go over the rail, two
// links each. Between these a request goes up to the switch and down. The data come up, and the
// result goes down. Its receipt is acknowledged over two links. So is the last notification, before
// the call ends. A long vector takes a rail once each way.
func TestSHARPTimes(t *testing.T) {
	time := func(nodes, n int, more ...string) unit.Time {
		return tryNodes(t, algorithm.SHARPAllReduce, labrun.Spec{Ranks: 2 * nodes, NElem: n, DType: dtype.F32, Executor: "sim",
			Sets: onNodes(nodes, 2, slices.Concat([]string{ // only the links count
				"cube.hbm_to_router_bw_gbs=100000", "cube.noc.link_bw_gbs=100000", "pe.link_bw_gbs=100000", "pe.tcm.bw_gbs=100000",
				"sip.ucie.bw_gbs=100000", "sip.io.bw_gbs=100000", "cube.hbm.access_ns=0",
				"pe.tcm.capacity=32MiB", "pe.tcm.scratch=16MiB"}, reducing, more)...)}).SimulatedTime
	}
	for _, nodes := range []int{2, 4, 8} {
		base := time(nodes, 8*nodes)
		const links = 2*2 + 6 + 2
		if far := time(nodes, 8*nodes, "system.nodes.link.latency_ns=2000"); far-base != links*unit.Microsecond {
			t.Errorf("%d nodes: %v, and with 1 µs more a link %v: want %d of them", nodes, base, far, links)
		}
		if slow := time(nodes, 8*nodes, "system.nodes.switch.reduce.latency_ns=1000"); slow-base != unit.Microsecond {
			t.Errorf("%d nodes: %v, and with 1 µs in the switches of rails %v", nodes, base, slow)
		}
		if slow := time(nodes, 8*nodes, "system.switch.reduce.latency_ns=1000"); slow-base != unit.Microsecond {
			t.Errorf("%d nodes: %v, and with 1 µs in the switches of nodes %v", nodes, base, slow)
		}
	}
	const n = 16 << 20 // 64 MiB, of which half is the slice of a rank
	for _, nodes := range []int{2, 4} {
		got, least := time(nodes, n, "system.nodes.link.latency_ns=10"), unit.Nanoseconds(float64(2*n)/50)
		if got < least || got > 2*least {
			t.Errorf("%d nodes: %v, of which %v are the bytes on a rail", nodes, got, least)
		}
	}
}

// TestSHARPGroups: the groups are nodes and rails, and all ranks where there is one node.
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
