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

// onNodes are settings of nodes of SIPs on a switch that reduces and copies, with a switch for each
// place over the nodes.
func onNodes(nodes, width int, more ...string) []string {
	return slices.Concat(kerneltest.SwitchSettings(width), []string{
		fmt.Sprintf("system.nodes.count=%d", nodes), "system.nodes.network=switch", "system.nodes.join=each",
		"system.nodes.link.bw_gbs=50", "system.nodes.link.latency_ns=1000",
	}, more)
}

// tryNodes runs an algorithm on nodes.
func tryNodes(t *testing.T, a *algorithm.Algorithm, s labrun.Spec) *labrun.Result {
	t.Helper()
	s.Bench, s.Algorithm = bench.CCLHello.Name, a.Name
	r, err := labrun.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestNVLSTreeResults: on both executors all results are right, of all types and operations, and on
// any number of nodes; with one node it is nvls_allreduce.
func TestNVLSTreeResults(t *testing.T) {
	a := algorithm.NVLSTreeAllReduce
	for i, nodes := range []struct{ nodes, width int }{{1, 1}, {1, 2}, {1, 3}, {2, 2}, {2, 4}, {3, 2}, {4, 2}, {5, 3}, {17, 2}} {
		for j, typ := range a.Types {
			op := a.Ops[(i+j)%len(a.Ops)]
			if typ.IsInt() && op == tl.Avg {
				op = tl.Sum
			}
			for k, executor := range []string{"mock", "sim"} {
				s := labrun.Spec{Ranks: nodes.nodes * nodes.width, NElem: []int{1, 61, 1000}[(i+j+k)%3], DType: typ, Op: op,
					Sets: onNodes(nodes.nodes, nodes.width), Executor: executor, VerifyData: true}
				if r := tryNodes(t, a, s); !r.OK() || r.RanksFailed != 0 || r.Verdict("provenance").State != labrun.Checked {
					t.Errorf("%v, %v, %v on %s: %+v", nodes, typ, op, executor, r)
				}
			}
		}
	}
}

// onTrees are ranks on nodes for a kernel test, with vectors of so many elements. The window has
// room for more: short pieces have slots of whole elements.
func onTrees(t *testing.T, nodes, width, n int) kerneltest.Config {
	t.Helper()
	cfg := onLevels(t, algorithm.NVLSTreeAllReduce, nodes*width, 1, n, []int{width})
	layout, err := algorithm.NVLSTreeAllReduce.Window(nodes*width, 8*n, dtype.F32)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Layout = layout
	cfg.Multimem, cfg.Collective, cfg.Executors = true, "all_reduce", []string{"mock"}
	return cfg
}

// TestNVLSTreeRaces: pieces that overlap are clean in many schedules, and so are tiles shorter than
// their slots, and slots that several pieces use.
func TestNVLSTreeRaces(t *testing.T) {
	for _, test := range []struct {
		nodes, width, n, pieces int
		seeds                   uint64
		scratch                 unit.Bytes
	}{{2, 2, 100, 1, 6, 1 << 20}, {2, 2, 100, 9, 6, 1 << 20}, {3, 2, 1000, 7, 6, 1 << 18},
		{5, 3, 17, 12, 3, 1 << 20}, {8, 2, 400, 11, 3, 1 << 18}} {
		for seed := range test.seeds {
			cfg := onTrees(t, test.nodes, test.width, test.n)
			cfg.Seed, cfg.Scratch = seed, test.scratch
			got, report, err := kerneltest.Races(algorithm.NVLSTree(test.pieces, ""), cfg)
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

func sumOfAll(in [][]float64, i int) (sum float64) {
	for r := range in {
		sum += in[r][i]
	}
	return sum
}

// TestNVLSTreeSpoiled: kernels that leave out a wait are named.
func TestNVLSTreeSpoiled(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{"the node does not meet", "load_reduce"},
		{"no wait for what children send", "put_signal"},
	} {
		found := ""
		for seed := range uint64(4) {
			cfg := onTrees(t, 2, 2, 100)
			cfg.Seed = seed
			_, report, err := kerneltest.Races(algorithm.NVLSTree(2, test.name), cfg)
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

// TestNVLSTreeNeeds: a machine whose nodes do not reduce is refused with what it lacks, by its key.
func TestNVLSTreeNeeds(t *testing.T) {
	for _, test := range []struct {
		sets []string
		want string
	}{
		{onNodes(2, 2, "system.switch.multicast=false"), "the switch node0.switch does not copy (switch.multicast)"},
		{onNodes(2, 2, "system.switch.reduce.types=[]"), "the switch node0.switch does not reduce (switch.reduce.types)"},
		{[]string{"system.sips.count=2"}, "no single switch joins"},
	} {
		_, err := labrun.Run(t.Context(), labrun.Spec{Bench: bench.CCLHello.Name, Algorithm: algorithm.NVLSTreeAllReduce.Name,
			Ranks: 4, NElem: 8, DType: dtype.F32, Sets: test.sets, Executor: "sim"})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}

// TestNVLSTreeTimes: what a level of the tree takes, by hand. Each level takes a put up and one
// down, over two links each, and the last put is acknowledged. A switch reduces before a leaf
// sends, and before each parent combines.
func TestNVLSTreeTimes(t *testing.T) {
	time := func(nodes, n int, more ...string) unit.Time {
		return tryNodes(t, algorithm.NVLSTreeAllReduce, labrun.Spec{Ranks: 2 * nodes, NElem: n, DType: dtype.F32, Executor: "sim",
			Sets: onNodes(nodes, 2, slices.Concat([]string{ // only the links count
				"cube.hbm_to_router_bw_gbs=100000", "cube.noc.link_bw_gbs=100000", "pe.link_bw_gbs=100000", "pe.tcm.bw_gbs=100000",
				"sip.ucie.bw_gbs=100000", "sip.io.bw_gbs=100000", "cube.hbm.access_ns=0",
				"pe.tcm.capacity=32MiB", "pe.tcm.scratch=16MiB"}, more)...)}).SimulatedTime
	}
	for nodes, height := range map[int]int{2: 1, 4: 2, 8: 3} {
		base := time(nodes, 8)
		if far := time(nodes, 8, "system.nodes.link.latency_ns=2000"); far-base != unit.Time(4*height+2)*unit.Microsecond {
			t.Errorf("%d nodes: %v, and with 1 µs more a link %v: want %d of them", nodes, base, far, 4*height+2)
		}
		if slow := time(nodes, 8, "system.switch.reduce.latency_ns=1000"); slow-base != unit.Time(height+1)*unit.Microsecond {
			t.Errorf("%d nodes: %v, and with 1 µs in each switch %v: want %d of them", nodes, base, slow, height+1)
		}
	}
	const n = 16 << 20 // 64 MiB, of which half is the slice of a rank: it takes a rail each way
	if got, least := time(2, n, "system.nodes.link.latency_ns=10"), unit.Nanoseconds(float64(2*n)/50); got < least || got > 2*least {
		t.Errorf("%v, of which %v are the bytes on a rail", got, least)
	}
}
