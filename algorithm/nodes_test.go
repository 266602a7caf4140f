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

// onNodes returns settings for nodes of SIPs. In each node a switch that reduces and copies joins
// the SIPs. For each position in a node another switch joins the SIPs of all nodes.
func onNodes(nodes, width int, more ...string) []string {
	return slices.Concat(kerneltest.SwitchSettings(width), []string{
		fmt.Sprintf("system.nodes.count=%d", nodes), "system.nodes.network=switch", "system.nodes.join=each",
		"system.nodes.link.bw_gbs=50", "system.nodes.link.latency_ns=1000",
	}, more)
}

// reducing makes the switches between nodes reduce and copy.
var reducing = []string{"system.nodes.switch.multicast=true", "system.nodes.switch.reduce.types=[f16, bf16, f32, f64, i32, i64]"}

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

// timeOnNodes returns the time of a call on nodes of two ranks, where almost all time is spent on
// the links that join SIPs.
func timeOnNodes(t *testing.T, a *algorithm.Algorithm, nodes, n int, more ...string) unit.Time {
	t.Helper()
	return tryNodes(t, a, labrun.Spec{Ranks: 2 * nodes, NElem: n, DType: dtype.F32, Executor: "sim",
		Sets: onNodes(nodes, 2, slices.Concat([]string{
			"cube.hbm_to_router_bw_gbs=100000", "cube.noc.link_bw_gbs=100000", "pe.link_bw_gbs=100000", "pe.tcm.bw_gbs=100000",
			"sip.ucie.bw_gbs=100000", "sip.io.bw_gbs=100000", "cube.hbm.access_ns=0",
			"pe.tcm.capacity=32MiB", "pe.tcm.scratch=16MiB"}, more)...)}).SimulatedTime
}

// nodesCase is an algorithm whose nodes have switches that reduce.
type nodesCase struct {
	*algorithm.Algorithm
	kernel  func(pieces int, mistake string) tl.Kernel
	sets    []string    // of the switches between nodes
	nodes   []nodeShape // for which results must be right
	vectors int         // vectors that fit in the window: short pieces have slots of whole elements
	faulty  []faultyNodes
	needs   []neededOnNodes
}

type nodeShape struct {
	nodes, width int
	more         []string
}

// faultyNodes is a mistake of a kernel, and a call that the report of its hazards must name.
type faultyNodes struct {
	name, want string
	pieces     int
}

// neededOnNodes is a machine that does not support the algorithm, and a text of the refusal.
type neededOnNodes struct {
	sets []string
	want string
}

var nodesCases = []nodesCase{
	{
		Algorithm: algorithm.NVLSTreeAllReduce, kernel: algorithm.NVLSTree, vectors: 8,
		nodes: []nodeShape{
			{1, 1, nil}, {1, 2, nil}, {1, 3, nil}, {2, 2, nil}, {2, 4, nil}, {3, 2, nil}, {4, 2, nil}, {5, 3, nil}, {17, 2, nil},
		},
		faulty: []faultyNodes{
			{"no barrier in the node", "load_reduce", 2}, {"no wait for what children send", "put_signal", 2},
		},
		needs: []neededOnNodes{
			{onNodes(2, 2, "system.switch.multicast=false"), "the switch node0.switch does not copy (switch.multicast)"},
			{onNodes(2, 2, "system.switch.reduce.types=[]"), "the switch node0.switch does not reduce (switch.reduce.types)"},
			{onNodes(2, 2, "system.switch.reduce.types=[f16]"), "4 ranks of f32: the switch node0.switch reduces f16 only"},
			{[]string{"system.sips.count=2"}, "no single switch joins"},
		},
	},
	{
		Algorithm: algorithm.SHARPAllReduce, kernel: algorithm.SHARP, vectors: 2, sets: reducing,
		nodes: []nodeShape{
			{1, 1, nil}, {1, 3, nil}, {2, 2, nil}, {2, 4, nil}, {3, 2, nil}, {5, 3, nil}, {17, 2, nil},
			{8, 2, []string{"system.nodes.network=fat_tree", "system.nodes.fat_tree.radix=4"}},
		},
		faulty: []faultyNodes{
			{"no barrier in the node", "load_reduce", 3}, {"no barrier over the rail", "reduce_multicast", 3},
		},
		needs: []neededOnNodes{
			{onNodes(2, 2, "system.nodes.name=rail"), "the switch rail0.switch does not copy (switch.multicast)"},
			{onNodes(2, 2, "system.nodes.name=rail", reducing[0]), "the switch rail0.switch does not reduce (switch.reduce.types)"},
			{onNodes(2, 2, reducing[0], "system.nodes.switch.reduce.types=[f16]"), "4 ranks of f32: the switch"},
			{onNodes(2, 2, reducing[0], reducing[1], "system.switch.multicast=false"), "the switch node0.switch does not copy"},
		},
	},
}

// TestNodesResults: on both executors results are right for all types and operations. The nodes are
// joined by switches, or by leaves and spines. With one node it is nvls_allreduce.
func TestNodesResults(t *testing.T) {
	for _, a := range nodesCases {
		for i, on := range a.nodes {
			for j, typ := range a.Types {
				op := a.Ops[(i+j)%len(a.Ops)]
				if typ.IsInt() && op == tl.Avg {
					op = tl.Sum
				}
				for k, executor := range []string{"mock", "sim"} {
					s := labrun.Spec{Ranks: on.nodes * on.width, NElem: []int{1, 61, 1000}[(i+j+k)%3], DType: typ, Op: op,
						Sets: onNodes(on.nodes, on.width, slices.Concat(a.sets, on.more)...), Executor: executor, VerifyData: true}
					r := tryNodes(t, a.Algorithm, s)
					if !r.OK() || r.RanksFailed != 0 || r.Verdict("provenance").State != labrun.Checked {
						t.Errorf("%s, %v, %v, %v on %s: %+v", a.Name, on, typ, op, executor, r)
					}
				}
			}
		}
	}
}

// config returns the configuration of a kernel test on nodes, with vectors of n elements.
func (a *nodesCase) config(t *testing.T, nodes, width, n int) kerneltest.Config {
	t.Helper()
	cfg := onLevels(t, a.Algorithm, nodes*width, 1, n, []int{width})
	layout, err := a.Window(nodes*width, a.vectors*n, dtype.F32)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Layout = layout
	cfg.Multimem, cfg.Collective, cfg.Executors = true, "all_reduce", []string{"mock"}
	return cfg
}

// TestNodesRaces: no schedule has a hazard if pieces overlap or share slots. With small scratch
// memory tiles are shorter than their slots.
func TestNodesRaces(t *testing.T) {
	for _, a := range nodesCases {
		for _, test := range []struct {
			nodes, width, n, pieces int
			seeds                   uint64
			scratch                 unit.Bytes
		}{{2, 2, 100, 1, 6, 1 << 20}, {2, 2, 100, 9, 6, 1 << 20}, {3, 2, 1000, 7, 6, 1 << 18},
			{5, 3, 17, 12, 3, 1 << 20}, {8, 2, 400, 11, 3, 1 << 18}} {
			for seed := range test.seeds {
				cfg := a.config(t, test.nodes, test.width, test.n)
				cfg.Seed, cfg.Scratch = seed, test.scratch
				got, report, err := kerneltest.Races(a.kernel(test.pieces, ""), cfg)
				if err != nil {
					t.Fatal(err)
				}
				if report.Total > 0 || report.Unsettled {
					t.Fatalf("%s, %+v: %d hazards, unsettled %v: %v", a.Name, test, report.Total, report.Unsettled, report)
				}
				for r := range got {
					for i, v := range got[r] {
						if want := sumOfAll(cfg.Inputs, i); math.Abs(v-want) > want/1e6 { // f32
							t.Fatalf("%s, %+v: rank %d has %v for element %d, want %v", a.Name, test, r, v, i, want)
						}
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

// TestNodesFaulty: if a kernel omits a wait or a barrier, the report names the call.
func TestNodesFaulty(t *testing.T) {
	for _, a := range nodesCases {
		for _, test := range a.faulty {
			found := ""
			for seed := range uint64(4) {
				cfg := a.config(t, 2, 2, 100)
				cfg.Seed = seed
				_, report, err := kerneltest.Races(a.kernel(test.pieces, test.name), cfg)
				if err != nil {
					found += err.Error()
					continue
				}
				for i := range report.Hazards {
					found += report.Hazards[i].String() + "\n"
				}
			}
			if !strings.Contains(found, test.want) {
				t.Errorf("%s, %s: %q, want %q", a.Name, test.name, found, test.want)
			}
		}
	}
}

// TestNodesNeed: the refusal of a machine names the switch without the capability, and its key.
func TestNodesNeed(t *testing.T) {
	for _, a := range nodesCases {
		for _, test := range a.needs {
			_, err := labrun.Run(t.Context(), labrun.Spec{Bench: bench.CCLHello.Name, Algorithm: a.Name, Ranks: 4, NElem: 8,
				DType: dtype.F32, Sets: test.sets, Executor: "sim"})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v, want %q", a.Name, err, test.want)
			}
		}
	}
}
